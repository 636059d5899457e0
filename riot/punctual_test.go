package riot

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// timed is a permit that is to be used by an instant, and notes how it ended.
type timed struct {
	*limit.Permit
	by  time.Time
	how *string
}

func (p timed) WriteBy() time.Time { return p.by }
func (p timed) Lost() limit.Receipt {
	*p.how = "lost"
	return p.Permit.Lost()
}
func (p timed) Refund() limit.Receipt {
	*p.how = "refunded"
	return p.Permit.Refund()
}

type timedLimiter struct {
	*limit.Limiter
	by  func() time.Time
	how string
}

func (l *timedLimiter) Acquire(ctx context.Context, r limit.Request) (Permit, error) {
	p, err := l.Limiter.Acquire(ctx, r)
	return timed{p, l.by(), &l.how}, err
}

// A call whose permit has run out is not written, on a new connection nor on one that is kept; the
// next one on it is.
func TestACallIsNotWrittenLate(t *testing.T) {
	var arrived atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived.Add(1)
		_, _ = w.Write([]byte("[]"))
	}))
	defer s.Close()
	key, err := ParseKey("RGAPI-00000000-0000-0000-0000-000000000000")
	if err != nil {
		t.Fatal(err)
	}
	past, never := time.Now().Add(-time.Hour), time.Time{}
	l := &timedLimiter{}
	c, err := New(Options{Keys: NewKeys(key), Limiter: l, BaseURL: s.URL + "/{routing}", Punctual: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdle()
	for i, by := range []time.Time{past, never, time.Now().Add(time.Hour), past, never} {
		// Of its own: after a lost call a limiter that knows no limit yet waits for a second.
		l.Limiter, l.by, l.how = limit.New(limit.Options{}), func() time.Time { return by }, ""
		before := arrived.Load()
		_, err := c.MatchIDs(t.Context(), route.Europe, "puuid", MatchIDsQuery{})
		if late := by == past; late != (err != nil) || late != (arrived.Load() == before) || late != (l.how == "lost") {
			t.Errorf("call %d: %v, %d arrived, %q", i, err, arrived.Load()-before, l.how)
		}
	}
}
