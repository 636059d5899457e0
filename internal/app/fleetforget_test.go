package app

import (
	"syscall"
	"testing"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// Of a player who was forgotten nothing is left in any table, those of River among them: also what the leader
// stores of its calls, of a 429, of what failed, and what other programs had asked for. The audit and Riot's
// JSON of matches that others have are kept on purpose.
func TestPostgres_AForgottenPlayerIsInNoTable(t *testing.T) {
	longest(t)
	t.Parallel()
	const gone, stays = "Gone Away#EUW", "Stays#EUW"
	o := quick(player(gone, 8), player(stays, 4))
	f := newFleet(t, o)
	ids := f.sim.MatchIDs(gone)
	for _, fault := range []sim.Fault{
		{Name: "429", Kind: sim.LimitApp, RetryAfter: "1", Count: 1, Match: sim.Match{Method: route.Match, ID: ids[0]}},
		{Name: "lost", Kind: sim.NotFound, Match: sim.Match{Method: route.Match, ID: ids[1], Attempts: 1}},
	} {
		if err := f.sim.Inject(fault); err != nil {
			t.Fatal(err)
		}
	}
	leads := f.join()
	f.leader(0)
	looks := f.join("--no-lead")
	f.members[looks].until("both making calls", func() bool { return sql(t, f.at, "select count(*)::text from fs_member where works")[0] == "2" })
	// Two that another program has written otherwise: one that was carried out, one that is refused; and one that is due tomorrow.
	const trigger = `insert into river_job (kind, queue, max_attempts, state, scheduled_at, args) values ('farsight.trigger', 'farsight', 25, $1::text::river_job_state, now() + $2::text::interval, $3::text::json) returning id::text`
	sql(t, f.at, trigger, "available", "0", `{"riot_id": "\u200e gone away # euw", "platform": "euw1"}`)
	f.run(exitIncomplete, "sync", gone, "--platform", "euw1")
	sql(t, f.at, trigger, "available", "0", `{"riot_id": "Gone Away#EUW", "platform": "nowhere"}`)
	sql(t, f.at, trigger, "scheduled", "1 day", `{"riot_id": "Gone Away#EUW", "platform": "euw1"}`)
	other := sql(t, f.at, trigger, "scheduled", "1 day", `{"riot_id": "Stays#EUW", "platform": "euw1"}`)[0]
	f.run(exitDone, "sync", stays, "--platform", "euw1")
	account := sql(t, f.at, "select account_id from accounts where riot_id = 'Gone Away#EUW'")[0]
	traces := append([]string{"Gone Away", "gone away", "gone+away", account, f.sim.PUUID(gone, "")[:8]}, ids...)

	f.members[leads].until("what the leader stores of it", func() bool {
		return len(f.having("(select * from fs_row where (tb, k) = ('state', 'forensics'))", ids[0])) > 0 // its reading holds the last calls, which on a busy machine are later ones
	})
	beside := f.inSchema
	beside.dir = f.dirs[looks]
	beside.run(exitDone, "forget", gone, "--yes")
	f.members[leads].until("nothing of it", func() bool {
		for _, trace := range traces {
			if len(f.having("(select * from fs_row where tb = 'state')", trace)) > 0 {
				return false
			}
		}
		return true
	})
	for _, trace := range traces {
		f.wantNowhere(trace, "fs_payload")
	}
	if left := sql(t, f.at, "select id::text from river_job where kind = 'farsight.trigger'"); len(left) != 1 || left[0] != other {
		t.Errorf("rows %q of other programs are left, want %s", left, other)
	}
	_ = f.members[leads].cmd.Process.Signal(syscall.SIGTERM) // what it keeps in memory it stores once more
	f.members[leads].wait().wants(t, exitDone)
	for _, trace := range traces {
		f.wantNowhere(trace, "fs_payload")
	}
	delete(f.members, leads)
	f.sound()
}

// having are the rows of a table that hold a text, also within bytes.
func (s inSchema) having(table, text string) []string {
	s.t.Helper()
	return sql(s.t, s.at, "select left(r::text, 300) from "+table+" r where strpos(r::text, $1) > 0 or strpos(r::text, encode(convert_to($1, 'UTF8'), 'hex')) > 0", text)
}
