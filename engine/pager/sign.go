package pager

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Headers of a signed webhook, see the package comment.
const (
	HeaderEvent     = "Farsight-Event"
	HeaderDelivery  = "Farsight-Delivery"
	HeaderTimestamp = "Farsight-Timestamp"
	HeaderSignature = "Farsight-Signature"
)

// Headers of the same message in the form of Standard Webhooks, which many libraries check
// (www.standardwebhooks.com).
const (
	headerStandardID        = "webhook-id"
	headerStandardTimestamp = "webhook-timestamp"
	headerStandardSignature = "webhook-signature"
)

// version of the signature: it names what is signed and how.
const version = "v1="

// tolerance is how old a signed webhook may be, in the example of Verify.
const tolerance = 5 * time.Minute

// signature gives the signature of a body that is sent at an instant.
func signature(secret string, at time.Time, body []byte) string {
	return version + hex.EncodeToString(sum(secret, strconv.FormatInt(at.Unix(), 10), body))
}

// signStandard gives the signature of a message in the form of Standard Webhooks: v1, and the
// base64 HMAC-SHA256 of id.timestamp.body. A secret with whsec_ in front is base64 of the key;
// of another one the key is its text.
func signStandard(secret, id string, at time.Time, body []byte) string {
	key := secret
	if text, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			key = string(raw)
		}
	}
	return "v1," + base64.StdEncoding.EncodeToString(sum(key, id+"."+strconv.FormatInt(at.Unix(), 10), body))
}

// standardID is the id of a delivery without dots: a dot separates the parts of what is signed.
var standardID = strings.NewReplacer(".", "-").Replace

// sum is the HMAC-SHA256 of timestamp, a dot and the body: with the instant in it a message cannot be
// sent again later.
func sum(secret, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp))
	mac.Write([]byte("."))
	mac.Write(body)
	return mac.Sum(nil)
}

// Verify is what a receiver does with the headers and the raw body: the signature
// must be ours, and no older than tolerance, so that nobody can play it again.
func Verify(secret, timestamp, signature string, body []byte, now time.Time) error {
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return fmt.Errorf("%s is no number of seconds", HeaderTimestamp)
	}
	if now.Sub(time.Unix(sent, 0)).Abs() > tolerance {
		return fmt.Errorf("%s is more than %s away", HeaderTimestamp, tolerance)
	}
	got, ok := strings.CutPrefix(signature, version)
	mac, err := hex.DecodeString(got)
	if !ok || err != nil || !hmac.Equal(mac, sum(secret, timestamp, body)) {
		return fmt.Errorf("%s does not fit the body", HeaderSignature)
	}
	return nil
}
