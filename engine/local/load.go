package local

// Load is how many jobs run now, and of how many at most.
func (b *Backend) Load() (running, workers int) { return b.Stats().InFlight, b.workers() }
