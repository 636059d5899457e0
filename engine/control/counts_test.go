package control_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage"
)

// resumes tells when the console has taken over from the process before.
type resumes struct {
	syncer
	done chan struct{}
}

func (r resumes) Resume(context.Context) error { close(r.done); return nil }

// TestStatusCountsAllAccounts: of a store of several pages of accounts every open sync is
// told, and every account counted, with an engine and without one.
func TestStatusCountsAllAccounts(t *testing.T) {
	const all, open = 1700, 1250
	db, err := storage.Open(storage.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	err = db.Write(ctx, func(tx engine.Tx) error {
		for i := range all {
			a := league.Account{ID: fmt.Sprintf("a%04d", i), GameName: fmt.Sprint("Player ", i), TagLine: "EUW", Platform: "euw1", Status: "syncing"}
			if i >= open {
				a.Status = "completed"
			}
			if err := db.SaveAccount(tx, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	check := func(c engine.Console) {
		t.Helper()
		a, err := c.Find(ctx, engine.StatusQuery{})
		if err != nil {
			t.Fatal(err)
		}
		s := a.(engine.StatusAnswer)
		if len(s.Open) != open || s.Engine.Accounts != all || s.Open[0].ID != "a0000" || s.Open[open-1].ID != fmt.Sprintf("a%04d", open-1) {
			t.Errorf("%T: %d of %d sync", c, len(s.Open), s.Engine.Accounts)
		}
		for u := range c.Watch(ctx) {
			if len(u.Accounts) != all {
				t.Errorf("%T: the console is given %d accounts", c, len(u.Accounts))
			}
			break
		}
	}
	check(browse(db, control.Stored{Do: "start an engine"}))

	r := resumes{done: make(chan struct{})}
	c := control.New(control.Options{Store: db, Backend: &backend{}, Syncer: r, Limiter: &limiter{state: engine.EngineLive}, Keys: &keys{}, Policies: engine.DefaultPolicies()})
	running, stop := context.WithCancel(ctx)
	ran := make(chan error, 1)
	go func() { ran <- c.Run(running) }()
	<-r.done
	check(c)
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	cancel()
	if err := errors.Join(<-served, db.Close()); err != nil {
		t.Error(err)
	}
}
