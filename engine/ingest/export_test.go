package ingest

// What tests outside of the package hold to the numbers of the rules.
var (
	CallsOf   = callsOf
	DrainTime = drainTime
)
