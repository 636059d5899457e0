package app

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/logbook"
)

// Proofs that the pager fits those who use it, and whom it uses.
var (
	_ pager.Jobs      = (*local.Backend)(nil)
	_ control.Runner  = (*pager.Pager)(nil)
	_ operation.Pager = (*pager.Pager)(nil)
)

// isPager reports whether a setting is of [pager] or [webhooks].
func isPager(name string) bool {
	table, _, ok := strings.Cut(name, ".")
	return ok && slices.Contains(config.PagerTables, table)
}

// newPager makes the pager of an engine. A demo calls its own simulated telephone,
// whatever the configuration says. An engine that works on one run alone has no
// alerts to tell of; its events wait for the next engine that works on everything.
func (p *parts) newPager(cfg config.Config, a assembly, note func(engine.Note)) (*pager.Pager, error) {
	who := cfg.Pager.Targets
	switch {
	case a.demo:
		who = pager.Targets{Call: a.phone}
	case a.onlyOwn:
		who = pager.Targets{Hooks: who.Hooks}
	}
	host, _ := os.Hostname() // without a name it is called farsight
	pg, err := pager.New(pager.Options{
		Store: p.db, Targets: who, Instance: host,
		Account: p.db.AccountRow, Transport: a.dials, OnNote: note, Log: logbook.Area(p.log, logbook.AreaPager),
	})
	if err != nil {
		return nil, usage(err)
	}
	// What was under way when the process before ended, such as a call that rang.
	return pg, pg.Load(context.Background())
}

// pagedKinds are all kinds of an engine: those of ingestion, whose ends hooks are
// told of, and the pager's.
func pagedKinds(in *ingest.Ingest, pg *pager.Pager) []engine.KindSpec {
	told := pg.Told(func(tx engine.Tx, before, after engine.Job, o engine.Outcome) (pager.Event, bool, error) {
		m, ok, err := in.Milestone(tx, before, after, o)
		return eventOf(m), ok, err
	})
	kinds := in.Kinds()
	// Only a sync and a weekly report end in an event; each match would be thousands.
	for i, k := range kinds {
		if k.Kind != ingest.KindSync && k.Kind != ingest.KindWeekly {
			continue
		}
		kinds[i].OnMove = func(tx engine.Tx, before, after engine.Job, o engine.Outcome) error {
			// Ingestion's own first: an event about what it refuses must not be stored.
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

// eventOf is a milestone as programs are told of it.
func eventOf(m ingest.Milestone) pager.Event {
	return pager.Event{
		ID: m.ID, Type: milestones[m.Kind], At: m.At, Account: m.Account, Run: m.Run, Mode: m.Mode, Result: m.Result, Error: m.Error, Week: m.Week, Job: string(m.Job),
	}
}

// milestones are the events by what ingestion calls them.
var milestones = map[ingest.MilestoneKind]string{
	ingest.SyncDone: pager.SyncCompleted, ingest.SyncFailed: pager.SyncFailed, ingest.SyncCancelled: pager.SyncCancelled,
	ingest.ReportDone: pager.ReportBuilt,
}
