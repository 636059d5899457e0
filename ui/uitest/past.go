package uitest

import (
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// remembered is how many seconds back the scripted engine knows.
const remembered = 300

// past answers questions about what was before.
func (f *Fake) past(q engine.Query) (engine.Answer, bool) {
	switch q := q.(type) {
	case engine.MomentsQuery:
		return engine.MomentsAnswer{Moments: f.moments(q)}, true
	case engine.FreshnessQuery:
		return f.freshness(), true
	case engine.MetricsQuery:
		return f.metrics(q), true
	case engine.WeeklyQuery:
		if r := f.week(q.Week); r != nil {
			return r, true
		}
	case engine.PlayQuery:
		play := f.play(q)
		if q.Draft {
			play.Draft = f.draft(q.Account)
		}
		return play, true
	case engine.MatchCellsQuery:
		return f.cells(q.Account), true
	}
	return nil, false
}

// moments are the scene's last minutes: n seconds back n calls fewer had been
// counted in each window, and n jobs more waited.
func (f *Fake) moments(q engine.MomentsQuery) []engine.Moment {
	u := f.Scene.Update
	if f.Scene.Past != nil {
		return f.Scene.Past
	}
	if u.Engine == nil || u.Limits == nil {
		return nil
	}
	out := make([]engine.Moment, 0, remembered)
	for back := remembered; back >= 1; back-- {
		at := Noon.Add(-time.Duration(back) * time.Second)
		if at.Before(q.From) || !q.To.IsZero() && at.After(q.To) {
			continue
		}
		m := engine.Moment{At: at, Engine: *u.Engine, Limits: engine.LimitsRow{At: at}}
		m.Engine.Stored = max(m.Engine.Stored-int64(back), 0)
		m.Engine.InFlight = back % 5
		m.Limits.Buckets, m.Queues = slices.Clone(u.Limits.Buckets), slices.Clone(u.Queues)
		for i := range m.Limits.Buckets {
			b := &m.Limits.Buckets[i]
			b.Used = max(b.Used-back, 0)
		}
		for i := range m.Queues {
			r := &m.Queues[i]
			if r.Counts = maps.Clone(r.Counts); r.Counts[engine.Available] > 0 {
				r.Counts[engine.Available] += back
			}
		}
		out = append(out, m)
	}
	return out
}

// freshness is of the tracked accounts: one of them is late. A scene without any has nothing to say.
func (f *Fake) freshness() engine.Freshness {
	n := 0
	for _, a := range f.Scene.Update.Accounts {
		if a.Tracked {
			n++
		}
	}
	if n == 0 {
		return engine.Freshness{}
	}
	return engine.Freshness{
		Accounts: n, Lates: 1, Text: "needs 120 of 3,000 calls per hour in europe",
		Regions: []engine.FreshnessHost{{Region: "europe", Needs: 120, Allowed: 3000, Bucket: "app:europe 100/120s"}},
		Late:    []engine.LateAccount{{ID: "a-quiet", RiotID: "Quiet Brook#EUNE", Cadence: 6 * time.Hour}},
	}
}

// firstWeek and lastWeek are the Mondays of the weeks that are stored.
var (
	firstWeek = time.Date(2025, 12, 15, 0, 0, 0, 0, Zone)
	lastWeek  = time.Date(2026, 1, 12, 0, 0, 0, 0, Zone)
)

// week is a stored week of the scene; nil = there is none.
func (f *Fake) week(monday string) *engine.WeeklyReport {
	at := lastWeek
	if monday != "" {
		var err error
		if at, err = time.ParseInLocation(time.DateOnly, monday, Zone); err != nil {
			return nil
		}
	}
	if at.Before(firstWeek) || at.After(lastWeek) || len(f.Scene.Update.Accounts) == 0 {
		return nil
	}
	// Each week before the last one is a little calmer.
	back := int(lastWeek.Sub(at)/(24*time.Hour)) / 7
	r := &engine.WeeklyReport{
		Week: at.Format(time.DateOnly), From: at, To: at.AddDate(0, 0, 7), Zone: "Asia/Seoul", Built: at.AddDate(0, 0, 7).Add(5 * time.Minute),
		Played: 41 - 6*back, Complete: 5,
	}
	play := playReport("")
	for d := range r.Minutes {
		for h := range r.Minutes[d] {
			r.Minutes[d][h] = max(0, play.Minutes[d][h]-float64(back*12))
			r.Games[d][h] = int(r.Minutes[d][h]) / 30
		}
	}
	for i, a := range f.Scene.Update.Accounts {
		w := engine.WeeklyAccount{ID: a.ID, RiotID: a.RiotID, Games: max(14-3*i-back, 0), Minutes: float64(max(410-88*i-back*30, 0)), Wins: max(8-2*i, 0)}
		w.ByQueue = map[int]int{420: w.Games * 2 / 3, 450: w.Games - w.Games*2/3}
		if a.Status == engine.SyncFailed {
			w.Missing = "its last sync failed"
		}
		r.Accounts = append(r.Accounts, w)
	}
	return r
}

// play are an account's last weeks, each calmer than the one after it.
func (f *Fake) play(q engine.PlayQuery) engine.Play {
	out := engine.Play{Account: q.Account, Zone: q.Zone, Games: 131, More: 4}
	for back := range q.Weeks {
		w := engine.PlayWeek{Week: lastWeek.AddDate(0, 0, 7-7*back).Format(time.DateOnly), Games: 21 - 4*back, Wins: 12 - 3*back}
		for d, hours := range playReport("").Minutes {
			for h, m := range hours {
				w.Minutes[d][h] = max(0, m*0.6-float64(back*8+(d*7+h*3+back)%5*4))
			}
		}
		out.Weeks = append(out.Weeks, w)
	}
	names := []string{"Ahri", "Orianna", "Syndra", "Lux", "Taliyah", "Anivia", "Kai'Sa", "Jhin", "Ezreal", "Xayah", "Nami", "Thresh", "Bard", "Rakan"}
	for i, name := range names {
		n := max(30-5*i, 2)
		out.Champions = append(out.Champions, engine.PlayShare{Name: name, Games: n, Wins: n * (7 - i%5) / 10, Minutes: float64(n * 29)})
	}
	return out
}

// metrics are a day with a busy evening, of which the engine has seen eighteen hours.
func (f *Fake) metrics(q engine.MetricsQuery) engine.Metrics {
	m := engine.Metrics{Since: Noon.Add(-time.Hour), Until: Noon}
	if f.Scene.Update.Engine == nil || f.Scene.Update.Engine.CallsPerMin == 0 {
		return m
	}
	m.Tries = []engine.TryCount{{Made: 662, Won: 602}, {Made: 61, Won: 56}, {Made: 5, Won: 4}, {Made: 1, Won: 1}}
	if !q.Traffic {
		return m
	}
	const spans = 36
	for i := range spans {
		n := max(900-60*abs(i-18), 0)
		m.Traffic = append(m.Traffic, engine.TrafficSpan{
			At: Noon.Truncate(engine.TrafficEvery).Add(time.Duration(i+1-spans) * engine.TrafficEvery), Calls: n, Throttled: n / 40, Stored: n * 3 / 4,
		})
	}
	return m
}
