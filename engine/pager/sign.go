package pager

import (
	"crypto/hmac"
	"crypto/sha256"
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

// version of the signature: it names what is signed and how.
const version = "v1="

// Tolerance is how old a signed webhook may be, in the example of Verify.
const Tolerance = 5 * time.Minute

// Sign gives the signature of a body that is sent at an instant.
func Sign(secret string, at time.Time, body []byte) string {
	return version + hex.EncodeToString(sum(secret, strconv.FormatInt(at.Unix(), 10), body))
}

func sum(secret, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp))
	mac.Write([]byte("."))
	mac.Write(body)
	return mac.Sum(nil)
}

// Verify is what a receiver does with the headers and the raw body: the signature
// must be ours, and no older than Tolerance, so that nobody can play it again.
func Verify(secret, timestamp, signature string, body []byte, now time.Time) error {
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return fmt.Errorf("%s is no number of seconds", HeaderTimestamp)
	}
	if now.Sub(time.Unix(sent, 0)).Abs() > Tolerance {
		return fmt.Errorf("%s is more than %s away", HeaderTimestamp, Tolerance)
	}
	got, ok := strings.CutPrefix(signature, version)
	mac, err := hex.DecodeString(got)
	if !ok || err != nil || !hmac.Equal(mac, sum(secret, timestamp, body)) {
		return fmt.Errorf("%s does not fit the body", HeaderSignature)
	}
	return nil
}
