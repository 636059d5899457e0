// Package local is the job engine of one process: it keeps every job's state in
// a [Store], says when which job runs, runs the handlers, and answers why a job
// does not run.
//
// # One circle
//
// The store holds the truth. The index in memory is fed by committed changes
// only ([Backend.Apply]); nothing else moves a job in it. The dispatcher looks at
// the index, asks the [Admitter], and claims jobs in one write. A worker runs the
// handler and writes the outcome, with the claim of its next job in the same
// write: one commit per job when the engine is busy.
//
// # Lines
//
// Jobs that may run stand in lines, one per queue and lane. Within a line the
// priority decides, then who was sent back through no fault of its own, then
// owners take turns. Suspects stand last and run alone. A refused head closes its
// lane until the admitter's instant; other lanes and queues flow.
//
// # Fencing
//
// A claim bumps the job's revision, and every write of its worker checks it. A
// result that comes back after the job was rescued or claimed again is refused,
// counted and noted. A cancel asked for while the job runs also bumps the
// revision, once per claim; the worker's result is still taken, and ends the job
// as cancelled whatever it says.
//
// # Locks
//
// One mutex guards the index. It is never held while a store, an admitter or a
// handler is called, nor while anything waits.
package local
