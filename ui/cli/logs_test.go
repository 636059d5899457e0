package cli

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// answers is a console that has one answer for everything.
type answers struct {
	find func(q engine.Query) (engine.Answer, error)
}

func (a answers) Watch(context.Context) iter.Seq[engine.Update] {
	return func(func(engine.Update) bool) {}
}
func (a answers) Do(context.Context, engine.Command) (engine.Receipt, error) {
	return engine.Receipt{}, nil
}
func (a answers) Find(_ context.Context, q engine.Query) (engine.Answer, error) { return a.find(q) }

func TestLogs_OneCleanLineEach(t *testing.T) {
	var b bytes.Buffer
	row := engine.LogRow{
		At: time.Now(), Level: "warn", Area: "riot", Text: "call \x1b[31mfailed\nnext", Job: "17",
		Fields: []engine.LogField{{Key: "err", Value: "a b"}, {Key: "status", Value: "503"}, {Key: "none", Value: ""}},
	}
	if err := Logs(Out{W: &b}, []engine.LogRow{row}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if strings.Count(got, "\n") != 1 || strings.Contains(got, "\x1b") || !strings.HasSuffix(got, ` job=17 err="a b" status=503 none=""`+"\n") || !strings.Contains(got, "WARN  riot     call") {
		t.Errorf("%q", got)
	}
	b.Reset()
	if err := Logs(Out{W: &b, Width: 40}, []engine.LogRow{row}); err != nil || len([]rune(strings.TrimSpace(b.String()))) > 40 {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestAudit_GoesThroughPagesUpToTheLast(t *testing.T) {
	asked := 0
	c := answers{func(q engine.Query) (engine.Answer, error) {
		asked++
		var page engine.AuditPage
		for i := range min(q.(engine.AuditQuery).Limit, 10) {
			page.Entries = append(page.Entries, engine.AuditEntry{Seq: uint64(1000 - 10*asked - i), Op: engine.OpPause, By: engine.Actor{User: "ana", Via: "cli"}})
		}
		page.Next = fmt.Sprint(asked)
		return page, nil
	}}
	var b bytes.Buffer
	if err := Audit(engine.AuditQuery{}, 25).Show(t.Context(), c, Out{W: &b, JSON: true}); err != nil || strings.Count(b.String(), "\n") != 25 || asked != 3 {
		t.Errorf("%d lines of %d pages, %v", strings.Count(b.String(), "\n"), asked, err)
	}
}

func TestI9_ForensicsOnOneScreen(t *testing.T) {
	f := engine.Forensics{
		Call: engine.CallRow{Seq: 41, Host: "europe", Method: "match-v5.match", RetryAfter: 8 * time.Second, Job: "b39"},
		Kind: "application", Foreign: true, Text: "another process uses this key", Others: []uint64{40, 36},
		Windows: []engine.WindowCount{{Scope: "app", Window: 12 * time.Second, Limit: 100, Ours: 41, Server: 200}, {Scope: "match-v5.match", Window: 10 * time.Second, Limit: 2000, Ours: 38, Server: -1}},
		Spent:   []engine.SpentCalls{{What: "others", Calls: 159}, {What: "match-v5.match", Calls: 38}, {What: "before", Calls: 3}},
	}
	c := answers{func(engine.Query) (engine.Answer, error) { return f, nil }}
	var b bytes.Buffer
	if err := Forensics(engine.ForensicsQuery{}).Show(t.Context(), c, Out{W: &b}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"call 41", "429 (application)", "retry after 8 s", "job b39", "another process uses this key\n", "+159", "others with this key", "before what is recorded", "other 429s: 40, 36"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %q:\n%s", want, b.String())
		}
	}
}
