package cron

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// hourly makes a schedule that inserts one job per tick.
func hourly(m Misfire, limit int) Spec {
	return Spec{Name: "latest", Expr: "0 */1 * * *", Misfire: m, Cap: limit, Fire: perTick()}
}

func TestS4_13_FiresAtItsInstants(t *testing.T) {
	in2026(t, func(b *bench) { // Monday 12:10
		b.start(hourly(Skip, 0),
			Spec{Name: "ranks", Expr: "0 3 * * *", Zone: "Asia/Seoul", Fire: perTick()},
			Spec{Name: "report", Expr: "0 4 * * 1", Fire: perTick()})
		b.pass(50*time.Minute - time.Millisecond)
		b.wantJobs()
		b.pass(time.Millisecond)
		b.wantJobs("latest@2026-03-02T13:00:00Z")
		b.move(6*24*time.Hour + 8*time.Hour) // Sunday 21:00
		b.pass(24*time.Hour - time.Second)
		count := map[string]int{}
		for _, k := range b.store.keys()[1:] {
			name, _, _ := strings.Cut(k, "@")
			count[name]++
		}
		// All are of the rule skip: the six days that the clock was moved by are lost.
		if want := map[string]int{"latest": 24, "ranks": 1, "report": 1}; fmt.Sprint(count) != fmt.Sprint(want) {
			t.Errorf("in a day: %v, want %v", count, want)
		}
	})
}

func TestP23_DownForThreeDays(t *testing.T) {
	for _, c := range []struct {
		rule    Misfire
		limit   int
		jobs    int
		skipped int
		reason  string
	}{
		{Skip, 0, 0, 72, whyOff},
		{Once, 0, 1, 71, whyOff + "; one run stands for them"},
		{All, 100, 72, 0, ""},
		{All, 10, 10, 62, whyOff + "; only the latest 10 are made up for"},
	} {
		t.Run(fmt.Sprint(c.rule, c.limit), func(t *testing.T) {
			in2026(t, func(b *bench) {
				b.start(hourly(c.rule, c.limit))
				b.crash()
				b.pass(72 * time.Hour) // Thursday 12:10
				r := b.start(hourly(c.rule, c.limit))
				keys := b.store.keys()
				if len(keys) != c.jobs {
					t.Fatalf("%d jobs, want %d: %q", len(keys), c.jobs, keys)
				}
				if c.jobs > 0 && keys[len(keys)-1] != "latest@2026-03-05T12:00:00Z" {
					t.Errorf("the last job is %s", keys[len(keys)-1])
				}
				row := r.List()[0]
				if c.skipped == 0 && len(row.Skipped) != 0 || c.skipped > 0 &&
					(len(row.Skipped) != 1 || row.Skipped[0].Count != c.skipped || row.Skipped[0].Reason != c.reason || row.Skipped[0].Result != engine.TickMissed) {
					t.Errorf("missed: %+v, want %d: %s", row.Skipped, c.skipped, c.reason)
				}
				b.pass(50 * time.Minute)
				if got := len(b.store.keys()); got != c.jobs+1 {
					t.Errorf("the next tick on time made %d jobs, want 1", got-c.jobs)
				}
			})
		})
	}
}

// Next run and jobs stand in one transaction: where it fails, neither is there,
// and the tick comes again.
func TestP23_AFailedInsertLosesNoTick(t *testing.T) {
	in2026(t, func(b *bench) {
		var broken atomic.Bool
		broken.Store(true)
		spec := hourly(Once, 0)
		fire := spec.Fire
		spec.Fire = func(tx engine.Tx, tick Tick) (Fired, error) {
			f, err := fire(tx, tick)
			if broken.Load() && err == nil {
				err = errors.New("the accounts cannot be read")
			}
			return f, err
		}
		b.start(spec)
		b.pass(51 * time.Minute)
		b.wantJobs()
		if next := b.store.state("latest").Next; !next.Equal(time.Date(2026, 3, 2, 13, 0, 0, 0, time.UTC)) {
			t.Errorf("the next run is %s although nothing was inserted", next)
		}
		if len(b.notes) != 1 || !strings.Contains(b.notes[0], "the accounts cannot be read") {
			t.Errorf("notes are %q", b.notes)
		}
		broken.Store(false)
		b.pass(time.Minute)
		b.wantJobs("latest@2026-03-02T13:00:00Z")
	})
}

