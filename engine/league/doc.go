// Package league holds what storage and ingestion share about League of
// Legends: accounts, runs, matches, participants and payload references. It
// imports the standard library only.
//
// Its types are records: they carry rules that need nothing else, such as which move of a match's
// [Status] is legal, what a [Coverage] reaches and when a [Span] is over, and no others. Who may change
// a record, and in which transaction, is engine/ingest's to say. Text in them is as Riot gave it.
package league
