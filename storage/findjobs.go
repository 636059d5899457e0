package storage

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/key"
)

// Jobs lists live jobs (q.Ended, or ended ones among q.States: ended ones too), newest first; with
// q.Oldest live ones alone, the other way round. total counts the live jobs that fit, for the first
// page; -1 when they are too many to count.
//
// A page looks at [maxScan] rows of a table at most, so that a filter nothing fits cannot read a
// store of millions in one question: it may come back short, or empty with a next. The caller asks
// on until next is "".
func (db *DB) Jobs(ctx context.Context, q engine.JobsQuery) (jobs []engine.Job, next string, total int, err error) {
	// q.After is the last job of the page before.
	var before []byte
	if q.After != "" {
		if before, err = jobKey(engine.JobID(q.After)); err != nil {
			return nil, "", 0, badPage(q.After)
		}
	}
	err = db.view(ctx, func(t *txn) error {
		limit := q.Rows()
		total = -1
		if q.After == "" {
			total = t.countJobs(q)
		}
		if q.Oldest {
			jobs, next = t.liveFrom(q, before, limit)
			return nil
		}
		jobs, next = mergeJobs(t.scanLive(q, before, limit), t.scanEnded(q, before, limit), limit)
		return nil
	})
	return jobs, next, total, err
}

// jobScan is what one look at a table found, newest first. Below stop (0 = nothing left) it did not
// look.
type jobScan struct {
	jobs []engine.Job
	stop uint64
}

// fits is the filter of a query on one job. Text looks in keys alone, in any case of letters: 7214
// finds match:KR_7214550881.
func fits(q engine.JobsQuery, j engine.Job) bool {
	return (len(q.States) == 0 || slices.Contains(q.States, j.State)) &&
		(q.Queue == "" || q.Queue == j.Queue) &&
		(q.Kind == "" || q.Kind == j.Kind) &&
		(q.Owner == "" || q.Owner == j.Owner) &&
		(q.Text == "" || strings.Contains(strings.ToLower(j.Key), strings.ToLower(q.Text)))
}

// scanBack makes the scan of a table whose keys end with a job's number. job reads what a row leads
// to, if it fits. One more than the page is looked for, which tells whether there is a next one.
func scanBack(rows iter.Seq[collection.Row], limit int, job func(r collection.Row) (engine.Job, bool)) (s jobScan) {
	looked := 0
	for r := range rows {
		if looked++; looked > maxScan || len(s.jobs) > limit {
			s.stop = key.Read(r.Key[len(r.Key)-8:]).Uint64() + 1
			return s
		}
		if j, ok := job(r); ok {
			s.jobs = append(s.jobs, j)
		}
	}
	return s
}

// scanLive looks at live jobs, from the one before a key (nil = from the newest) back. A query for
// ended states alone has none.
func (t *txn) scanLive(q engine.JobsQuery, before []byte, limit int) jobScan {
	if len(q.States) > 0 && !slices.ContainsFunc(q.States, engine.State.Live) {
		return jobScan{}
	}
	return scanBack(t.RowsBack(tJobState.Table, nil, before), limit, func(r collection.Row) (engine.Job, bool) {
		return t.fittingLive(q, r)
	})
}

// liveFrom lists live jobs after one, the oldest first.
// It is for whoever goes through all of them while others are added: those come at the end.
func (t *txn) liveFrom(q engine.JobsQuery, after []byte, limit int) (jobs []engine.Job, next string) {
	looked, last := 0, ""
	for r := range t.RowsFrom(tJobState.Table, nil, after) {
		if after != nil && bytes.Equal(r.Key, after) {
			continue
		}
		if looked++; looked > maxScan || len(jobs) == limit {
			return jobs, last
		}
		last = string(jobID(key.Read(r.Key).Uint64()))
		if j, ok := t.fittingLive(q, r); ok {
			jobs = append(jobs, j)
		}
	}
	return jobs, ""
}

// movedJobs is how many jobs Reprioritize moves in one transaction.
const movedJobs = 500

