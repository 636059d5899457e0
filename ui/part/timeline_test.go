package part

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/themes"
)

// life is a job with every sort of step.
func life() Timeline {
	at := func(s float64) time.Time {
		return time.Date(2026, 1, 2, 12, 30, 5, 0, time.UTC).Add(time.Duration(s * float64(time.Second)))
	}
	return Timeline{Now: at(90), Stages: []Stage{
		{Head: "1", At: at(0), Note: "500", Result: "FAILED", Segments: []Segment{
			{Limiter, at(0.02), at(1.08), ""}, {HTTP, at(1.08), at(1.19), ""}, {Backoff, at(1.2), at(30), "30 s"}}},
		{At: at(30), Note: "429, free", Result: "HELD", Segments: []Segment{{HTTP, at(30), at(30.1), ""}, {Snoozed, at(30.1), at(41), "RA 10 s"}}},
		{Head: "2", At: at(41), Note: "503", Result: "FAILED", Segments: []Segment{
			{Limiter, at(41), at(42), ""}, {HTTP, at(42), at(42.1), ""}, {Backoff, at(42.1), at(102), "wait 60 s"}}},
		{Head: "3 due", At: at(102)},
		{Head: "4 +120 s", At: at(222), Planned: true},
		{Head: "5 +300 s", At: at(522), Planned: true},
	}}
}

func TestTimelineAtEverySize(t *testing.T) {
	for w, want := range map[int]string{
		118: wide, 76: medium, 40: narrow,
	} {
		if got := "\n" + plain(life().View(mono, w)...); got != want {
			t.Errorf("%d cells:%s", w, got)
		}
	}
}

const (
	wide = `
 12:30:05               12:30:35           12:30:46     now 12:31:35 ▼    12:31:47      12:33:47           12:38:47
 │1 ▒▒▒█✗···· 30 s ·····│█≡≡≡≡ RA 10 s ≡≡≡≡│2 ▒▒▒█✗······ wait 60 s ······│3 due        ┊4 +120 s          ┊5 +300 s
   500                    429, free          503   ▒ limiter  █ HTTP  · back-off  ≡ snoozed  ┊ only if it fails again`
	medium = `
 12:30:05     12:30:35       now 12:31:35 ▼  12:31:47            12:38:47
 │1 ▒█✗·30 s··│█≡≡RA 10 s≡│2 ▒█✗··wait 60 s··│3 due  ┊4 +120 s   ┊5 +300 s
   500          429, free   503`
	narrow = `
      now 12:31:35 ▼         12:33:47
 │1 ▒█✗·│█≡≡│2 ▒█✗··│3 due   ┊4 +120 s ›
   500    429 503`
)

func TestTimelineInASCII(t *testing.T) {
	got := plain(life().View(themes.NewMono(themes.Plain), 118)...)
	for _, part := range []string{"::#x", "|2 ", "wait 60 s", "!4 +120 s", "now 12:31:35 v", "= snoozed"} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
}

func TestTimelineFolds(t *testing.T) {
	want := ` #1 12:30:05 lim 1.06 s http 0.11 s ✗ 500 → 30 s
 # 12:30:35 http 0.10 s ≡ 429, free → RA 10 s
 #2 12:30:46 lim 1.00 s http 0.10 s ✗ 503 → wait 60 s
 #3 due 12:31:47
 #4 +120 s 12:33:47
 #5 +300 s 12:38:47`
	if got := plain(life().Fold(mono, 76)...); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestShortCallsStayVisible(t *testing.T) {
	tl := life()
	for w := 60; w < 200; w++ {
		row := plain(tl.View(mono, w)[1])
		if strings.Count(row, "█") != 3 && !strings.HasPrefix(row, "‹") {
			t.Errorf("%d cells: %s", w, row)
		}
	}
}

func TestEmptyTimeline(t *testing.T) {
	for _, row := range (Timeline{}).View(mono, 20) {
		if strings.TrimSpace(row) != "" || len(row) != 20 {
			t.Errorf("%q", row)
		}
	}
}
