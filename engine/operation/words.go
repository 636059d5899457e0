package operation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// would says that an operation is only tried: "would cancel".
func would(op engine.Op) string { return "would " + Of(op).Does }

// callsOf says how many calls there will be, and how long they take. The limits of a
// host are learnt with its first answer: before that nobody can say.
func callsOf(cost engine.Cost) string {
	text := cost.CallsText()
	if cost.Bucket == "" {
		return text + ", at limits that the first answer will tell"
	}
	if cost.Takes < time.Second {
		return text + ", for which there is room at once in " + cost.Bucket
	}
	return fmt.Sprintf("%s in %s, paced by %s", text, human.Span(cost.Takes), cost.Bucket)
}

// tell is a bulk receipt in one sentence.
func tell(did string, r engine.Receipt) string {
	if r.Matched == 0 {
		return "no job fits: nothing to do"
	}
	// "let run 3 of 4 jobs; left as they are: 1 is running"
	s := fmt.Sprintf("%s %s of %s", did, human.Count(int64(r.Applied)), human.Counted(r.Matched, "job", "jobs"))
	if len(r.Skipped) > 0 {
		s += "; left as they are: " + leftOut(r.Skipped)
	}
	return s
}

// leftOut says of how many jobs each reason holds.
func leftOut(skipped map[string]int) string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(skipped)) {
		parts = append(parts, human.Count(int64(skipped[why]))+" "+why)
	}
	return strings.Join(parts, ", ")
}

// bucketName is "europe" or "europe match-v5.match", as a line of the console asks for it.
func bucketName(b engine.Bucket) string {
	if b.Method == "" {
		return b.Host
	}
	return b.Host + " " + b.Method
}
