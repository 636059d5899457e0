package traffic

import (
	"context"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// Lane is where a call goes, such as europe and match-v5.match: the unit that Riot
// limits, and that breaks down.
type Lane struct{ Host, Method string }

// To is the lane of a method of a region or platform.
func To[H ~string](host H, m route.Method) Lane { return Lane{string(host), string(m)} }

// String is "europe/match-v5.match", or "" of a job that makes no call.
func (l Lane) String() string {
	if l == (Lane{}) {
		return ""
	}
	return l.Host + "/" + l.Method
}

// moreSuffix marks the lane of calls of which each is followed by another one: a match by
// its timeline.
const moreSuffix = "+"

// Lanes says where a job's next call goes, by the job alone; more says that another call
// will follow. The zero Lane means that it makes none.
type Lanes func(j engine.Job) (at Lane, more bool)

// Name is the name of the job's lane: "europe/match-v5.match+".
func (of Lanes) Name(j engine.Job) string {
	at, more := of(j)
	if more {
		return at.String() + moreSuffix
	}
	return at.String()
}

// splitLane reads a lane's name back. A name that is none gives a lane that nobody calls.
func splitLane(name string) (at Lane, more bool) {
	name, more = strings.CutSuffix(name, moreSuffix)
	at.Host, at.Method, _ = strings.Cut(name, "/")
	return at, more
}

// Stored is what the last engine has stored of the limits, to look at and to foresee by: no call goes through it.
// nil = nothing was ever saved. Windows that have ended since are counted as they are now.
func Stored(ctx context.Context, store Loader) (*Limits, error) {
	var st limit.State
	if known, err := engine.LoadStored(ctx, store, LimiterState, &st); err != nil || !known {
		return nil, err
	}
	l := New(Options{Limiter: limit.New(limit.Options{})})
	l.limiter.Restore(st, wall.Now(), nil)
	return l, nil
}
