package local

// hire lets a job that was to be claimed begin, if it was; else its worker's slot is
// given back.
func (b *Backend) hire(s *session, c claim) {
	if !b.accept(s, &c) {
		b.leave(c)
		return
	}
	// Before the launch, which may end at once: drain waits for the group.
	b.group.Add(1)
	if b.opt.Launcher.Launch(c.job, func() { b.work(s, c) }) {
		b.group.Done() // whoever carries it out may outlive this engine
		b.idx.sendAway(sent{c.id, c.lane, c.worker}, c.job.Rev)
		b.arrive()
	}
}

// leave gives a worker's slot and number back.
func (b *Backend) leave(c claim) {
	b.idx.dismiss(1)
	b.idx.vacate(c)
	b.wake.Ring()
}
