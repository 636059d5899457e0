package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/engine/pager/voice"
	"github.com/farsight-console/farsight/storage"
)

// Proofs that the pager fits those who use it, and what it uses.
var (
	_ pager.Store    = (*storage.DB)(nil)
	_ pager.Jobs     = (*local.Backend)(nil)
	_ control.Runner = (*pager.Pager)(nil)
)

// areaPager is the pager's in the log.
const areaPager = "pager"

// hookName names an address by what does not reveal it.
func hookName(address string) string {
	sum := sha256.Sum256([]byte("farsight hook\x00" + address))
	return hex.EncodeToString(sum[:4])
}

// newPager makes the pager of an engine. A demo calls its own simulated telephone,
// whatever the configuration says. An engine that works on one run alone has no
// alerts to tell of; its events wait for the next engine that works on everything.
func (p *parts) newPager(cfg Config, a assembly, note func(engine.Note)) (*pager.Pager, error) {
	who := cfg.Pager
	switch {
	case a.demo:
		who = PagerConfig{Call: a.phone.options()}
	case a.onlyOwn:
		who = PagerConfig{Hooks: who.Hooks}
	}
	host, _ := os.Hostname() // without a name it is called farsight
	pg, err := pager.New(pager.Options{
		Store: p.db, Call: who.Call, Channels: who.Channels, Hooks: who.Hooks, Instance: host,
		Account: p.db.AccountRow, OnNote: note, Log: areaLog(p.log, areaPager),
	})
	if err != nil {
		return nil, usage(err)
	}
	return pg, pg.Load(context.Background())
}

// pagedKinds are all kinds of an engine: those of ingestion, whose ends hooks are
// told of, and the pager's.
func pagedKinds(in *ingest.Ingest, pg *pager.Pager) []engine.KindSpec {
	told := pg.Told(func(tx engine.Tx, before, after engine.Job, o engine.Outcome) (pager.Event, bool, error) {
		m, ok, err := in.Milestone(tx, before, after, o)
		return pager.Event{
			ID: m.ID, Type: milestones[m.Kind], At: m.At, Account: m.Account, Run: m.Run, Mode: m.Mode, Result: m.Result, Week: m.Week, Job: string(after.ID),
		}, ok, err
	})
	kinds := in.Kinds()
	for i, k := range kinds {
		if k.Kind != ingest.KindSync && k.Kind != ingest.KindWeekly {
			continue
		}
		kinds[i].OnMove = func(tx engine.Tx, before, after engine.Job, o engine.Outcome) error {
			if k.OnMove != nil {
				if err := k.OnMove(tx, before, after, o); err != nil {
					return err
				}
			}
			return told(tx, before, after, o)
		}
	}
	return append(kinds, pg.Kinds()...)
}

// milestones are the events by what ingestion calls them.
var milestones = map[ingest.MilestoneKind]string{ingest.SyncDone: pager.SyncCompleted, ingest.ReportDone: pager.ReportBuilt}

// demoPhone is the demo's telephone: a simulated service beside the simulated Riot,
// on the same loopback port. Its line is busy, busy, and then answered.
type demoPhone struct {
	voice *voice.Service
	rest  http.Handler
	call  pager.CallOptions
}

// What the demo's telephone is called by. The numbers are reserved for fiction.
const (
	demoAccount = "AC00000000000000000000000000000000"
	demoToken   = "no-secret-of-anybody"
	demoFrom    = "+12025550100"
	demoTo      = "+12025550111"
)

// newDemoPhone makes a telephone at an address at which rest serves everything
// else. A call is shorter than the wait for the next one.
func newDemoPhone(addr string, calls engine.Policy, rest http.Handler) *demoPhone {
	stage := min(time.Second, calls.Delays[0]/6)
	return &demoPhone{
		rest:  rest,
		voice: voice.New(voice.Options{Account: demoAccount, Token: demoToken, Script: []string{"busy", "busy", "completed"}, Stage: stage}),
		call: pager.CallOptions{
			BaseURL: "http://" + addr, Account: pager.NewSecret(demoAccount), Token: pager.NewSecret(demoToken),
			From: demoFrom, To: []string{demoTo}, Poll: max(stage/2, 10*time.Millisecond),
		},
	}
}

// options are whom to call; nil when there is no telephone.
func (d *demoPhone) options() *pager.CallOptions {
	if d == nil {
		return nil
	}
	return &d.call
}

func (d *demoPhone) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, voice.Root) {
		d.voice.ServeHTTP(w, r)
		return
	}
	d.rest.ServeHTTP(w, r)
}
