package local

import "github.com/farsight-console/farsight/engine"

// Launcher carries claimed jobs to where their handlers run. Without one they run here,
// each on a goroutine of its own; one that hands them to other processes writes them
// down with the claim, and has run called by whoever takes them up.
type Launcher interface {
	// Claimed is called in the transaction that claims a job: what it writes stands
	// exactly when the claim does. Like the transaction it may run again.
	Claimed(tx engine.Tx, j engine.Job) error
	// Launch is called when the claim is on disk, and must not block. run is the attempt:
	// it is to be called once, and takes as long as the handler does.
	Launch(j engine.Job, run func())
}

// inProcess is the launcher of an engine that is one process.
type inProcess struct{}

func (inProcess) Claimed(engine.Tx, engine.Job) error { return nil }
func (inProcess) Launch(_ engine.Job, run func())     { go run() }

// hire lets a job that was to be claimed begin, if it was; else its worker's slot is
// given back.
func (b *Backend) hire(s *session, c claim) {
	if !b.accept(s, &c) {
		b.leave(c)
		return
	}
	b.group.Add(1)
	b.launcher.Launch(c.job, func() { b.work(s, c) })
}

// leave gives a worker's slot and number back.
func (b *Backend) leave(c claim) {
	b.idx.dismiss(1)
	b.idx.vacate(c)
	b.wake.Ring()
}
