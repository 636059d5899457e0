// Package storage keeps everything that must survive in one data directory: state.db for all that
// is small, one file per month for payloads, and a lock that says who is at work. Both kinds of
// files are bbolt. Several processes may share a store: then each has a state.db, and they have a
// log of commits and the payloads in common (shared.go).
//
// Rules:
//   - One goroutine, inside Serve, writes state.db (internal/commit). It commits what is queued as
//     one group, publishes the group's changes and only then answers the callers: nothing is
//     announced that is not on disk.
//   - A payload is committed to its shard before the state that names it. A payload without state
//     is adopted later.
//   - Every value carries a checksum that is verified at each read. A bad one is *ErrCorrupt and
//     nothing worse.
//   - Index rows follow from the table that declares them (collection.Records): they are written,
//     removed and checked with the rows that they lead to, in the same transaction.
//   - A file that takes the place of another is written beside it, proved, and then renamed:
//     backup, restore, compaction, archive. What a crash leaves half made is taken up or thrown
//     away by the next try.
//   - A damaged file is refused before bbolt maps it, and never changed, renamed or deleted; one
//     of a shared store is made again.
//   - What keeps files (backup, restore, compaction, reset) is package keep; what keeps rows
//     (check.go, prune.go, forget.go) goes through tables by one walk (scan.go).
//   - Times are wall-clock milliseconds in UTC; numbers in keys are big-endian (package key).
package storage