// A disk without room lets the tick wait, a panic is the schedule's own trouble,
// and any other error of the store ends Run.
func TestP23_FaultsOfTheStore(t *testing.T) {
	in2026(t, func(b *bench) {
		var full atomic.Bool
		b.store.fail = func() error {
			if full.Load() {
				return errFull
			}
			return nil
		}
		b.start(hourly(Once, 0))
		full.Store(true)
		b.pass(3 * time.Hour)
		b.wantJobs()
		full.Store(false)
		b.pass(time.Minute)
		b.wantJobs("latest@2026-03-02T15:00:00Z")
	})
	in2026(t, func(b *bench) {
		b.start(Spec{Name: "bad", Expr: "@hourly", Fire: func(engine.Tx, Tick) (Fired, error) { panic("no map") }}, hourly(Skip, 0))
		b.pass(time.Hour)
		b.wantJobs("latest@2026-03-02T13:00:00Z")
		if len(b.notes) != 1 || !strings.Contains(b.notes[0], "panic: no map") {
			t.Errorf("notes are %q", b.notes)
		}
	})
	in2026(t, func(b *bench) {
		b.store.fail = func() error { return errors.New("EIO") }
		r, err := New(Options{Store: b.store, Specs: []Spec{hourly(Skip, 0)}})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "EIO") {
			t.Errorf("Run ended with %v", err)
		}
	})
}

// Jobs that end at once, two engines on one store, restarts at every moment: one
// job per tick.
func TestP24_OneJobPerTick(t *testing.T) {
	in2026(t, func(b *bench) {
		spec := Spec{Name: "quick", Expr: "* * * * *", Fire: oneKey("quick"), Misfire: Once}
		for i := range 120 {
			b.start(spec)
			b.start(spec)
			b.pass(time.Duration(7+13*i%50) * time.Second)
			b.store.end() // the key is free again
			if i%3 == 0 {
				b.crash()
			}
		}
		minutes := int(b.now().Truncate(time.Minute).Sub(time.Date(2026, 3, 2, 12, 10, 0, 0, time.UTC)) / time.Minute)
		if got := len(b.store.keys()); got != minutes {
			t.Errorf("%d jobs in %d minutes", got, minutes)
		}
		if got := len(b.store.rows.ticks); got != minutes {
			t.Errorf("%d ticks in %d minutes", got, minutes)
		}
	})
}

func TestP25_OverlapIsRecordedAsSkipped(t *testing.T) {
	in2026(t, func(b *bench) {
		r := b.start(Spec{Name: "latest", Expr: "@hourly", Fire: oneKey("latest:all")})
		b.pass(50 * time.Minute) // 13:00
		b.wantJobs("latest:all")
		b.pass(2 * time.Hour)
		b.wantJobs("latest:all")
		row := r.List()[0]
		if len(row.Skipped) != 1 || row.Skipped[0].Count != 2 || row.Skipped[0].Result != engine.TickSkipped ||
			row.Skipped[0].Job != "1" || row.Skipped[0].Reason != "job 1 of an earlier run is still available" {
			t.Errorf("skipped: %+v", row.Skipped)
		}
		if row.Last.Job != "1" || row.Last.Planned.Hour() != 13 || row.Last.Result != engine.TickRan {
			t.Errorf("last: %+v", row.Last)
		}
		b.store.end()
		b.pass(time.Hour)
		b.wantJobs("latest:all", "latest:all")
		if row := r.List()[0]; row.Last.Job != "2" || len(row.Next) != 3 || row.Next[0].Hour() != 17 || row.Next[2].Hour() != 19 {
			t.Errorf("after the run before has ended: %+v", row)
		}
	})
}

