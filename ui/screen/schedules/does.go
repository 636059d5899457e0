package schedules

// whatItDoes says what the schedules of the engine do, by name.
// A schedule that is not listed, of a newer engine, has no such line.
var whatItDoes = map[string]string{
	"latest":        "fetches new matches of tracked accounts, by their own cadence if any",
	"rank.daily":    "asks for the rank of every tracked account and keeps it by day",
	"report.weekly": "makes the report of last week from stored matches; it calls nobody",
	"sweep":         "gives a job to failed matches that no job tries any more",
	"prune":         "deletes jobs that ended longer ago than jobs are kept",
	"compact":       "packs the payloads of months that have closed",
}