// Reprioritize gives waiting jobs of a queue another priority, but those of one kind: some behind a job; next is where
// to go on, "" = at the end. What runs has had its turn.
func (db *DB) Reprioritize(tx engine.Tx, q engine.Queue, but engine.Kind, p engine.Priority, after string) (next string, err error) {
	var from []byte
	if after != "" {
		if from, err = jobKey(engine.JobID(after)); err != nil {
			return "", err
		}
	}
	jobs, next := own(tx).liveFrom(engine.JobsQuery{Queue: q}, from, movedJobs)
	for _, j := range jobs {
		if j.Priority == p || j.Kind == but || j.State == engine.Running {
			continue
		}
		j.Rev++
		j.Priority = p
		if err := own(tx).saveJob(j); err != nil {
			return "", err
		}
	}
	return next, nil
}

// fittingLive reads a live job if it fits, and no more of it than it takes to see that. One that
// cannot be read does not fit; check names it.
func (t *txn) fittingLive(q engine.JobsQuery, r collection.Row) (engine.Job, bool) {
	j, err := tJobState.Decode(r.Key, r.Value)
	if err != nil || len(q.States) > 0 && !slices.Contains(q.States, j.State) {
		return j, false
	}
	ok, err := t.readRest(r.Key, &j)
	return j, ok && err == nil && fits(q, j)
}

// scanEnded looks at the archive, if ended jobs are asked for at all: by the index of states where
// each of the states asked for has one, else row by row. Nearly all of the archive is completed
// jobs, and whoever looks for a failed one must not read them.
func (t *txn) scanEnded(q engine.JobsQuery, before []byte, limit int) jobScan {
	terminal := slices.ContainsFunc(q.States, engine.State.Terminal)
	if !terminal && (!q.Ended || len(q.States) > 0) {
		return jobScan{}
	}
	if terminal && !slices.ContainsFunc(q.States, func(s engine.State) bool { return s.Terminal() && !listed(s) }) {
		return t.scanListed(q, before, limit)
	}
	return scanBack(t.RowsBack(tArchive.Table, nil, before), limit, func(r collection.Row) (engine.Job, bool) {
		j, err := tArchive.Decode(r.Key, r.Value)
		return j, err == nil && fits(q, j)
	})
}

// scanListed looks at discarded and cancelled jobs only, by their index.
func (t *txn) scanListed(q engine.JobsQuery, before []byte, limit int) (s jobScan) {
	// A question may be of both states. Each has its rows in a range of keys of its own.
	for _, state := range q.States {
		if !listed(state) {
			continue
		}
		var from []byte
		if before != nil {
			// Its rows begin with the state: the place to go on from is another one in each.
			from = stateKey(state, before)
		}
		rows := t.RowsBack(archiveState.Table, []byte{byte(state)}, from)
		one := scanBack(rows, limit, func(r collection.Row) (engine.Job, bool) {
			j, ok, err := tArchive.Get(t, r.Key[1:])
			return j, err == nil && ok && fits(q, j)
		})
		s = jobScan{jobs: newestFirst(append(s.jobs, one.jobs...)), stop: max(s.stop, one.stop)}
	}
	return s
}

// newestFirst sorts by the id, as which later jobs have greater texts: see [key.JobID].
func newestFirst(jobs []engine.Job) []engine.Job {
	slices.SortFunc(jobs, func(a, b engine.Job) int { return strings.Compare(string(b.ID), string(a.ID)) })
	return jobs
}

// mergeJobs makes one page of two looks. Nothing older than where either look stopped is in it, so
// that the next page can go on there without a gap.
func mergeJobs(a, b jobScan, limit int) (jobs []engine.Job, next string) {
	stop := max(a.stop, b.stop)
	// Live and ended jobs are in two tables; by their numbers they are one list.
	for _, j := range newestFirst(append(a.jobs, b.jobs...)) {
		if mustNumber(j.ID) < stop {
			break
		}
		if len(jobs) == limit {
			return jobs, string(jobs[limit-1].ID)
		}
		jobs = append(jobs, j)
	}
	if stop > 0 {
		return jobs, string(jobID(stop))
	}
	return jobs, ""
}

// countJobs counts the live jobs that fit; -1 when there are too many to look at.
// Ended jobs are not counted: their number is a counter of its own, and with a filter nobody
// waits for it.
func (t *txn) countJobs(q engine.JobsQuery) (n int) {
	looked := 0
	for r := range t.Rows(tJobState.Table, nil) {
		if looked++; looked > maxScan {
			return -1
		}
		if t.counts(q, r) {
			n++
		}
	}
	return n
}

