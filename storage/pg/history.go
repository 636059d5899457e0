package pg

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// tHistory are the last transitions of anything that has an id:
//
//	 of   | seq | at                         | from_state | to_state | reason  | actor
//	------+-----+----------------------------+------------+----------+---------+-------
//	 b41  |   3 | 2026-11-21 09:12:44.01+00  | running    | retryable| 503     |
var tHistory = declare("fs_history", "of, seq", fields[both.Moved](called{"From": "from_state", "To": "to_state"}))

// addHistory numbers a transition behind the last one of its id, and drops the one that is 50
// before it.
const addHistory = `with next as (select coalesce(max(seq), 0) + 1 as seq from fs_history where of = $1),
	old as (delete from fs_history h using next where h.of = $1 and h.seq <= next.seq - 50)
insert into fs_history (of, seq, at, from_state, to_state, reason, actor) select $1, seq, $2::timestamptz, $3, $4, $5, $6 from next`

// AddHistory appends one transition of anything that has an id. Its number is given here; the
// order is by it, not by time, since clocks step back.
func (db *DB) AddHistory(tx engine.Tx, id string, tr engine.Transition) error {
	own(tx).exec(addHistory, (*text)(&id), (*instant)(&tr.At), (*text)(&tr.From), (*text)(&tr.To),
		(*text)(&tr.Reason), (*text)(&tr.Actor))
	return nil
}

// history gives the last transitions of an id, oldest first.
func (t *txn) history(id string) (list []engine.Transition, err error) {
	rows, err := tHistory.list(t, "where of = $1 order by seq", (*text)(&id))
	for _, m := range rows {
		list = append(list, m.Transition)
	}
	return list, err
}
