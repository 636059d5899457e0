package traffic

import (
	"testing"

	"github.com/farsight-console/farsight/riot/limit"
)

// TestV1q_HostsWithAsMuchInLineTakeNoTurns: the host that is told first stays it while another has about as much in line.
func TestV1q_HostsWithAsMuchInLineTakeNoTurns(t *testing.T) {
	l := New(Options{Store: &state{}, Limiter: limit.New(limit.Options{}), Lanes: laneOfMatch})
	line := func(asia, europe int) string {
		l.Backlog("asia/match-v5.match", asia)
		l.Backlog("europe/match-v5.match", europe)
		return l.Rows().Hosts[0].Host
	}
	for i, c := range []struct {
		asia, europe int
		first        string
	}{{400, 399, "asia"}, {398, 399, "asia"}, {398, 397, "asia"}, {300, 397, "europe"}, {397, 396, "europe"}, {0, 1, "europe"}, {0, 0, "europe"}, {1, 0, "asia"}} {
		if got := line(c.asia, c.europe); got != c.first {
			t.Errorf("%d: of %d on asia and %d on europe %s is told first", i, c.asia, c.europe, got)
		}
	}
}
