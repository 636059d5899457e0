package operation

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// fakeDomain knows one operation.
type fakeDomain struct{ did []engine.Command }

func (d *fakeDomain) Do(_ context.Context, cmd engine.Command) (engine.Receipt, bool, error) {
	if cmd.Op != engine.OpTrackMany {
		return engine.Receipt{}, false, nil
	}
	d.did = append(d.did, cmd)
	return engine.Receipt{Applied: len(cmd.Lines)}, true, nil
}

func TestTheDomainHasOperationsOfItsOwn(t *testing.T) {
	d := &fakeDomain{}
	c := New(Options{Domain: d})
	r, err := c.inDomain(context.Background(), engine.Command{Op: engine.OpTrackMany, Lines: make([]engine.TrackLine, 3)})
	if err != nil || r.Applied != 3 || len(d.did) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := c.inDomain(context.Background(), engine.Command{Op: engine.OpReresolve}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("a command that nobody knows: %v", err)
	}
}

// fakeSchedules is one schedule.
type fakeSchedules struct{ did []string }

func (s *fakeSchedules) List() []engine.ScheduleRow {
	return []engine.ScheduleRow{{Name: "latest", Next: []time.Time{{}}}}
}

func (s *fakeSchedules) RunNow(_ context.Context, name string, by engine.Actor) (engine.Receipt, error) {
	s.did = append(s.did, "run "+name+" "+by.User)
	return engine.Receipt{Applied: 1}, nil
}

func (s *fakeSchedules) Pause(_ context.Context, name string, _ engine.Actor, reason string) (engine.Receipt, error) {
	s.did = append(s.did, "pause "+name+" "+reason)
	return engine.Receipt{Applied: 1}, nil
}

func (s *fakeSchedules) Resume(_ context.Context, name string, _ engine.Actor, reason string) (engine.Receipt, error) {
	s.did = append(s.did, "resume "+name+" "+reason)
	return engine.Receipt{Applied: 1}, nil
}

func (s *fakeSchedules) Edit(_ context.Context, name string, e engine.ScheduleEdit, dry bool) (engine.Receipt, error) {
	if dry {
		return engine.Receipt{Text: "would be"}, nil
	}
	s.did = append(s.did, "edit "+name+" "+e.Expr+" "+e.Zone+" "+e.By.User+" "+e.Reason)
	return engine.Receipt{Applied: 1}, nil
}

func (s *fakeSchedules) Undo(context.Context, engine.ScheduleMove, bool) (engine.Receipt, error) {
	return engine.Receipt{}, engine.Problemf(engine.ErrConflict, "", "changed since")
}

func TestSchedulesAreSteered(t *testing.T) {
	s := &fakeSchedules{}
	c := New(Options{Schedules: s})
	ana := engine.Actor{User: "ana"}
	for _, dry := range []bool{true, false} {
		for _, op := range []engine.Op{engine.OpRunSchedule, engine.OpPauseSchedule, engine.OpResumeSchedule, engine.OpEditSchedule} {
			cmd := engine.Command{Op: op, Schedule: "latest", Reason: "so", By: ana, DryRun: dry}
			if r, err := c.onSchedule(context.Background(), cmd); err != nil || dry == (r.Applied == 1) {
				t.Errorf("%s, dry %v: %+v, %v", op, dry, r, err)
			}
		}
	}
	if want := []string{"run latest ana", "pause latest so", "resume latest so", "edit latest   ana so"}; len(s.did) != 4 || s.did[3] != want[3] || s.did[0] != want[0] || s.did[1] != want[1] || s.did[2] != want[2] {
		t.Errorf("%v", s.did)
	}
	if _, err := c.onSchedule(context.Background(), engine.Command{Op: engine.OpRunSchedule, Schedule: "nope", DryRun: true}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("an unknown schedule: %v", err)
	}
	if _, err := New(Options{}).onSchedule(context.Background(), engine.Command{Op: engine.OpRunSchedule}); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("without schedules: %v", err)
	}
}

// aBackend notes what becomes of queues and jobs.
type aBackend struct {
	Backend
	did []string
}

func (b *aBackend) Pause(_ context.Context, q engine.Queue, _ engine.Actor, reason string) (engine.Receipt, error) {
	b.did = append(b.did, "pause "+string(q)+" "+reason)
	return engine.Receipt{Applied: 1, Queue: &engine.QueueMove{}}, nil
}

func (b *aBackend) Resume(_ context.Context, q engine.Queue, _ engine.Actor, reason string) (engine.Receipt, error) {
	b.did = append(b.did, "resume "+string(q)+" "+reason)
	return engine.Receipt{Applied: 1, Queue: &engine.QueueMove{}}, nil
}

func (b *aBackend) Act(_ context.Context, cmd engine.Command) (engine.Receipt, error) {
	b.did = append(b.did, string(cmd.Op)+" "+string(cmd.Job)+" "+cmd.Reason)
	return engine.Receipt{Applied: 1}, nil
}

