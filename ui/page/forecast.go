package page

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// forecast is what the engine says of the calls to come.
type forecast struct {
	Answer
	version uint64 // of the rows when it was asked for
	plan    engine.Forecast
}

// foreseeEvery is how long a forecast holds: the charts move by a cell of two seconds and
// more.
const foreseeEvery = 2 * time.Second

// want is the question when it is due. It is of instants: as long as nothing has moved the
// last answer holds.
func (f *forecast) want(v *View, ahead time.Duration) engine.Query {
	age := v.Now.Sub(f.Answer.At)
	switch {
	case f.Pending, !v.Ready, v.Frozen && f.Have, v.Engine.State == engine.EngineBrowse:
		return nil
	case f.Have && age >= 0 && age < v.unhurried(foreseeEvery):
		return nil
	case f.Have && f.version == v.Version && v.Acts == f.acts:
		return nil
	}
	f.Pending, f.Answer.At, f.version, f.acts = true, v.Now, v.Version, v.Acts
	return engine.ForecastQuery{Ahead: ahead}
}

// got takes the answer; false when it is another question's.
func (f *forecast) got(v *View, q engine.Query, a engine.Answer, err error) bool {
	return Receive[engine.ForecastQuery](&f.Answer, v, q, a, err, &f.plan)
}

// busiest is the host with the most calls to come; nil when nothing is foreseen of any, or
// only of another time than the view's.
func (f *forecast) busiest(v *View) (most *engine.HostForecast) {
	if age := v.Now.Sub(f.plan.At); age < -foreseeEvery || v.Frozen && age > time.Minute {
		return nil
	}
	for i := range f.plan.Hosts {
		if h := &f.plan.Hosts[i]; most == nil || h.Line+h.Retries > most.Line+most.Retries {
			most = h
		}
	}
	return most
}

// farAhead is how far ahead windows are asked for: as far as the longest axis shows.
const farAhead = 10 * time.Minute
