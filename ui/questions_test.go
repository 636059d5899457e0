package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/uitest"
)

// question is what somebody asks who sees the console for the first time. The
// answer stands on one screen, after at most one key.
type question struct {
	asks string
	at   func(d *desk) // the screen that is open, with what is selected; nil = Overview
	key  string        // the one key; "" = the screen says it by itself
	// row is what the line that answers holds besides the answer; "" = any line.
	row     string
	answers []string
}

// questions are asked at every size.
var questions = []question{
	{
		asks: "why is this match waiting, and until when?",
		at:   func(d *desk) { d.press("3") },
		row:  "KR_7214550950", answers: []string{"○", "41 s"},
	},
	{
		asks: "what are all the others waiting for?",
		at:   func(d *desk) { d.press("3") },
		row:  "AVAILABLE  ", answers: []string{"733", "83 of 100 calls of asia's 2 min window"},
	},
	{asks: "which key do I press to pause a queue?", key: "?", row: "pause, resume the queue", answers: []string{" p "}},
	{asks: "which key do I press to get help, and to get out?", row: "q quit", answers: []string{"? keys"}},
	{
		asks: "what is the tightest limit?",
		at:   func(d *desk) { d.press("5") },
		row:  "1,600/1.6k", answers: []string{"kr ", "summoner", "1 min", "12 s"},
	},
	{asks: "how much of the key's limit is used?", row: "LIVE", answers: []string{"2 min", "83/100"}},
	{
		asks: "when is my sync done?",
		at:   func(d *desk) { d.press("2") },
		row:  "카인#KR1", answers: []string{"● SYNCING", "134/879", "~16–19 min"},
	},
	{
		asks: "which jobs failed, and why?",
		at:   func(d *desk) { d.press("3") }, key: "s",
		row: "DISCARDED  ", answers: []string{"3 ", "404: Riot does not have it"},
	},
	{asks: "what did ana do?", key: "U", row: "reschedule", answers: []string{"ana@console", "12:30:45", "job j902 is due at 12:40"}},
	{asks: "is my key about to expire?", key: "K", row: "new API key", answers: []string{"key …7f3a", "≤21h14m"}},
	{
		asks: "what was the state when the 429 came?",
		at:   func(d *desk) { d.press("5", "/"); d.text("status:429"); d.press("enter") }, key: "enter",
		answers: []string{"12:31:21.480 · 429", "The server counted 100 of 100 calls in 2 min where we counted 91", "91/100", "others with this key"},
	},
	{
		asks: "what happens if I cancel this sync?",
		at:   func(d *desk) { d.press("2"); d.on("카인") }, key: "x",
		answers: []string{"Cancel the sync of 카인#KR1?", "134/879", "745 matches are not fetched", "stored stays"},
	},
	{
		asks: "where did the time go?",
		at:   func(d *desk) { d.press("2"); d.on("카인") }, key: "enter",
		answers: []string{"90 %", "paced by asia's 2 min window"},
	},
	{asks: "what needs me?", row: "give-up share", answers: []string{"▲", "enter"}},
	{
		asks: "when is this job tried again, and how often?",
		at:   func(d *desk) { d.press("4") }, key: "enter",
		answers: []string{"2 of 5 tries used, next +0:12", "it is due at 12:31:47", "12:33:47 +2 min then 12:38:47 +5 min then it is given up"},
	},
	{asks: "is this real, or a demo?", at: func(d *desk) { d.m.opt.Demo = true; d.send(tick{}) }, row: "LIVE", answers: []string{"DEMO"}},
}

// roomy are those whose answer needs more than the smallest screen.
var roomy = []question{
	{asks: "what is this?", row: "SO FAR", answers: []string{"League of Legends matches, from Riot to your disk"}},
	{asks: "what did I get?", row: "SO FAR", answers: []string{"6 lists them", "7 shows when they were played"}},
}

// TestQuestions: each is answered by what one screen or one keypress shows.
func TestQuestions(t *testing.T) {
	t.Parallel()
	long(t)
	if len(questions) < 10 {
		t.Fatalf("only %d questions", len(questions))
	}
	for i, q := range slices.Concat(questions, roomy) {
		t.Run(q.asks, func(t *testing.T) {
			for _, size := range sizes {
				if size[0] < 100 && i >= len(questions) {
					continue
				}
				bubble(t, func(t *testing.T) { q.ask(open(t, uitest.Busy(), size[0], size[1], testOptions())) })
			}
		})
	}
}

func (q question) ask(d *desk) {
	d.t.Helper()
	if q.at != nil {
		q.at(d)
	}
	if q.key != "" {
		d.press(q.key)
	}
	if q.row == "" {
		d.reads(q.answers...)
		return
	}
	for line := range strings.Lines(d.screen()) {
		if strings.Contains(line, q.row) && holds(line, q.answers) {
			return
		}
	}
	d.t.Errorf("at %dx%d no line with %q answers %q:\n%s", d.m.w, d.m.h, q.row, q.answers, d.screen())
}

// reads is wants for sentences, which a narrow screen breaks into lines: those of a dialog
// where one lies over the page.
func (d *desk) reads(texts ...string) {
	d.t.Helper()
	var words []string
	rows := strings.Split(d.screen(), "\n")
	if d.m.over != nil { // what lies over the page is read alone
		at := d.m.laid
		rows = rows[at.y : at.y+at.h]
		for i := range rows {
			rows[i] = ansi.Cut(rows[i], at.x, at.x+at.w)
		}
	}
	for _, w := range strings.Fields(strings.Join(rows, "\n")) {
		if strings.Trim(w, "─") != "" {
			words = append(words, w)
		}
	}
	all := strings.Join(words, " ")
	for _, text := range texts {
		if !strings.Contains(all, text) {
			d.t.Errorf("the screen of %dx%d does not read %q:\n%s", d.m.w, d.m.h, text, d.screen())
		}
	}
}

func holds(line string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(line, text) {
			return false
		}
	}
	return true
}

// TestS2_7_OneJobOnOneScreen: all that is known of a job whose tries fail: each try
// with its own external id, status, instants and decision; how many there may be,
// whether and when the next one comes, and where the job comes from.
func TestS2_7_OneJobOnOneScreen(t *testing.T) {
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.show(inspector.NewJob("j881"))
			d.reads("match:KR_7214550881", "↻ RETRYABLE 2 of 5 tries used, next +0:12", "ingest.summoner.full", "카인#KR1",
				"match.fetch · policy match", "created 12:15:35", "12:30:05", "12:30:35", "12:30:46",
				"try 2 ·", "503 service unavailable", "policy match step 2: 1 min", "trace id 0a1b2c3d", "next at 12:31:47", "12:33:47 +2 min then 12:38:47 +5 min then it is given up")
			d.press("k")
			d.reads("hold", "429 application, Ret", "Retry-After 10 s, no try used")
			d.press("k")
			d.reads("500 internal error", "policy match step 1: 30 s", "next at 12:30:35")
			d.show(inspector.NewJob("j003"))
			d.reads("✗ DISCARDED", "1 of 5 tries used", "404 not found (final)", "404 is final")
			d.lacks("next +")
		})
	}
}
