package page

import (
	"fmt"
	"regexp"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Count is a number with its thousands separated: 12,406.
func Count(n int) string { return human.Count(int64(n)) }

// ShortID keeps the ends of an opaque id such as a PUUID.
func ShortID(id string) string {
	if len(id) <= 9 {
		return id
	}
	return id[:3] + "…" + id[len(id)-3:]
}

// ETA says when work ends as a range; "" while that is not known.
func ETA(e engine.ETA) string {
	switch {
	case !e.Known:
		return ""
	case e.Calls <= 0:
		return "finishing"
	}
	return human.ETA(e.Low, e.High)
}

// syncWords are the statuses of an account as screens write them.
var syncWords = map[engine.SyncStatus]string{
	engine.SyncNever: "NEVER", engine.SyncPending: "QUEUED", engine.Syncing: "SYNCING",
	engine.SyncCompleted: "DONE", engine.SyncFailed: "FAILED", engine.SyncCancelled: "CANCELLED",
}

// Two is a number of at least two digits.
func Two(n int) string { return fmt.Sprintf("%02d", n) }

// Clamp is n, or the nearer of the two limits if it lies outside of them.
func Clamp(n, low, high int) int { return max(low, min(n, high)) }

// Some is a number that is only told when it is not zero.
func Some(n int) string { return human.If(n != 0, Count(n)) }

// Figure is a number that is only coloured when it is not zero.
func Figure(t themes.Token, name string, n int64) part.Cell {
	if n == 0 {
		t = themes.Dim
	}
	return part.As(t, name+" "+human.Count(n))
}

// Number is a count that is dim when it is nothing.
func Number(t themes.Token, n int) part.Cell {
	if n == 0 {
		t = themes.Dim
	}
	return part.As(t, Count(n))
}

// Capital begins a sentence; what does not begin with a letter of a to z stays.
func Capital(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// Btoi is 1 for true and 0 for false, to be added up or repeated by.
func Btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Floats are counts as the values that charts take.
func Floats(n []int) []float64 {
	out := make([]float64, len(n))
	for i := range n {
		out[i] = float64(n[i])
	}
	return out
}

// CutAt cuts a text after as many whole signs as w cells hold. The rest is not lost: it stands
// elsewhere on the screen, where there is room for it.
func CutAt(text string, w int) (head, rest string) {
	for i, r := range text {
		if w -= safe.RuneWidth(r); w < 0 {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

var isoTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)

// Clocked is a text with its instants as the clock shows them, at another that has its zone: "due at 2026-11-29T11:50:16Z"
// is "due at 12:50:16".
func Clocked(text string, said time.Time) string {
	return instants(text, said.Location(), func(at time.Time) string {
		return at.Format(human.Either(at.YearDay() != said.YearDay(), "Mon 2 Jan 15:04", "15:04:05"))
	})
}

// Dated is a text with its instants whole, as they are in a zone.
func Dated(text string, zone *time.Location) string { return instants(text, zone, Whole) }

// Whole is an instant with all that is known of it: 2026-11-29 12:50:16.123 +01:00.
func Whole(at time.Time) string { return at.Format("2006-01-02 15:04:05.000 -07:00") }

// instants is a text with its instants as write tells them.
func instants(text string, zone *time.Location, write func(time.Time) string) string {
	return isoTime.ReplaceAllStringFunc(text, func(iso string) string {
		at, err := time.Parse(time.RFC3339, iso)
		if err != nil {
			return iso
		}
		return write(at.In(zone))
	})
}
