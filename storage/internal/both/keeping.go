package both

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"time"

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

// Inflate gives the JSON of a payload as it arrived; false = its codec is another.
func Inflate(ref league.PayloadRef, body []byte) (raw []byte, ours bool, err error) {
	switch ref.Codec {
	case CodecIdentity:
		return body, true, nil
	case CodecGzip:
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, true, err
		}
		// No more than one byte above its size is read: enough to see that it is too long.
		buf := bytes.NewBuffer(make([]byte, 0, ref.RawLen+bytes.MinRead))
		_, err = buf.ReadFrom(io.LimitReader(r, int64(ref.RawLen)+1))
		return buf.Bytes(), true, err
	}
	return nil, false, nil
}

// MaxInflated bounds what a payload may become: half a megabyte of gzip can hold half a gigabyte.
const MaxInflated = 32 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Prove compares the JSON of a payload with what was said of it when it was stored. CRC-32C finds
// what a disk or a copy has changed; it is no proof against whoever wants to change it.
func Prove(ref league.PayloadRef, raw []byte) error {
	if len(raw) != ref.RawLen || crc32.Checksum(raw, castagnoli) != ref.CRC {
		return fmt.Errorf("raw payload of %d bytes is not the one that was stored", len(raw))
	}
	return nil
}
