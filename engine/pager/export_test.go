package pager

import (
	"net/http"
	"time"
)

// Words that tests outside of the package compare with.
const (
	TryHooks = tryHooks
)

// What receivers of Standard Webhooks check, for the tests that are one.
const (
	HeaderStandardID        = headerStandardID
	HeaderStandardTimestamp = headerStandardTimestamp
	HeaderStandardSignature = headerStandardSignature
)

var SignStandard = signStandard

// RetryAfter is when to ask again after an answer with such a header.
func RetryAfter(header string, now time.Time) time.Time {
	return answer{header: http.Header{"Retry-After": {header}}}.retryAfter(now)
}