// counts reports whether a live job fits, without reading its spec if only states are asked for.
func (t *txn) counts(q engine.JobsQuery, r collection.Row) bool {
	// A state record has 15 to 50 bytes where a spec has hundreds.
	if q.Queue == "" && q.Kind == "" && q.Owner == "" && q.Text == "" {
		j, err := tJobState.Decode(r.Key, r.Value)
		return err == nil && (len(q.States) == 0 || slices.Contains(q.States, j.State))
	}
	_, ok := t.fittingLive(q, r)
	return ok
}

// Detail gives what is stored about one job: its attempts (the running one last, without an end),
// holds, groups, parents and history. By key: the live job that holds it, else the latest that had
// it. engine.ErrNotFound.
//
// All of it is of one transaction: an attempt that ends meanwhile is in it with its end and with
// the state that it led to, or with neither.
func (db *DB) Detail(ctx context.Context, q engine.JobQuery) (d engine.JobDetail, err error) {
	err = db.view(ctx, func(t *txn) error {
		j, err := t.findJob(q)
		if err != nil {
			return err
		}
		k, err := jobKey(j.ID)
		if err != nil {
			return err
		}
		d.Job.Job = j
		// Attempts that cannot be read are left out: the rest of a job is still worth seeing.
		d.Attempts, d.Holds = t.attempts(k)
		if j.State == engine.Running {
			d.Attempts = append(d.Attempts, engine.Attempt{Number: j.Attempts, Round: j.Round, Try: j.Tries, Phase: j.Phase,
				Rev: j.Rev, Start: j.Started, Worker: j.Worker})
		}
		d.ShouldRetry, d.NextRetryAt = j.ShouldRetry(), j.NextRetryAt()
		if d.Groups, err = t.groups(j.ID); err != nil {
			return err
		}
		for _, g := range t.groupsOf(mustNumber(j.ID)) {
			d.Parents = append(d.Parents, jobID(key.Read(g[:8]).Uint64()))
		}
		d.History, err = t.history(string(j.ID))
		return err
	})
	return d, err
}

// findJob finds a job by a call's SID, by its id, or by its key, of which a live job comes before
// those that have ended.
func (t *txn) findJob(q engine.JobQuery) (engine.Job, error) {
	if q.External != "" {
		return t.jobOfExternal(q.External)
	}
	if q.ID != "" || q.Key == "" {
		return t.job(q.ID)
	}
	// A key has one live job at most, and of those that have ended the latest is what is asked for.
	for _, tb := range []*collection.Table{tJobKey, tArchiveKey} {
		n, ok, err := t.Number(tb, []byte(q.Key))
		if err != nil {
			return engine.Job{}, err
		}
		if ok {
			return t.job(jobID(n))
		}
	}
	return engine.Job{}, fmt.Errorf("job with key %q: %w", q.Key, engine.ErrNotFound)
}

// JobLog lists ended jobs, the newest first by their number (S4-10).
func (db *DB) JobLog(ctx context.Context, q engine.JobLogQuery) (page engine.JobLogPage, err error) {
	ended := engine.JobsQuery{
		Page: q.Page, Kind: q.Kind, Queue: q.Queue,
		States: []engine.State{engine.Completed, engine.Cancelled, engine.Discarded},
	}
	var before []byte
	if q.After != "" {
		if before, err = jobKey(engine.JobID(q.After)); err != nil {
			return page, badPage(q.After)
		}
	}
	// A page may come back short with a next: see maxScan. Attempts that cannot be read are left
	// out of a job's retries, which are then too few; check names them.
	err = db.view(ctx, func(t *txn) error {
		limit := q.Rows()
		var jobs []engine.Job
		jobs, page.Next = mergeJobs(jobScan{}, t.scanEnded(ended, before, limit), limit)
		for _, j := range jobs {
			attempts, _ := t.attempts(key.Uint64(mustNumber(j.ID)))
			page.Jobs = append(page.Jobs, jobLog(j, attempts))
		}
		return nil
	})
	return page, err
}

// jobLog is an ended job's line in the log of jobs. Retries are counted from its attempts: an
// operator's retry and each phase begin a round, whose first attempt is none.
func jobLog(j engine.Job, attempts []engine.Attempt) engine.JobLog {
	line := engine.JobLog{
		Job: j.ID, Type: j.Kind, Key: j.Key, Queue: j.Queue, Status: j.State, Error: j.LastError,
		Created: j.Created, Started: j.Started, Finished: j.Finished,
	}
	for _, a := range attempts {
		if retry, _ := a.Retry(); retry {
			line.Retries++
		}
	}
	return line
}
