package app

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage"
)

// storing writes matches into a directory, as a sync has left them whose jobs were deleted since, and holds it
// for as long as during takes.
func storing(t *testing.T, dir string, during func(), all ...league.Match) {
	t.Helper()
	db, err := storage.Open(storage.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	err = db.Write(context.Background(), func(tx engine.Tx) (err error) {
		for _, m := range all {
			err = errors.Join(err, db.SaveMatch(tx, m, true))
		}
		return err
	})
	during()
	cancel()
	if err = errors.Join(err, <-served, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// B-2f: a match whose job was deleted comes back: on a stopped directory, beside an engine, over HTTP.
func TestB2f_AMatchWithoutAJobComesBack(t *testing.T) {
	t.Parallel()
	who := player("Come Back#CLI", 5)
	s, dir := startSim(t, quick(who)), freshDir(t)
	s.sync(who.RiotID, dir, "--count", "1", "--timelines", "none").run(t).wants(t, exitDone)
	ids := s.MatchIDs(who.RiotID)[1:]
	matches := []league.Match{{ID: ids[0]}, {ID: ids[1]}, {ID: ids[2]}, {ID: ids[3]}, {ID: "ESPORTSTMNT01_1"}}
	for i, status := range []league.Status{league.PermanentlyUnfetchable, league.OutsideRetentionWindow, league.TemporaryFailure, league.PermanentlyUnfetchable, league.PermanentlyUnfetchable} {
		matches[i].Match.Status = status
	}
	storing(t, dir, func() {}, matches...)

	dry := receiptOf(t, dir, "force", "match:"+ids[0], "--reason", "it is there", "--dry-run")
	if dry.Would != 1 || dry.Cost == nil || dry.Cost.Calls != 1 {
		t.Errorf("%+v", dry)
	}
	command{args: []string{"force", "match:" + ids[0], "match:" + ids[1], "--reason", "they are there", "--data-dir", dir}}.asked(t).wants(t, exitDone)
	for _, id := range ids[:2] {
		if j := jobOf(t, dir, "match:"+id); j.State != engine.Available {
			t.Errorf("%+v", j)
		}
	}
	refused := func(code int, says ...string) {
		t.Helper()
		oneSentence(t, command{args: []string{"force", "match:" + says[0], "--reason", "why not", "--data-dir", dir}}.asked(t).wants(t, code).stderr, says...)
	}
	refused(exitFailed, "ESPORTSTMNT01_1", "is not a match id")
	refused(exitFailed, "EUW1_404", "no account lists that match", "sync")

	d := s.serving(t, dir, map[string]string{"FARSIGHT_PLATFORM": "euw1"}, "--http", "127.0.0.1:0")
	if r := receiptOf(t, dir, "retry", "match:"+ids[2]); r.Applied != 1 {
		t.Errorf("%+v", r)
	}
	var answer api.RetryAnswer
	c := program(t, d, dir)
	c.ask(t, "POST", "/v1/jobs/match:"+ids[3]+"/retry", `{"reason":"over HTTP"}`, 200, &answer)
	if answer.Job == "" || answer.Attempt != 1 || answer.At.IsZero() {
		t.Errorf("%+v", answer)
	}
	c.ask(t, "POST", "/v1/jobs/match:EUW1_404/retry", "{}", 404, nil)
	d.until("four matches", func() bool {
		list := command{args: words("matches --json --all --data-dir " + dir)}.asked(t).wants(t, exitDone).stdout
		return strings.Count(list, `"success"`) >= 5
	})
	told := command{args: words("audit --json --data-dir " + dir)}.asked(t).wants(t, exitDone).stdout
	for i, id := range ids {
		var entries []engine.AuditEntry
		for line := range strings.Lines(told) {
			var e engine.AuditEntry
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			entries = append(entries, e)
		}
		if !slices.ContainsFunc(entries, func(e engine.AuditEntry) bool { return e.Target == "job match:"+id && e.Applied == 1 }) {
			t.Errorf("no entry is of match %d: %s", i, told)
		}
	}
}
