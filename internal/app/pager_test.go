package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

const pagerSecret = "canary-of-the-pager-7d1f"

// hookInbox takes events and fails the first of each id.
type hookInbox struct {
	mu   sync.Mutex
	seen map[string]int
	good map[string]map[string]any // by type
	errs []error
}

func (h *hookInbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	id := r.Header.Get(pager.HeaderDelivery)
	h.seen[id]++
	if err := pager.Verify(pagerSecret, r.Header.Get(pager.HeaderTimestamp), r.Header.Get(pager.HeaderSignature), body, time.Now()); err != nil {
		h.errs = append(h.errs, err)
	}
	if h.seen[id] == 1 {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	var e map[string]any
	_ = json.Unmarshal(body, &e)
	h.good[fmt.Sprint(e["type"])] = e
}

func (h *hookInbox) got(event string) map[string]any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.good[event]
}

// A sync that ends and a report that is built are told to a hook, signed, at least
// once, and again until it takes them. A sync that becomes complete later is told again; one that
// fails or is cancelled while it waits is told too.
func TestH9_WebhooksTellHowASyncEnds(t *testing.T) {
	t.Parallel()
	in := &hookInbox{seen: map[string]int{}, good: map[string]map[string]any{}}
	server := httptest.NewServer(in)
	defer server.Close()
	who := player("Told You#HOOK", 6)
	o := quick(who)
	gone := sim.New(o).MatchIDs(who.RiotID)[0]
	o.Faults = []sim.Fault{{Name: "gone", Kind: sim.NotFound, Match: sim.Match{Method: route.Match, ID: gone, Attempts: 1}}}
	s, dir := startSim(t, o), freshDir(t)
	p := s.serving(t, dir, map[string]string{
		"FARSIGHT_WEBHOOKS_URL": server.URL + "/hook", "FARSIGHT_WEBHOOKS_SECRET": pagerSecret, "FARSIGHT_RETRY_INGEST": "20ms,20ms,20ms,20ms",
	})
	w := attached(t, dir)
	_, err := w.Do(t.Context(), engine.Command{Op: engine.OpTrigger, Account: who.RiotID, Sync: engine.SyncAsk{Platform: string(who.Platform)}})
	if err != nil {
		t.Fatal(err)
	}
	do := func(c engine.Command) engine.Receipt {
		t.Helper()
		got, err := w.Do(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	do(engine.Command{Op: engine.OpTrigger, Account: "Nobody Here#HOOK", Sync: engine.SyncAsk{Platform: string(who.Platform)}})
	for _, event := range []string{pager.SyncCompleted, pager.ReportBuilt, pager.SyncFailed} {
		p.until(event, func() bool { return in.got(event) != nil })
	}
	do(engine.Command{Op: engine.OpPause, Queue: "ingest.summoner.full"})
	waits := do(engine.Command{Op: engine.OpTrigger, Account: "Never Asked#HOOK", Sync: engine.SyncAsk{Platform: string(who.Platform)}})
	do(engine.Command{Op: engine.OpCancel, Job: waits.Job})
	p.until(pager.SyncCancelled, func() bool { return in.got(pager.SyncCancelled) != nil })
	if failed, cancelled := in.got(pager.SyncFailed), in.got(pager.SyncCancelled); failed["result"] != "failed" ||
		failed["error"] == nil || cancelled["result"] != "cancelled" || cancelled["job"] != string(waits.Job) {
		t.Errorf("told %v and %v", failed, cancelled)
	}
	do(engine.Command{Op: engine.OpResume, Queue: "ingest.summoner.full"})
	done, built := in.got(pager.SyncCompleted), in.got(pager.ReportBuilt)
	if done["riot_id"] != who.RiotID || done["result"] != "incomplete" || done["mode"] != "full" || done["id"] == built["id"] || built["run"] != done["run"] {
		t.Errorf("told %v and %v", done, built)
	}
	a, err := w.Find(t.Context(), engine.JobQuery{Key: "match:" + gone})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Do(t.Context(), engine.Command{Op: engine.OpRetry, Job: a.(engine.JobDetail).Job.ID}); err != nil {
		t.Fatal(err)
	}
	p.until("the sync that is complete now", func() bool { return in.got(pager.SyncCompleted)["result"] == "completed" })
	if late := in.got(pager.SyncCompleted); late["run"] != done["run"] || late["job"] != done["job"] || late["id"] == done["id"] {
		t.Errorf("told %v, before %v", late, done)
	}
	for _, err := range in.errs {
		t.Error(err)
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.wait().wants(t, exitDone)
	noTextIn(t, dir, pagerSecret)
	sound(t, dir)
}

func noTextIn(t *testing.T, dir, text string) {
	t.Helper()
	paths, err := scratch.Holding(dir, text)
	if err != nil || len(paths) > 0 {
		t.Errorf("%s hold a secret, %v", paths, err)
	}
}