// Of several specs some may be in the way: the others run, and the row says so.
func TestP25_PartialOverlap(t *testing.T) {
	in2026(t, func(b *bench) {
		r := b.start(Spec{Name: "s", Expr: "@hourly", Fire: Insert(func(k Tick) []engine.Spec {
			return []engine.Spec{{Key: "fixed"}, {Key: k.ID}, {Key: "other"}}
		})})
		b.pass(110 * time.Minute)
		last := r.List()[0].Last
		if last.Jobs != 1 || last.Job != "4" || last.Reason != "job 1 of an earlier run is still available, and 1 more" {
			t.Errorf("last: %+v", last)
		}
	})
}

func TestP26_ClockJumps(t *testing.T) {
	for _, c := range []struct {
		name  string
		jumps []time.Duration // at 12:10, one each ten minutes
		want  string          // hours of the ticks that ran by wall 15:05 of the last clock
	}{
		{"ahead 1 h", []time.Duration{time.Hour}, "13 14 15"},
		{"ahead 1 h and back", []time.Duration{time.Hour, -time.Hour}, "13 14 15"},
		{"back 1 h", []time.Duration{-time.Hour}, "12 13 14 15"},
		{"back 1 h, twice", []time.Duration{-time.Hour, -time.Hour}, "11 12 13 14 15"},
		{"suspended 8 h", []time.Duration{8 * time.Hour}, "20"},
		{"ahead 1 d and back", []time.Duration{24 * time.Hour, -24 * time.Hour}, "12(3) 13 14 15"},
		{"ahead 2 y and back", []time.Duration{2 * 365 * 24 * time.Hour, -2 * 365 * 24 * time.Hour}, "12(1) 13 14 15"},
		{"back 1 d", []time.Duration{-24 * time.Hour, 24 * time.Hour}, "12 13 14 15"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in2026(t, func(b *bench) {
				b.start(hourly(Once, 0))
				for _, d := range c.jumps {
					b.move(d)
					b.pass(10 * time.Minute)
				}
				if len(b.notes) != len(c.jumps) || !strings.Contains(b.notes[0], "the clock moved ") {
					t.Errorf("notes are %q", b.notes)
				}
				for b.now().Hour() < 15 || b.now().Minute() < 5 {
					b.pass(time.Minute)
				}
				var got []string
				for _, k := range b.store.keys() {
					at, err := time.Parse(time.RFC3339, strings.TrimPrefix(k, "latest@"))
					if err != nil {
						t.Fatal(err)
					}
					word := at.Format("15")
					if at.Year() != 2026 {
						word += "(1)"
					} else if at.Day() != 2 {
						word += fmt.Sprintf("(%d)", at.Day())
					}
					got = append(got, word)
				}
				if all := strings.Join(got, " "); all != c.want {
					t.Errorf("ran %s, want %s", all, c.want)
				}
			})
		})
	}
}

// A tick whose job has ended long ago holds no key any more: it is not run again all the
// same when the clock comes by once more, over a restart too, and the schedule says why.
func TestP26_ATickThatRanIsNotRunAgain(t *testing.T) {
	for _, restart := range []bool{false, true} {
		in2026(t, func(b *bench) {
			b.start(hourly(Once, 0))
			b.pass(2 * time.Hour) // 14:10
			b.wantJobs("latest@2026-03-02T13:00:00Z", "latest@2026-03-02T14:00:00Z")
			b.store.end()
			if restart {
				b.crash()
			}
			b.move(-90 * time.Minute) // 12:40
			if restart {
				b.start(hourly(Once, 0))
			}
			b.pass(time.Hour) // 13:40
			b.wantJobs("latest@2026-03-02T13:00:00Z", "latest@2026-03-02T14:00:00Z")
			s := b.store.state("latest")
			if len(s.Skipped) == 0 || s.Skipped[0].Reason != "it ran already, before the clock was set back" || s.Skipped[0].ID != "latest@2026-03-02T13:00:00Z" {
				t.Errorf("restart %t: skipped %+v", restart, s.Skipped)
			}
			b.pass(2 * time.Hour) // 15:40: what has not run does
			b.wantJobs("latest@2026-03-02T13:00:00Z", "latest@2026-03-02T14:00:00Z", "latest@2026-03-02T15:00:00Z")
		})
	}
}

