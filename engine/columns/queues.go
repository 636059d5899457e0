package columns

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
)

type queue = engine.QueueRow

// Queues is what a command tells of a queue: its screen draws the stages of its jobs.
//
//	QUEUE                 WAIT   RUN  RETRY  HELD  STATE  WHY
//	ingest.summoner.full  1,204  12   3      0     open   app:europe 97/100, 41 s
var Queues = catalogue(filter.Options{Free: []string{"queue", "state", "why"}},
	name("queue", "", func(r *queue) engine.Queue { return r.Name }),
	inState("wait", "jobs that may run now", engine.Available),
	inState("run", "jobs that run", engine.Running),
	inState("retry", "jobs that wait for their next try", engine.Retryable),
	inState("scheduled", "jobs that may not run yet", engine.Scheduled),
	inState("pending", "jobs that wait for others", engine.Pending),
	inState("discarded", "jobs that gave up", engine.Discarded),
	number("held", "jobs sent back uncharged", func(r *queue) int { return r.Held }),
	name("state", "open, paused, or what keeps its work back", queueState),
	prose("why", "why its head does not start", func(r *queue) string { return r.Why }).
		printsAt(func(r *queue, now time.Time) string { return engine.WhyUntil(r.Why, r.Until, now) }),
	age("oldest", "how long its oldest job has been due", func(r *queue) time.Time { return r.OldestDue }),
)

// QueueLines are the columns that a command prints unless it is asked for others.
var QueueLines = Queues.Pick("queue wait run retry held state why")

// inState counts a queue's jobs in a state.
func inState(is, help string, s engine.State) *declaration[queue] {
	return number(is, help, func(r *queue) int { return r.Counts[s] })
}

// queueState is one word, or who paused the queue: a pause goes before whatever else holds its jobs.
func queueState(r *queue) string {
	switch {
	case r.Paused:
		return "PAUSED by " + r.By.User
	case r.Stand != "":
		return string(r.Stand)
	}
	return "open"
}