// The schedule of a collection is the collection: to pause it is to pause that, and a run now begins its next round.
func TestL6_ACollectionIsSteeredAsASchedule(t *testing.T) {
	row := engine.CollectionRow{Collection: engine.Collection{ID: "C", Job: "a7", Round: 2, CollectAsk: engine.CollectAsk{Name: "kr", Every: 24 * time.Hour}}}
	b := &aBackend{}
	c := New(Options{Backend: b, Find: func(_ context.Context, q engine.Query) (engine.Answer, error) {
		if asked, ok := q.(engine.CollectionsQuery); ok && asked.Name == row.Name {
			return engine.CollectionsAnswer{Collections: []engine.CollectionRow{row}}, nil
		}
		return nil, engine.ErrNotFound
	}})
	do := func(op engine.Op) (engine.Receipt, error) {
		return c.onSchedule(t.Context(), engine.Command{Op: op, Schedule: "collect.kr", Reason: "so"})
	}
	for _, op := range []engine.Op{engine.OpPauseSchedule, engine.OpResumeSchedule, engine.OpRunSchedule} {
		if r, err := do(op); err != nil || r.Applied != 1 || (r.Queue == nil) != (op == engine.OpRunSchedule) {
			t.Errorf("%s: %+v, %v", op, r, err)
		}
	}
	if want := []string{"pause collect.kr so", "resume collect.kr so", "retry a7 so"}; !slices.Equal(b.did, want) {
		t.Errorf("%v, want %v", b.did, want)
	}
	if _, err := do(engine.OpEditSchedule); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("an edit: %v", err)
	}
	row.Started = time.Now()
	if r, err := do(engine.OpRunSchedule); err != nil || !r.Nothing {
		t.Errorf("while it is under way: %+v, %v", r, err)
	}
	row.Result = "cancelled"
	if _, err := do(engine.OpPauseSchedule); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("when it has ended: %v", err)
	}
	if _, err := c.onSchedule(t.Context(), engine.Command{Op: engine.OpRunSchedule, Schedule: "collect.nope"}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("an unknown one: %v", err)
	}
}

// anySyncer starts every sync.
type anySyncer struct{ Syncer }

func (anySyncer) Trigger(context.Context, string, engine.SyncAsk, engine.Actor) (engine.Receipt, error) {
	return engine.Receipt{Applied: 1}, nil
}

func TestS1_12_ASwitchTurnsSyncsOff(t *testing.T) {
	c := New(Options{Syncer: anySyncer{}})
	cmd := engine.Command{Op: engine.OpTrigger, Account: "Ana#EUW"}
	if _, err := c.trigger(context.Background(), cmd); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("with SYNC_ENABLE=false: %v", err)
	}
	c.opt.SyncOn = true
	if _, err := c.trigger(context.Background(), cmd); err != nil {
		t.Errorf("with SYNC_ENABLE=true: %v", err)
	}
}

// orderDomain sees under which context a command is carried out, and its audit is written.
type orderDomain struct {
	Store
	marked []bool
}

func (d *orderDomain) Do(ctx context.Context, _ engine.Command) (engine.Receipt, bool, error) {
	d.marked = append(d.marked, engine.IsOrder(ctx))
	return engine.Receipt{}, true, nil
}

func (d *orderDomain) Write(ctx context.Context, _ func(engine.Tx) error) error {
	d.marked = append(d.marked, engine.IsOrder(ctx))
	return nil
}

// A command and its audit are written as an order, which a full disk has room for.
func TestB17d_ACommandIsAnOrder(t *testing.T) {
	d := &orderDomain{}
	c := New(Options{Domain: d, Store: d, Note: func(engine.Note) {}})
	if _, err := c.Do(context.Background(), engine.Command{Op: engine.OpTrackMany}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.marked, []bool{true, true}) {
		t.Errorf("marked as orders: %v", d.marked)
	}
}

// TestWhatOthersHaveDoneNamesItsTargetOnce, where what became of it names it too.
func TestWhatOthersHaveDoneNamesItsTargetOnce(t *testing.T) {
	var said string
	c := New(Options{Note: func(n engine.Note) { said = n.Text }})
	for text, want := range map[string]string{
		"schedule latest ran: 1 job inserted": "ana: run-schedule: schedule latest ran: 1 job inserted",
		"1 job inserted":                      "ana: run-schedule schedule latest: 1 job inserted",
	} {
		c.announce(engine.Command{Op: engine.OpRunSchedule, Schedule: "latest", By: engine.Actor{User: "ana"}}, engine.Receipt{Text: text})
		if said != want {
			t.Errorf("%q, want %q", said, want)
		}
	}
	c.announce(engine.Command{Op: engine.OpTrigger, Account: "Silver Lynx#DEMO", By: engine.Actor{User: "ana"}}, engine.Receipt{Text: "a sync of Silver Lynx#DEMO is in line"})
	if want := "ana: trigger: a sync of Silver Lynx#DEMO is in line"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
}