// After a jump the next tick is on time to the second, for the clock is read again
// at least that often.
func TestP26_NotDeafAfterAJumpBack(t *testing.T) {
	in2026(t, func(b *bench) {
		b.start(hourly(Skip, 0))
		b.pass(30 * time.Minute) // 12:40
		b.move(-5 * time.Hour)   // 7:40
		b.pass(20*time.Minute + readEvery)
		b.wantJobs("latest@2026-03-02T08:00:00Z")
		b.move(time.Hour - 2*time.Second) // 8:59:59
		b.pass(5 * time.Second)
		b.wantJobs("latest@2026-03-02T08:00:00Z", "latest@2026-03-02T09:00:00Z")
	})
}

// NTP slews the clock by half a millisecond a second: no tick is lost or doubled.
func TestP26_SlewedClock(t *testing.T) {
	for _, slew := range []time.Duration{500 * time.Microsecond, -500 * time.Microsecond} {
		in2026(t, func(b *bench) {
			b.start(Spec{Name: "m", Expr: "* * * * *", Fire: perTick()})
			for range 3600 {
				b.move(slew)
				b.pass(time.Second)
			}
			want := int(b.now().Truncate(time.Minute).Sub(time.Date(2026, 3, 2, 12, 10, 0, 0, time.UTC)) / time.Minute)
			if got := len(b.store.keys()); got != want {
				t.Errorf("slew %s: %d jobs in %d minutes", slew, got, want)
			}
			if s := b.store.state("m"); len(s.Skipped) != 0 || len(b.notes) != 0 {
				t.Errorf("slew %s: skipped %+v, notes %q", slew, s.Skipped, b.notes)
			}
		})
	}
}

// Both changes of the clock, through the engine: the daily run comes once each day.
func TestP22_DailyRunThroughBothChanges(t *testing.T) {
	for _, start := range []time.Duration{26 * 24 * time.Hour, 236 * 24 * time.Hour} { // 28 March, 24 October
		in2026(t, func(b *bench) {
			b.move(start)
			b.start(Spec{Name: "night", Expr: "30 2 * * *", Zone: "Europe/Berlin", Fire: perTick()})
			b.pass(40 * time.Hour)
			if got := len(b.store.keys()); got != 2 {
				t.Errorf("%d runs in two nights: %q", got, b.store.keys())
			}
		})
	}
}

func TestSchedules_PauseAndResume(t *testing.T) {
	in2026(t, func(b *bench) {
		r := b.start(hourly(All, 50))
		got, err := r.Pause(t.Context(), "latest", ana, "key is being changed")
		if err != nil || got.Applied != 1 {
			t.Fatalf("pause: %+v, %v", got, err)
		}
		if again, err := r.Pause(t.Context(), "latest", ana, ""); err != nil || !again.Nothing {
			t.Errorf("paused twice: %+v, %v", again, err)
		}
		b.pass(5 * time.Hour) // 17:10
		b.crash()
		b.pass(time.Hour)
		r = b.start(hourly(All, 50)) // the pause outlives the engine
		b.wantJobs()
		row := r.List()[0]
		if !row.Paused || row.By != ana || len(row.Skipped) != 1 || row.Skipped[0].Count != 6 || row.Skipped[0].Reason != "paused by ana: key is being changed" {
			t.Errorf("paused: %+v", row)
		}
		if _, err := r.Resume(t.Context(), "latest", ana, ""); err != nil {
			t.Fatal(err)
		}
		b.pass(time.Hour)
		b.wantJobs("latest@2026-03-02T19:00:00Z")
	})
}

