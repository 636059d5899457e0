package ingest

import "github.com/farsight-console/farsight/engine"

// Meter is Pulse in the console's words.
func (l *Limits) Meter() engine.Meter {
	p := l.Pulse()
	return engine.Meter{CallsPerMin: p.PerMinute, Spark: p.Spark, P50: p.P50, Throttled: p.Throttled, Unforeseen: p.Unforeseen}
}
