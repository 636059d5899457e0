// Package ingest brings League of Legends data into the store: the handlers of
// the job kinds account.sync, match.fetch and timeline.fetch, and the limiter as
// the engine's backend sees it.
//
// A sync is one job that goes through phases: it resolves the Riot ID, lists
// pages of match ids, creates one match.fetch per match it lacks, builds the
// play-time report when they are settled, and ends when the timelines are
// settled too. Each attempt makes at most one call to Riot.
//
// Rules of the package:
//   - what a failed call means for its job is decided in outcome.go alone;
//   - a payload is on disk before any state names it, and state, history,
//     counters and new jobs are one transaction;
//   - a function given to a transaction touches nothing but the transaction: it
//     may run twice.
package ingest
