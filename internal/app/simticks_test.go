package app

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// tickBook gathers what became of every planned run of every schedule, out of
// what the schedules show.
type tickBook struct {
	since   time.Time                // what was decided before is another book's
	ran     map[string]map[int64]int // schedule → planned instant → jobs
	dropped map[string][]engine.ScheduleTick
}

func newTickBook(since time.Time) *tickBook {
	return &tickBook{since: since, ran: map[string]map[int64]int{}, dropped: map[string][]engine.ScheduleTick{}}
}

func (b *tickBook) note(rows []engine.ScheduleRow) {
	for _, r := range rows {
		if b.ran[r.Name] == nil {
			b.ran[r.Name] = map[int64]int{}
		}
		if l := r.Last; l.Result == engine.TickRan && l.By.User == "" && l.At.After(b.since) {
			b.ran[r.Name][l.Planned.Unix()] = l.Jobs
		}
		for _, s := range r.Skipped {
			if s.At.After(b.since) && !slices.ContainsFunc(b.dropped[r.Name], func(o engine.ScheduleTick) bool {
				return o.Planned.Equal(s.Planned) && o.Count == s.Count && o.At.Equal(s.At)
			}) {
				b.dropped[r.Name] = append(b.dropped[r.Name], s)
			}
		}
	}
}

// wasDropped reports whether a planned run was skipped or missed, but for one
// that was not made again after the clock had been set back.
func (b *tickBook) wasDropped(name string, at time.Time) bool {
	return slices.ContainsFunc(b.dropped[name], func(d engine.ScheduleTick) bool {
		if strings.Contains(d.Reason, "it ran already") {
			return false
		}
		last := d.Last
		if last.Before(d.Planned) {
			last = d.Planned
		}
		return !at.Before(d.Planned) && !at.After(last)
	})
}

// proveTicks proves that every planned run of a schedule was made once or dropped
// by its rule, in a zone and over the two changes of its clock.
func (w *world) proveTicks() {
	w.seeWall()
	for _, r := range w.schedules() {
		planned := plannedTicks(r.Name, w.zone, w.lowest.Add(time.Minute), w.highest.Add(-time.Minute))
		if len(planned) == 0 && clockOf[r.Name].hour < 0 {
			w.errorf("P-22: nothing was planned of %s", r.Name)
		}
		for _, at := range planned {
			_, ran := w.ticks.ran[r.Name][at.Unix()]
			if dropped := w.ticks.wasDropped(r.Name, at); ran == dropped {
				w.errorf("P-22: the run of %s at %s: ran %t, dropped %t", r.Name, at.Format(time.RFC3339), ran, dropped)
			}
		}
		lawful := plannedTicks(r.Name, w.zone, w.lowest.Add(-time.Minute), w.highest)
		for unix := range w.ticks.ran[r.Name] {
			if at := time.Unix(unix, 0).UTC(); !slices.ContainsFunc(lawful, at.Equal) {
				w.errorf("P-22: %s ran at %s, where none was planned", r.Name, at.Format(time.RFC3339))
			}
		}
	}
	if n, jobs := len(w.ticks.ran["sweep"]), w.check.inserted["sweep"]; n != jobs {
		w.errorf("P-24: %d sweeps were due, %d jobs were inserted", n, jobs)
	}
}

func (w *world) schedules() []engine.ScheduleRow {
	answer, err := w.task.front.Find(context.Background(), engine.SchedulesQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.(engine.SchedulesPage).Schedules
}

// clockOf says at which local hour and minute a schedule runs; hour -1 = each, on
// weekday -1 = every day. It is told here a second time, in the plainest way, so
// that the engine's own reckoning has something to be compared with.
var clockOf = map[string]struct{ weekday, hour, minute int }{
	"latest": {-1, -1, 0}, "sweep": {-1, -1, 17}, "rank.daily": {-1, 2, 30}, "prune": {-1, 4, 40}, "compact": {-1, 5, 20}, "report.weekly": {1, 4, 0},
}

// plannedTicks walks over every minute: an hourly run follows real hours, a daily
// one the local clock, once per date; an hour that is skipped makes it late.
func plannedTicks(name, zone string, from, to time.Time) (list []time.Time) {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	rule, done := clockOf[name], map[string]bool{}
	if rule.hour >= 0 {
		from = from.Add(-24 * time.Hour) // what began the day before its first hour is known to be done
	}
	began := from
	for at := from.Truncate(time.Minute); !at.After(to); at = at.Add(time.Minute) {
		local := at.In(loc)
		date := local.Format(time.DateOnly)
		switch {
		case rule.weekday >= 0 && int(local.Weekday()) != rule.weekday:
			continue
		case rule.hour < 0 && local.Minute() == rule.minute:
			list = append(list, at)
		case rule.hour >= 0 && !done[date] && local.Hour()*60+local.Minute() >= rule.hour*60+rule.minute:
			done[date] = true
			list = append(list, at)
		}
	}
	return slices.DeleteFunc(list, func(at time.Time) bool {
		return rule.hour >= 0 && at.Before(began.Add(24*time.Hour))
	})
}
