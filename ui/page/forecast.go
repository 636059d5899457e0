package page

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Forecast is what the engine says of the calls to come.
type Forecast struct {
	Answer
	version uint64 // of the rows when it was asked for
	Plan    engine.Forecast
}

// foreseeEvery is how long a forecast holds: the charts move by a cell of two seconds and
// more.
const foreseeEvery = 2 * time.Second

// Want is the question when it is due. It is of instants: as long as nothing has moved the
// last answer holds.
func (f *Forecast) Want(v *View, ahead time.Duration) engine.Query {
	age := v.Now.Sub(f.Answer.At)
	switch {
	case f.Pending, !v.Ready, v.Frozen && f.Have, v.Engine.State == engine.EngineBrowse:
		return nil
	case f.Have && age >= 0 && age < v.Unhurried(foreseeEvery):
		return nil
	case f.Have && f.version == v.Version && v.Acts == f.Acts:
		return nil
	}
	f.Pending, f.Answer.At, f.version, f.Acts = true, v.Now, v.Version, v.Acts
	return engine.ForecastQuery{Ahead: ahead}
}

// Got takes the answer; false when it is another question's.
func (f *Forecast) Got(v *View, q engine.Query, a engine.Answer, err error) bool {
	return Receive[engine.ForecastQuery](&f.Answer, v, q, a, err, &f.Plan)
}

// Busiest is the host with the most calls to come; nil when nothing is foreseen of any, or
// only of another time than the view's.
func (f *Forecast) Busiest(v *View) (most *engine.HostForecast) {
	if age := v.Now.Sub(f.Plan.At); age < -foreseeEvery || v.Frozen && age > time.Minute {
		return nil
	}
	for i := range f.Plan.Hosts {
		if h := &f.Plan.Hosts[i]; most == nil || h.Line+h.Retries > most.Line+most.Retries {
			most = h
		}
	}
	return most
}

// FarAhead is how far ahead windows are asked for: as far as the longest axis shows.
const FarAhead = 10 * time.Minute
