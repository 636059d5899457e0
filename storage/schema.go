package storage

// Every value of state.db is framed by internal/rec (format byte, body, CRC-32C over table, key and value). Keys are built by
// package key: u64 = eight big-endian bytes, time = UTC milliseconds, desc = latest first, str = escaped and terminated. A job
// id on disk is the u64 of its sequence. A marker is an empty body. Each table is declared once, beside what stores its rows;
// testdata/schema.txt lists them all.
//
// The tables of a payload shard, payload/2026-11.db:
//
//	meta             name                                    schema version, month, instance, archived, erased
//	p                match id -> nested table                keys m and t: payload_frame.go
//	dict             u32 number                              part and dictionary; archived shards only
//
// Versions: the first schema is 1, each migration (migrations.go) leads to the next, so that what this program writes is
// newestSchema. A shard counts for itself: an archived one is of version 2, so that a Farsight that cannot read it says so;
// its formats stay readable, and no shard needs a migration.
const (
	firstSchema = 1

	shardArrived  = 1
	shardArchived = 2
)

var (
	tMeta     = newTable("meta", "name", "schema version, instance, created, run (boot, opened, closed)")
	tCounters = newTable("counters", "name", "a number that a recount of rows must equal")
)

// Formats of records that are not of one table alone.
const (
	fMarker byte = 1
	fNumber byte = 2
	fText   byte = 3
	fBlob   byte = 4
	fBoot   byte = 5
	fTime   byte = 25
)

// Formats of what the store keeps about itself, numbered apart from the others.
const (
	fDictionary byte = 128 + iota // in shards
	fPlace
	fSizes
)
