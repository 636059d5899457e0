package control

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/operation"
)

// failed are the states of jobs whose last attempt failed and that are not done.
var failedStates = append(engine.LiveStates(), engine.Discarded)

// classes groups the failed jobs by the fingerprint of their last failure (I-6). It reads every failed
// job: a class has no index, since it is made of the job and of where it calls.
func (f finder) classes(ctx context.Context, q engine.ClassesQuery) (engine.ClassesAnswer, error) {
	var a engine.ClassesAnswer
	rows, now := map[engine.ErrorClass]*engine.ClassRow{}, time.Now()
	err := operation.EachJob(ctx, f.store, failedStates, func(j engine.Job) error {
		// Live jobs that have not failed yet are among the states, too.
		if j.Class == "" || q.Queue != "" && j.Queue != q.Queue {
			return nil
		}
		a.Jobs++
		class := engine.ClassOf(j, f.lane(j))
		row := rows[class]
		if row == nil {
			row = &engine.ClassRow{ErrorClass: class, ID: class.ID()}
			rows[class] = row
		}
		addTo(row, j, now)
		return nil
	})
	if err != nil {
		return a, err
	}
	for _, row := range rows {
		row.Share = float64(row.Jobs) / float64(a.Jobs)
		a.Classes = append(a.Classes, *row)
	}
	slices.SortStableFunc(a.Classes, func(x, y engine.ClassRow) int {
		return cmp.Or(cmp.Compare(y.Jobs, x.Jobs), cmp.Compare(x.ID, y.ID))
	})
	return a, nil
}

// classSamples are how many of its jobs a class names.
const classSamples = 5

// addTo counts a job in its class. The instant of its last attempt stands for
// that of its failure.
func addTo(row *engine.ClassRow, j engine.Job, now time.Time) {
	row.Jobs++
	for _, at := range j.Failed {
		row.Failed(at, now)
	}
	if j.State.Live() {
		row.Waiting++
	} else {
		row.Dead++
	}
	if row.First.IsZero() || j.Started.Before(row.First) {
		row.First = j.Started
	}
	if !j.Started.Before(row.Last) {
		row.Last, row.Error, row.Latest = j.Started, j.LastError, j.ID
	}
	if len(row.Sample) < classSamples {
		row.Sample = append(row.Sample, cmp.Or(j.Key, "job "+string(j.ID)))
	}
}
