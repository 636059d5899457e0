package pager

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
