package fleet

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
)

// work is what the members of a fleet do.
type work struct {
	inHand map[string]int
	calls  map[string][]int
	terms  []engine.TermRow
}

const (
	// selectInHand counts the calls that were let go by who has begun them. What a leader
	// carries out itself it tells with each sign of life.
	selectInHand = "select member, count(*) from fs_call where ended is null group by member"

	// selectCalls counts the calls of the past minute by member and by step, 0 = the present one. Calls of the
	// leader that no member has made it has made itself.
	selectCalls = `with this as (
	select clock_timestamp() as now, holder, since from fs_fleet
), made as (
	select member, begun as at from fs_call, this
	where granted > now - interval '2 minutes' and begun is not null and how <> 'unused'
	union all
	select holder, ended from calls a, this
	where ended > greatest(since, now - interval '1 minute') and kind !~ '^(alert|event)\.'
		and not exists (select from fs_call c where fs_id(c.job) = a.job_id and c.begun between a.started - interval '5 seconds' and a.ended + interval '5 seconds')
), counted as (
	select member, floor(extract(epoch from now)::float8 / $1) - floor(extract(epoch from at)::float8 / $1) as back
	from made, this
)
select member, greatest(back, 0)::int, count(*) from counted where back < $2 group by 1, 2`

	selectTerms = "select epoch, holder, host, since, coalesce(until, 'epoch'), lapsed from fs_term order by epoch desc limit 20"
)

// ask adds the questions to a batch, which fills w.
func (w *work) ask(b *pgx.Batch) {
	w.inHand, w.calls = map[string]int{}, map[string][]int{}
	b.Queue(selectInHand).Query(func(rows pgx.Rows) error {
		var member string
		var n int
		_, err := pgx.ForEachRow(rows, []any{&member, &n}, func() error {
			w.inHand[member] = n
			return nil
		})
		return err
	})
	b.Queue(selectCalls, engine.ForecastStep.Seconds(), engine.ForecastPast).Query(func(rows pgx.Rows) error {
		var member string
		var back, n int
		_, err := pgx.ForEachRow(rows, []any{&member, &back, &n}, func() error {
			if w.calls[member] == nil {
				w.calls[member] = make([]int, engine.ForecastPast)
			}
			w.calls[member][engine.ForecastPast-1-back] += n
			return nil
		})
		return err
	})
	b.Queue(selectTerms).Query(func(rows pgx.Rows) (err error) {
		w.terms, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (t engine.TermRow, err error) {
			err = r.Scan(&t.Epoch, &t.Leader, &t.Host, &t.Since, &t.Until, &t.Lapsed)
			if t.Until.Equal(time.Unix(0, 0)) {
				t.Until = time.Time{}
			}
			return t, err
		})
		return err
	})
}

// addTo adds the work to those who do it. What a member that is gone had in hand counts as left over
// until a leader has given it back.
func (w *work) addTo(page *engine.MembersPage) {
	page.Terms = w.terms
	page.Waiting = w.inHand[""]
	for member, n := range w.inHand {
		i := slices.IndexFunc(page.Members, func(m engine.MemberRow) bool { return m.ID == member && m.Alive() })
		if i < 0 && member != "" {
			page.LeftOver += n
		}
	}
	for i := range page.Members {
		m := &page.Members[i]
		if !m.Alive() && page.Leader == "" {
			page.LeftOver += m.InFlight // who leads next gives it back
		} else if m.ID != page.Leader {
			m.InFlight = 0
		}
		m.InFlight, m.Calls = m.InFlight+w.inHand[m.ID], w.calls[m.ID]
		if m.Calls == nil {
			m.Calls = make([]int, engine.ForecastPast)
		}
	}
}
