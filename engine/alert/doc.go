// Package alert watches what the engine does over rolling windows and says when a
// person should look. Its rules are data: what is measured, over how long, from
// which value on, and for how long that must hold before the alert fires, and must
// be over before it ends.
//
// A Monitor is fed with committed changes, closed attempts, calls and readings,
// and evaluated every few seconds; it starts nothing and waits for nothing. What
// it keeps is bounded and can be saved, so that a restart forgets no alert.
//
// Begin to read with rules.go, the table, then evaluate.go and life.go:
//
//	ok ─ holds ─▶ pending ─ for long enough ─▶ firing ─ holds no more, for as long ─▶ ok
//	                 └─ holds no more ─▶ ok        └─ acknowledged, until it ends
//
// A silence lies over all of them and changes none. [Monitor] is pure but for its lock: it is given
// each instant and asks no clock, so that a day passes in a test at once. [Runner] is what an engine
// runs: it feeds a Monitor, evaluates it, stores it and tells what began and what ended. engine/pager
// turns that into calls and messages.
package alert
