// Package cron fires recurring schedules: the hourly latest, the daily ranks, the
// weekly report. Each tick has an id, made of the schedule's name and the planned
// instant, which is recorded in the transaction that inserts the tick's jobs and
// moves the schedule on. So a tick fires at most once, whatever crashes, however
// many engines share a store and wherever the wall clock is moved to.
//
// Local time follows two rules. A schedule whose hours are a wildcard runs in real
// time: every quarter of an hour stays a quarter of an hour when the clocks
// change. One with fixed hours runs by the local clock: a tick is due at the first
// minute at which the clock shows its time or a later one. Hence one that falls
// into a skipped hour runs at the next valid minute, one in a doubled hour runs
// in the first pass only, and each runs once.
//
// Begin to read with decide.go, which step a schedule needs at an instant, then runner.go, which takes
// it. next.go finds the next tick of a plan in its zone; fields.go knows local times alone. A [Spec]
// comes from the program, a [State] from the store; an operator's edit stands in the state and wins
// over the spec. robfig/cron reads expressions, and no more: its own next tick knows neither of the two
// rules.
package cron
