// Package fleet lets several processes work on one schema of PostgreSQL: each is a member that
// others see, and one of them leads.
//
// # Terms
//
// A leader leads for a term, which has a number, the epoch. It renews the term three times in the
// time that it lasts, and steps down by its own stopwatch when it cannot. What it writes
// is written within the term or not at all: each of its commits holds the fleet's row, and an election, which changes
// the row, waits for them.
//
// A member takes over when the term has ended by the database's clock, or when a stopwatch of its
// own has seen no renewal for twice as long: so it matters neither what the clocks of the members
// show nor whether the database's was set.
package fleet
