package uitest

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
)

// plan is what an engine would foresee of a scene: of its accounts' jobs those that its
// limits say are in line.
func plan(u engine.Update) *forecast.Plan {
	s := forecast.State{Now: u.Limits.At, Still: forecast.Still{}, Queues: u.Queues, Buckets: slices.Clone(u.Limits.Buckets)}
	for i := range s.Buckets { // all windows of a host have one line
		if b, last := &s.Buckets[i], s.Buckets[max(i-1, 0)]; b.Host == last.Host && b.Kind == last.Kind {
			s.Buckets[max(i-1, 0)].Waiting = max(b.Waiting, last.Waiting)
		}
	}
	s.Limits = func(host string) forecast.Limits { return limits{host, u.Limits.At, u.Limits.Buckets} }
	paced := "asia"
	if u.Engine != nil && u.Engine.Demo {
		paced = "europe"
	}
	for _, a := range u.Accounts {
		if a.Stand != "" {
			s.Still[a.ID] = a.ETA.Why
		}
	}
	for _, j := range u.Jobs {
		if j.State == engine.Retryable {
			s.Waiting = append(s.Waiting, forecast.Waiting{Job: j.Job, Host: paced, Method: forecast.MatchMethod, Held: held(j)})
		}
	}
	if u.Engine != nil && u.Engine.Demo { // whose jobs its limits know
		for _, a := range u.Accounts {
			if a.Status.Open() {
				s.Open = append(s.Open, a)
			}
		}
	}
	return forecast.New(s)
}

// held is what keeps a job from starting, as its row says.
func held(j engine.JobRow) engine.Held {
	if j.Stand == "" {
		return engine.Held{}
	}
	return engine.Held{Reason: j.Why, Until: j.Until, Ends: j.Ends, Stand: j.Stand}
}

// forecast is the plan of the scene, and what is planned of its open syncs with the calls
// that each of them made in the last minute.
func (f *Fake) forecast(q engine.ForecastQuery) engine.Forecast {
	if f.Scene.Update.Engine.Demo {
		return plan(f.Scene.Update).Answer(q.Ahead, demoPast())
	}
	out := plan(f.Scene.Update).Answer(q.Ahead, nil)
	p, past := plan(f.Scene.Update), map[string][]int{}
	for _, a := range f.Scene.Update.Accounts {
		if a.Status.Open() && a.Matches.Total >= 0 {
			p.Open = append(p.Open, a)
			past[a.ID] = []int{1, 2, 2, 2, 3, 2, 1, 2, 2, 2, 2, 2}
		}
	}
	out.Accounts = p.Answer(q.Ahead, past).Accounts
	return out
}

// Foresee notes with the jobs of a scene when they start, and with its engine why it is
// not faster.
func Foresee(u *engine.Update) {
	e := *u.Engine
	e.Pace = forecast.Pace(e, u.Queues, *u.Limits)
	if e.State != engine.EngineLive { // as the engine has it
		e.Why = e.Pace
	}
	u.Engine = &e
	starts := plan(*u).Starts()
	u.Jobs = append([]engine.JobRow(nil), u.Jobs...)
	for i := range u.Jobs {
		if start, ok := starts[u.Jobs[i].ID]; ok {
			u.Jobs[i].Starts, u.Jobs[i].LateBy = start.At, start.LateBy
		}
	}
}

// Beside is the calendar of a command's calls in a scene.
func Beside(u engine.Update, calls int, takes time.Duration) *engine.HostForecast {
	return plan(u).Beside("asia", calls, takes)
}

// limits are a host's application windows as their rows show them, which open and close all
// at once.
type limits struct {
	host string
	now  time.Time
	rows []engine.BucketRow
}

func (l limits) After(_ string, n int) (w forecast.Wait) {
	for _, b := range l.rows {
		if b.Host != l.host || b.Kind != "app" || b.Limit <= 0 || n <= 0 {
			continue
		}
		w.Known = true
		if rest := n - (b.Limit - b.Used); rest > 0 {
			if at := b.Reset.Sub(l.now) + time.Duration((rest-1)/b.Limit)*b.Window; at > w.Wait {
				w.Wait, w.Bucket = at, "app:"+b.Host+" "+strings.TrimSuffix(b.Window.String(), "m0s")
			}
		}
	}
	return w
}

func (l limits) Turn(method string, n int) forecast.Wait { return l.After(method, n) }

func (l limits) Rate(string) (perSecond float64, bucket string) {
	for _, b := range l.rows {
		if rate := float64(b.Limit) / b.Window.Seconds(); b.Host == l.host && b.Paces && b.Name != "" {
			return rate, b.Name
		}
	}
	return 0, ""
}
