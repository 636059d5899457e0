package uitest

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// PatchDay is the demo while one call in eleven fails: twelve jobs are tried again, and for
// some of them there is no room at their instant.
func PatchDay() Scene {
	s := Demo()
	s.Name = "patchday"
	jobs := patchJobs()
	for _, j := range s.Jobs {
		if j.State != engine.Retryable {
			jobs = append(jobs, j)
		}
	}
	s.Jobs, s.Update.Jobs = jobs, shownJobs(jobs)
	s.Classes = classesOf(jobs)
	starts := map[engine.JobID]engine.JobRow{}
	for _, j := range jobs {
		starts[j.ID] = j
	}
	Foresee(&s.Update)
	for i := range s.Update.Jobs { // as the picture has it
		j := &s.Update.Jobs[i]
		j.Starts, j.LateBy = starts[j.ID].Starts, starts[j.ID].LateBy
	}
	s.Details = map[engine.JobID]engine.JobDetail{"p0": patchDetail(jobs[0]), "p11": patchDetail(jobs[11])}
	return s
}

// patchPolicy is the table of the demo, in which time runs faster.
func patchPolicy() engine.Policy {
	return engine.NewPolicy(engine.PolicyMatch, 5, 3*time.Second, 6*time.Second, 12*time.Second, 30*time.Second)
}

func patchJobs() (rows []engine.JobRow) {
	policies := engine.Policies{engine.PolicyMatch: patchPolicy()}
	for i, r := range []struct {
		id     int
		failed []int // seconds ago
		err    string
		due    int
		late   int
	}{
		{6724652470, []int{1}, "503: Service unavailable", 2, 8}, {6723121389, []int{1}, "500: Internal server error", 2, 8}, {6721402982, []int{0}, "503: Service unavailable", 3, 7},
		{6720514612, []int{0}, "503: Service unavailable", 3, 7}, {6719178754, []int{0}, "503: Service unavailable", 3, 7}, {6768024493, []int{5, 2}, "500: Internal server error", 4, 6},
		{6760899766, []int{4, 1}, "503: Service unavailable", 5, 5}, {6754386412, []int{14, 0}, "no answer within 10 s", 6, 4}, {6739697852, []int{22, 17, 3}, "503: Service unavailable", 9, 1},
		{6741413933, []int{12, 8, 1}, "503: Service unavailable", 11, 0}, {6743833968, []int{25, 21, 14, 8}, "the body ended early", 22, 0}, {6745148821, []int{27, 23, 16, 1}, "503: Service unavailable", 29, 0},
	} {
		kind := "match"
		if i == 4 || i == 7 {
			kind = "timeline"
		}
		j := job(fmt.Sprintf("p%d", i), fmt.Sprintf("%s:EUW1_%d", kind, r.id), engine.Retryable)
		j.Kind, j.Owner = engine.Kind(kind+".fetch"), "d-heron"
		j.Tries, j.Attempts, j.Class, j.LastError, j.Due = len(r.failed), len(r.failed), "5xx", "riot: europe match-v5.match: status "+r.err, Noon.Add(time.Duration(r.due)*time.Second)
		switch i {
		case 7:
			j.Class, j.LastError = "timeout", "riot: europe match-v5.timeline: "+r.err
		case 10:
			j.Class, j.LastError = "bad_payload", "riot: europe match-v5.match: "+r.err
		}
		j.Created = Noon.Add(-time.Duration(r.failed[0]+41) * time.Second)
		for _, ago := range r.failed {
			j.Failed = append(j.Failed, at(time.Duration(ago)*time.Second))
		}
		j.Started = j.Failed[len(j.Failed)-1].Add(-180 * time.Millisecond)
		if r.late > 0 {
			j.LateBy, j.Starts = "app:europe 100/12s", j.Due.Add(time.Duration(r.late)*time.Second)
		}
		rows = append(rows, policies.Row(j))
	}
	return rows
}

// patchDetail is what became of each of a job's tries.
func patchDetail(j engine.JobRow) engine.JobDetail {
	d := engine.JobDetail{Job: j, Account: "Night Heron#DEMO", MaxAttempts: j.MaxAttempts, Policy: patchPolicy(), ShouldRetry: true, NextRetryAt: j.Due, Parents: []engine.JobID{"s-heron"}}
	d.History = []engine.Transition{{At: j.Created, To: "available", Actor: "s-heron"}}
	for i, failed := range j.Failed {
		a := engine.Attempt{
			Number: i + 1, Round: 1, Try: i + 1, Start: failed.Add(-180 * time.Millisecond), End: failed, Verb: engine.VerbRetry, Class: "5xx", Err: j.LastError, Status: 503,
			Queued: 2 * time.Second, Paced: 20 * time.Millisecond, Limiter: 100 * time.Millisecond, HTTP: 60 * time.Millisecond, Next: j.Due, Worker: 3,
			Decision: fmt.Sprintf("policy match step %d: %.0f s", i+1, patchPolicy().Delays[i].Seconds()), External: fmt.Sprintf("0a1b2c3%d", i),
		}
		if i == 0 {
			a.Queued = 41 * time.Second
		}
		if i+1 < len(j.Failed) {
			a.Next = a.End.Add(patchPolicy().Delays[i])
		}
		d.Attempts = append(d.Attempts, a)
		d.History = append(d.History, engine.Transition{At: a.Start, From: "available", To: "running"}, engine.Transition{At: a.End, From: "running", To: "retryable", Reason: j.LastError})
	}
	d.Call = &engine.CallRow{
		Seq: 300, At: j.Failed[len(j.Failed)-1], Host: "europe", Method: "match-v5.match", Target: j.Key[len("match:"):], Job: j.ID, Status: 503, Class: "5xx", Took: 60 * time.Millisecond,
		Paced: 120 * time.Millisecond, PacedBy: "app:europe 100/12s", App: "7:1,82:12", MethodUsed: "41:10",
		Headers: []string{"Content-Type: application/json;charset=utf-8", "X-App-Rate-Limit-Count: 7:1,82:12", "X-Riot-Edge-Trace-Id: 0a1b2c30"},
		Body:    `{"status":{"message":"Service unavailable","status_code":503}}`,
	}
	return d
}
