package backendtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// P18_MaxDead: with MaxDead -1, 0 and 5 a group of 20 children settles whatever
// dies, and the parent goes on or is discarded as its kind says; it never hangs.
// A dead child that is retried afterwards opens nothing again.
func P18_MaxDead(t testing.TB, s Site) {
	dead := 0
	f := newFanRig(t, s, func(_ context.Context, run engine.Run) engine.Outcome {
		var n int
		_, _ = fmt.Sscanf(run.Job.Key, "match:%d", &n)
		if n < dead && run.Job.Round == 1 {
			return engine.Fail(errors.New("404"))
		}
		return engine.Done(nil)
	})
	cases := []struct{ max, dead int }{{-1, 0}, {-1, 20}, {0, 0}, {0, 1}, {5, 5}, {5, 6}, {5, 20}}
	for i, c := range cases {
		dead = c.dead
		f.kinds[1].Children = &engine.ChildPolicy{MaxDead: c.max}
		f.start()
		id := f.sync(fmt.Sprint("full:", i), 20)
		time.Sleep(time.Minute)
		synctest.Wait()
		if c.max < 0 || c.dead <= c.max {
			f.want(id, engine.Completed)
			if g := f.once(id); g.Dead != c.dead || g.Open != 0 {
				t.Errorf("at most %d dead, %d are: went on with %+v", c.max, c.dead, g)
			}
		} else {
			d := f.want(id, engine.Discarded)
			if d.Job.Class != engine.ClassChildren || !strings.Contains(d.Job.LastError, fmt.Sprintf("%d of 20 jobs that it waited for gave up", c.dead)) {
				t.Errorf("discarded as %q: %s", d.Job.Class, d.Job.LastError)
			}
		}
		state := f.job(id).State
		if c.dead > 0 {
			f.retry(f.childOf("match:0"))
			time.Sleep(time.Minute)
			if g := f.want(id, state).Groups[0]; g.Open != 0 || g.Dead != c.dead-1 {
				t.Errorf("after the late child: %+v", g)
			}
		}
		f.down()
	}
}
