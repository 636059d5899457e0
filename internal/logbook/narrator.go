package logbook

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/wall"
)

// Areas of the log: which part of the engine a record is of. The limiter and the
// way to Riot name theirs themselves.
const (
	AreaAlerts   = "alerts"
	AreaEngine   = "engine"
	AreaJobs     = "jobs"
	AreaLibrary  = "library" // what others' code prints
	AreaPager    = "pager"
	AreaSchedule = "schedule"
	AreaSocket   = "socket" // whoever connects
	AreaStorage  = "storage"
	AreaSync     = "sync"
)

// Narrator writes into the log what the parts say and what was committed: one line
// per event that an operator may look for, none per match.
type Narrator struct {
	log     zerolog.Logger
	version string // of the program
	since   time.Time

	mu     sync.Mutex
	open   map[string]string    // account -> run that is under way
	closed map[string]time.Time // account -> when its last run became complete after its end
}

// NewNarrator writes into log; version is the program's.
func NewNarrator(log zerolog.Logger, version string) *Narrator {
	return &Narrator{log: log, version: version, open: map[string]string{}, closed: map[string]time.Time{}, since: wall.Now()}
}

// Started tells that an engine runs; fresh is the first start on its directory.
func (n *Narrator) Started(boot string, fresh bool) {
	log := Area(n.log, AreaEngine)
	log.Info().Str("version", n.version).Str("boot", boot).Bool("fresh", fresh).Msg("engine started")
}

// Stopped tells how it ended; nil = in order.
func (n *Narrator) Stopped(err error) {
	log := Area(n.log, AreaEngine)
	if err != nil {
		log.Error().Err(err).Msg("engine broke")
		return
	}
	log.Info().Msg("engine stopped")
}

// Note keeps a message of a part, which would be gone with its console.
func (n *Narrator) Note(area string, note engine.Note) {
	log := Area(n.log, area)
	ev := log.Info()
	switch note.Level {
	case engine.LevelWarn:
		ev = log.Warn()
	case engine.LevelErr:
		ev = log.Error()
	}
	if note.Job != "" {
		ev = ev.Str("job", string(note.Job))
	}
	ev.Msg(note.Text)
}

// Tick tells what became of a schedule's tick.
func (n *Narrator) Tick(schedule string, t engine.ScheduleTick) {
	log := Area(n.log, AreaSchedule)
	ev, text := log.Info(), "schedule ran"
	if t.Result != engine.TickRan {
		ev, text = log.Warn(), "ticks skipped"
	}
	ev = ev.Str("schedule", schedule).Time("planned", t.Planned.UTC()).Int("count", t.Count).Int("jobs", t.Jobs)
	if t.Job != "" {
		ev = ev.Str("job", string(t.Job))
	}
	if t.By.User != "" {
		ev = ev.Str("by", t.By.User)
	}
	if t.Reason != "" {
		ev = ev.Str("reason", t.Reason)
	}
	ev.Msg(text)
}

// Changes tells of syncs that began or ended and of operators' commands. It is
// called on the committer's goroutine, in commit order.
func (n *Narrator) Changes(list []engine.Change) {
	for i := range list {
		switch c := &list[i]; {
		case c.Account != nil:
			n.account(c.Account)
		case c.Audit != nil:
			n.command(c.Audit)
		}
	}
}

func (n *Narrator) account(a *engine.AccountRow) {
	n.mu.Lock()
	run, was := n.open[a.ID]
	if a.Status.Open() {
		n.open[a.ID] = a.Run
	} else {
		delete(n.open, a.ID)
	}
	// A run that had a gap when it ended, and has none any more: told once, and not of runs that were
	// closed before this start.
	late := !a.Closed.IsZero() && !a.Closed.Before(n.since) && !a.Closed.Equal(n.closed[a.ID])
	if n.closed[a.ID] = a.Closed; a.Closed.IsZero() {
		delete(n.closed, a.ID)
	}
	n.mu.Unlock()
	log := Area(n.log, AreaSync)
	switch {
	case a.Status.Open() && !was:
		ev, text := log.Info(), "sync begun"
		if a.Resumed > 0 {
			ev, text = ev.Int("resumed", a.Resumed), "sync goes on after a restart"
		}
		n.run(ev, a).Msg(text)
	case was && !a.Status.Open():
		ev := log.Info()
		if a.LastError != "" && a.Status == engine.SyncFailed {
			ev = log.Warn().Str("err", a.LastError)
		}
		n.run(ev, a).Str("result", a.Result).Int("stored", a.Matches.Stored).Int("had", a.Matches.Had).
			Int("failed", a.Matches.Failed).Int("too_old", a.Matches.TooOld).Int("unaskable", a.Matches.Unaskable).
			Int("cancelled", a.Matches.Cancelled).Int("open", a.Matches.Open).Int("calls", a.Calls).Int("rate_limited", a.Throttled).
			Dur("took", human.Logged(took(a))).Msg("sync ended")
	case late && !a.Status.Open():
		n.run(log.Info(), a).Str("result", a.Result).Time("finished", a.Finished.UTC()).Msg("sync complete: its last gap is closed")
	case was && run != a.Run:
		n.run(log.Info(), a).Msg("sync begun")
	}
}

// run adds whose sync it is, in the fields that every record of one has.
func (n *Narrator) run(ev *zerolog.Event, a *engine.AccountRow) *zerolog.Event {
	return ev.Str("account", a.RiotID).Str("route", a.Region).Str("job", string(a.Job)).Str("kind", a.Kind).Str("queue", string(a.Queue))
}

// took is how long a run went on, by the instants that are stored.
func took(a *engine.AccountRow) time.Duration {
	if a.Started.IsZero() || a.Finished.Before(a.Started) {
		return 0
	}
	return a.Finished.Sub(a.Started)
}

// command tells who asked for what.
func (n *Narrator) command(e *engine.AuditEntry) {
	log := Area(n.log, AreaEngine)
	ev := log.Info().Uint64("audit", e.Seq).Str("op", string(e.Op)).Str("target", e.Target).
		Str("by", e.By.User).Str("via", e.By.Via).Int("applied", e.Applied).Str("result", e.Result)
	if e.Reason != "" {
		ev = ev.Str("reason", e.Reason)
	}
	ev.Msg("command")
}
