package both

import "time"

// Boot is one opening of a store by an engine.
type Boot struct {
	ID     string // random, so that no other process, host or restart ever has it
	Opened time.Time
	// Clean tells whether the opening before this one was closed in order; true for a new store. Last
	// is when that was, or the zero time.
	Clean bool
	Last  time.Time
	New   bool // the store was made just now
	// Restored is when a backup was last put back; the zero time when never. What was fetched between
	// the backup and then is not in the state, but its payloads are: a job that was created before
	// looks for them (FindPayload).
	Restored time.Time
}

// StoreFacts are what a store says of itself.
type StoreFacts struct {
	Schema   int       `json:"schema"`
	Known    int       `json:"schema_known"` // the newest that this program knows
	Instance string    `json:"instance"`
	Created  time.Time `json:"created,omitzero"`
	Opened   time.Time `json:"opened,omitzero"`   // by an engine, last
	Closed   time.Time `json:"closed,omitzero"`   // in order, that time; zero = it was not
	Restored time.Time `json:"restored,omitzero"` // when a backup was last put back
}

// Sizes are how large a store is, in bytes.
type Sizes struct {
	State    int64
	Payloads int64
	Shards   int    // payload files
	Free     uint64 // on the disk
}

// Forecast says how the disk fills.
type Forecast struct {
	Used   int64         // bytes in use in state.db and all payload files
	Free   uint64        // bytes on the disk
	PerDay int64         // growth, over the span that was seen; less than 0 after a compaction
	Over   time.Duration // that span; 0 = too short to tell
	Full   time.Time     // when less than 512 MiB will be free; the zero time when not in sight
}
