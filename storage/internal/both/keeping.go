package both

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// How long things are kept, and payloads as they arrived.

// KeptFor is how long a job that has ended is kept; 0 = for ever. The class "404.match" has the
// age of "404" if it has none of its own.
func KeptFor(rule engine.PruneAsk, j engine.Job) time.Duration {
	if !failed(j.State) {
		return rule.Completed
	}
	family, _, _ := strings.Cut(string(j.Class), ".")
	for _, class := range []engine.Class{j.Class, engine.Class(family)} {
		if age, ok := rule.Classes[class]; ok && (class != "" || class == j.Class) {
			return age
		}
	}
	return rule.Failed
}

// failed reports whether a job that ended so counts as failed when old ones are removed: a
// cancelled one does, as somebody may ask why it was.
func failed(s engine.State) bool { return s == engine.Discarded || s == engine.Cancelled }

// CountPruned counts a job that is removed.
func CountPruned(done *engine.PruneDone, j engine.Job, attempts int) {
	done.Attempts += attempts
	if !failed(j.State) {
		done.Completed++
		return
	}
	done.Failed++
	if done.Classes == nil {
		done.Classes = map[engine.Class]int{}
	}
	done.Classes[j.Class]++
}

// DroppedMonth is what retention did, or would do, with one month.
type DroppedMonth struct {
	Month    string `json:"month"`
	Payloads int    `json:"payloads"` // that matches name and that go with the file
	Bytes    int64  `json:"bytes"`
	Left     string `json:"left,omitempty"` // why the file stays
}

// monthOverlap is how long after the end of its month a game of that month may still have begun:
// it is created while players choose.
const monthOverlap = 24 * time.Hour

// Expired reports whether a month lies wholly outside of keep, as seen at now. What is no month
// never does: a rule that cannot tell how old something is deletes nothing.
func Expired(month string, keep league.Span, now time.Time) bool {
	end := MonthEnd(month)
	return !end.IsZero() && end.Add(monthOverlap).Before(keep.Before(now))
}

// MonthEnd is the first instant after a month such as 2026-11; the zero time of what is none.
func MonthEnd(month string) time.Time {
	t, err := time.Parse("2006-01", month)
	if err != nil {
		return time.Time{}
	}
	return t.AddDate(0, 1, 0)
}

// Codecs of payloads as they arrive.
const (
	CodecIdentity = "identity"
	CodecGzip     = "gzip"
)

// MaxInflated bounds what a payload may become, in bytes: half a megabyte of gzip can hold half a gigabyte. It is
// above what is taken of an answer of Riot.
const MaxInflated = 8 << 20

// unpacking has the places of the payloads that are unpacked at once, by whomever: 300 of MaxInflated would be 2.4 GB.
// Whoever has a place waits for nothing.
var unpacking = make(chan struct{}, 4)

// Raw gives the JSON of a payload, proved: it has the length and the checksum of what was stored. unpack is for a codec
// that is not one of those in which payloads arrive; it gives at most MaxInflated bytes. The error names the codec, or
// says what does not fit.
func Raw(ref league.PayloadRef, body []byte, unpack func() ([]byte, error)) ([]byte, error) {
	if ref.RawLen < 0 || ref.RawLen > MaxInflated {
		return nil, fmt.Errorf("raw length %d is above %d", ref.RawLen, MaxInflated)
	}
	unpacking <- struct{}{}
	defer func() { <-unpacking }()
	raw, err := body, error(nil)
	switch ref.Codec {
	case CodecIdentity:
	case CodecGzip:
		raw, err = inflate(body, ref.RawLen)
	default:
		raw, err = unpack()
	}
	if err != nil {
		return nil, fmt.Errorf("inflate %s: %w", ref.Codec, err)
	}
	return raw, Prove(ref, raw)
}

// inflate unpacks gzip of so many bytes.
func inflate(body []byte, size int) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	// No more than one byte above its size is read: enough to see that it is too long.
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err = buf.ReadFrom(io.LimitReader(r, int64(size)+1))
	return buf.Bytes(), err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Prove compares the JSON of a payload with what was said of it when it was stored. CRC-32C finds
// what a disk or a copy has changed; it is no proof against whoever wants to change it.
func Prove(ref league.PayloadRef, raw []byte) error {
	if len(raw) != ref.RawLen || crc32.Checksum(raw, castagnoli) != ref.CRC {
		return fmt.Errorf("raw payload of %d bytes is not the one that was stored", len(raw))
	}
	return nil
}
