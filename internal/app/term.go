package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/pg"
)

// openAlone opens what an engine works on, for it alone: a data directory by its lock, a database
// by leading its members.
func (p *parts) openAlone(cfg config.Config, a assembly) error {
	if cfg.Store != "" {
		return p.take(cfg, a)
	}
	o := inDirectory(cfg)
	o.Log, o.Verify, o.BeforeCommit = logbook.Area(p.log, logbook.AreaStorage), verifyCopy, a.stall
	db, err := storage.Open(o)
	if err != nil {
		return err
	}
	p.opened(db, db.Boot().ID)
	p.db, p.boot = db, db.Boot()
	return nil
}

// memberID names a start of a program: its process, and four digits by chance.
func memberID() string {
	var b [2]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand, Go 1.24)
	return fmt.Sprintf("%d-%x", os.Getpid(), b)
}

// is tells the others what this process is.
func (p *base) is() fleet.Options {
	// For people, on the Members screen: it is compared with nothing.
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	return fleet.Options{ID: p.id, Host: host, Version: version(), Key: func() string { return p.keys.Get().Fingerprint() }}
}

// within lets an engine write and call in a term only. Jobs that were begun in another one go back
// to the line.
func (p *parts) within(ctx context.Context, db *sharedStore, t *fleet.Term) error {
	p.db, p.term = db, t
	if err := db.lead(ctx, t); err != nil {
		return err
	}
	p.boot = storage.Boot{ID: fmt.Sprintf("%s.%d", p.id, t.Epoch), Opened: time.Now(), Restored: db.server.Copied()}
	// Somebody has led before, so the store is not new.
	if t.Epoch > 1 {
		return nil
	}
	limits, err := db.LoadState(ctx, traffic.LimiterState) // a directory that was moved here has some
	p.boot.New = limits == nil
	return err
}

// take opens a database and leads its members until the process ends: for one command, or a sync.
func (p *parts) take(cfg config.Config, a assembly) error {
	ctx := context.Background()
	db, err := openServer(cfg, a, logbook.Area(p.log, logbook.AreaStorage))
	if err != nil {
		return err
	}
	p.opened(db, memberID())
	t, release, err := fleet.Take(ctx, db.server, p.is())
	if err != nil {
		return err
	}
	// Kept before anything else can fail: closing gives the term up.
	p.let = release
	return p.within(ctx, db, t)
}

// membersOf tells who works on a database, to the member of an id; nil of a data directory.
func membersOf(db store, id string) control.Members {
	shared, ok := db.(*sharedStore)
	if !ok {
		return nil
	}
	return func(ctx context.Context) (engine.MembersPage, error) {
		page, err := fleet.Look(ctx, shared.server, fleet.UsualTTL)
		for i := range page.Members {
			page.Members[i].Here = page.Members[i].ID == id
		}
		return page, err
	}
}

// inTerm lets calls go in a term only: one who has stood still does not know that another leads, so
// the connection looks at the clock just before it writes.
type inTerm struct {
	riot.Limiter
	term *fleet.Term
}

// Acquire implements riot.Limiter. A permit that came too late is given back: the call is not made.
func (l inTerm) Acquire(ctx context.Context, r limit.Request) (riot.Permit, error) {
	p, err := l.Limiter.Acquire(ctx, r)
	by := l.term.Until()
	if err == nil && by.IsZero() {
		p.Refund()
		return nil, pg.ErrDeposed
	}
	return punctual{p, by}, err
}

// punctual is a permit with the instant by which its call must be written; the connection gives up
// after it.
type punctual struct {
	riot.Permit
	by time.Time
}

// WriteBy implements what a punctual client asks of a permit.
func (p punctual) WriteBy() time.Time { return p.by }
