package uitest

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// sharing are members of every kind: the one that led before was killed half a minute ago.
func sharing() engine.MembersPage {
	row := func(id, host string, role engine.MemberRole, since, silent time.Duration, inHand int, calls ...int) engine.MemberRow {
		m := engine.MemberRow{
			ID: id, Host: host, Version: "v1.4.0", Key: "9c41e07a", Role: role, MayLead: role != engine.MemberFollows, Works: true,
			Since: at(since), Seen: at(silent), Silent: silent, InFlight: inHand, Calls: make([]int, engine.ForecastPast),
		}
		copy(m.Calls[engine.ForecastPast-len(calls):], calls)
		return m
	}
	const gone = 31 * time.Second
	p := engine.MembersPage{
		At: Noon, Epoch: 12, Leader: "803-51aa", Since: at(gone - 4*time.Second), Key: "9c41e07a", Waiting: 1,
		Members: []engine.MemberRow{
			row("803-51aa", "db-worker-2", engine.MemberLeads, 25*time.Hour, 400*time.Millisecond, 3, 7, 8, 6, 8, 9, 7, 3, 8, 11, 12, 13, 6),
			row("988-c0de", "db-worker-3", engine.MemberStandsBy, 90*time.Second, 200*time.Millisecond, 0),
			row("5120-07be", "ana-laptop", engine.MemberFollows, 40*time.Minute, 700*time.Millisecond, 2, 6, 5, 8, 6, 7, 8, 2, 5, 9, 11, 10, 4),
			row("4711-9f3c", "db-worker-1", engine.MemberGone, 26*time.Hour, gone, 0, 9, 8, 10, 9, 9, 10, 4, 0, 0, 0, 0, 0),
		},
		Terms: []engine.TermRow{
			{Epoch: 12, Leader: "803-51aa", Host: "db-worker-2", Since: at(gone - 4*time.Second)},
			{Epoch: 11, Leader: "4711-9f3c", Host: "db-worker-1", Since: at(26 * time.Hour), Until: at(gone - 3*time.Second), Lapsed: true},
			{Epoch: 10, Leader: "640-11f0", Host: "db-worker-1", Since: at(74 * time.Hour), Until: at(26*time.Hour + 300*time.Millisecond)},
		},
	}
	for i := range p.Members {
		m := &p.Members[i]
		m.Here, m.Ahead = m.ID == "5120-07be", time.Duration(i)*20*time.Millisecond
	}
	p.Members[2].Ahead = -3200 * time.Millisecond
	p.Members[1].Key, p.Members[1].OtherKey = "77e2b10c", true
	return p
}
