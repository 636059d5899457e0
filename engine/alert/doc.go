// Package alert watches what the engine does over rolling windows and says when a
// person should look. Its rules are data: what is measured, over how long, from
// which value on, and for how long that must hold before the alert fires, and must
// be over before it ends.
//
// A Monitor is fed with committed changes, closed attempts, calls and readings,
// and evaluated every few seconds; it starts nothing and waits for nothing. What
// it keeps is bounded and can be saved, so that a restart forgets no alert.
package alert