// Resume of a schedule whose engine was off makes up for nothing either.
func TestSchedules_ResumeWhileTheEngineIsOff(t *testing.T) {
	in2026(t, func(b *bench) {
		r := b.start(hourly(All, 50))
		if _, err := r.Pause(t.Context(), "latest", ana, ""); err != nil {
			t.Fatal(err)
		}
		b.crash()
		b.pass(5 * time.Hour)
		offline, err := New(Options{Store: b.store, Specs: []Spec{hourly(All, 50)}})
		if err != nil {
			t.Fatal(err)
		}
		if err := offline.Load(t.Context()); err != nil || !offline.List()[0].Paused {
			t.Fatalf("loaded: %+v, %v", offline.List(), err)
		}
		if _, err := offline.Resume(t.Context(), "latest", ana, ""); err != nil {
			t.Fatal(err)
		}
		b.start(hourly(All, 50))
		b.wantJobs()
		b.pass(time.Hour)
		b.wantJobs("latest@2026-03-02T18:00:00Z")
	})
}

func TestSchedules_RunNow(t *testing.T) {
	in2026(t, func(b *bench) {
		spec := Spec{Name: "latest", Expr: "@hourly", Paused: true, Fire: oneKey("latest:all")}
		r := b.start(spec)
		got, err := r.RunNow(t.Context(), "latest", ana)
		if err != nil || got.Job != "1" || got.Applied != 1 || got.Text != "schedule latest ran: 1 job inserted" {
			t.Fatalf("run now: %+v, %v", got, err)
		}
		b.pass(time.Second)
		again, err := r.RunNow(t.Context(), "latest", ana)
		if err != nil || !again.Nothing || !strings.Contains(again.Text, "job 1 of an earlier run is still available") {
			t.Fatalf("run now while it runs: %+v, %v", again, err)
		}
		row := r.List()[0]
		if row.Last.By != ana || len(row.Skipped) != 1 || row.Next[0].Hour() != 13 || !row.Paused {
			t.Errorf("row: %+v", row)
		}
		if _, err := r.RunNow(t.Context(), "nightly", ana); !errors.Is(err, engine.ErrNotFound) || !strings.Contains(err.Error(), "use one of latest") {
			t.Errorf("unknown schedule: %v", err)
		}
	})
}

// A changed expression or zone holds from the start on, and makes up for nothing.
func TestSchedules_ChangedInTheConfiguration(t *testing.T) {
	in2026(t, func(b *bench) {
		b.start(hourly(All, 50))
		b.crash()
		b.pass(5 * time.Hour) // 17:10
		spec := hourly(All, 50)
		spec.Expr = "30 * * * *"
		b.start(spec)
		b.wantJobs()
		b.pass(20 * time.Minute)
		b.wantJobs("latest@2026-03-02T17:30:00Z")
	})
}

func TestNew_TellsEveryFault(t *testing.T) {
	_, err := New(Options{Specs: []Spec{
		{Name: "a", Expr: "bad", Fire: perTick()},
		{Name: "", Expr: "@daily", Fire: perTick()},
		{Name: "b", Expr: "@daily", Misfire: All, Fire: perTick()},
		{Name: "c", Expr: "@daily"},
		{Name: "d", Expr: "@daily", Zone: "Mars/Olympus", Fire: perTick()},
		{Name: "e", Expr: "@daily", Fire: perTick()},
		{Name: "e", Expr: "@daily", Fire: perTick()},
		{Name: "f", Expr: "@daily", Misfire: 9, Fire: perTick()},
	}})
	for _, want := range []string{"schedule a:", `"" is no name`, "at most 0 missed", "schedule c does nothing", "Mars/Olympus", "two schedules e", "schedule f has no misfire"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
}
