// Package ingest brings League of Legends data into the store: the handlers of
// the job kinds account.sync, match.fetch and timeline.fetch, of ranks and reports,
// and what schedules and operators ask of them.
//
// A sync is one job that goes through phases: it resolves the Riot ID, lists
// pages of match ids, creates one match.fetch per match it lacks, builds the
// play-time report when they are settled, and ends when the timelines are
// settled too:
//
//	resolve    Name#TAG -> PUUID                       one call, none while the answer is fresh
//	list       match ids, newest first, 100 a page     one call a page; the last page makes all
//	                                                   children in one transaction
//	matches    waits for group 1, the match.fetch      then builds the report
//	timelines  waits for group 2, the timeline.fetch   then ends the run
//
// Each attempt makes one call to Riot at most, but for a first listing that has no
// match of the account's platform: it is asked for there, too.
//
// Rules of the package:
//   - what a failed call means for its job is decided by engine/traffic alone;
//   - a payload is on disk before any state names it, and state, history,
//     counters and new jobs are one transaction;
//   - a function given to a transaction touches nothing but the transaction: it
//     may run twice.
package ingest
