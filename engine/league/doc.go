// Package league holds what storage and ingestion share about League of
// Legends: accounts, runs, matches, participants and payload references. It
// imports the standard library only.
package league
