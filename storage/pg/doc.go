// Package pg is what several processes have in common of a store, in a schema of a PostgreSQL: a log of
// commits, its rows as of some commit, and the payloads. Each process has a file of its own besides, which
// package storage keeps.
//
//	            Append                 Follow                Readable
//	who leads ─────────▶ fs_log ─────────────────▶ fs_row ────────────▶ fs_match, fs_seat, … ◀── views of SQL
//	                       │ After                   │ Rows
//	                       ▼                         ▼
//	             files of the others       a file that is far behind, or new
//
// Who leads is package fleet's to say: each write is within a term, whose end waits for it.
//
// What is asked while the server is away is asked again for half a minute; a commit until its term ends. One whose
// answer was lost is looked for by its number.
package pg
