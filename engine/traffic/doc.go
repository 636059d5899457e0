// Package traffic is the way to Riot: it admits jobs before they are claimed, makes their
// calls, stops work that would fail for a reason that is not its own, records each call,
// and keeps what the limiter counts over a restart.
//
//	job ─▶ Limits.Admit ─▶ (claim) ─▶ Caller.Call ─▶ riot ─▶ Limits.OnCall
//	         │  gate: key, network, breaker per lane        │
//	         └─ limiter: buckets                            └─ recorder, forensics, log
//
// What a failed call means for its job is decided by the table in outcome.go and nowhere
// else. A handler sees one method of all this, Caller.Call.
//
// One mutex guards the gate, one the recorder; neither is held while a call is made, a
// store is asked, or anybody waits.
//
// Begin to read with caller.go, the way of one call, and gate.go, what stops them. The types:
//
//   - [Limits] is a backend's Admitter and the console's view of limits and calls;
//   - [Caller] is what handlers see, and an attempt is one call of theirs on its way;
//   - gate holds a fuse for the key, one for the network and a breaker per [Lane];
//   - recorder keeps the last calls, cases the 429s that were looked into.
//
// A call that is held back costs its job no attempt. What a fuse holds is tried by one job at a time.
package traffic
