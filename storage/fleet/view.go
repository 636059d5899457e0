package fleet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/storage/pg"
)

// View is who was there at the last look.
type View struct {
	Epoch   int64
	Leader  string // the id of a member; "" = nobody leads
	LedWith string // the fingerprint of the key that the fleet works with; "" = of none yet
	Members []Process
}

// Process is a member as others see it.
type Process struct {
	ID, Host, Version, Key string
	MayLead                bool
	Ahead                  time.Duration // of its clock over the database's
	Since, Seen            time.Time     // by the database's clock
	Alive                  bool
}

// leader is the member that leads; the zero Process when none does.
func (v View) leader() Process {
	for _, p := range v.Members {
		if p.ID == v.Leader {
			return p
		}
	}
	return Process{}
}

// OtherKey tells a member that its key is not the one that the fleet works with; "" = it is.
func (v View) OtherKey(id string) string {
	at := slices.IndexFunc(v.Members, func(p Process) bool { return p.ID == id })
	if at < 0 || v.LedWith == "" || v.Members[at].Key == "" || v.Members[at].Key == v.LedWith {
		return ""
	}
	return fmt.Sprintf("this process has API key %s, and the members of its database work with %s: it leads only when none with that key is left; give all the same key, or each product a schema of its own",
		v.Members[at].Key, v.LedWith)
}

// silence is after how many terms without a sign of life a member counts as gone.
const silence = 3

// forget is after how long one that is gone is not told of any more.
const forget = 24 * time.Hour

const (
	selectFleet = "select epoch, holder, beat, extract(epoch from greatest(expires, to_timestamp(0)) - clock_timestamp())::float8, clock_timestamp() from fs_fleet"

	selectLedWith = "select coalesce((select convert_from(blob, 'UTF8') from fs_state where name = 'led_with'), '')"

	selectMembers = `select id, host, version, key_fp, may_lead, ahead_ms, since, seen, seen > clock_timestamp() - $1::float8 * interval '1 second' from fs_member order by since, id`
)

// Look gives the members of a fleet whose terms last ttl (0 = as usual), for who is none.
func Look(ctx context.Context, db *pg.DB, ttl time.Duration) (View, error) {
	var l look
	c, err := db.Connect(ctx)
	if err != nil {
		return View{}, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	b := &pgx.Batch{}
	l.ask(b, ttl)
	err = c.SendBatch(ctx, b).Close()
	return l.view(), err
}

// look is what one question to the database gives.
type look struct {
	epoch, beat int64
	holder      string
	left        time.Duration // of the term, by the database's clock
	now         time.Time     // by the database's clock
	members     []Process
	ledWith     string
}

// yields reports whether one with a key leaves an election to others: who has the key that the fleet
// works with, and lives. When nobody is left that has it, the fleet goes on with another.
func (l *look) yields(key string) bool {
	return key != "" && l.ledWith != "" && key != l.ledWith && slices.ContainsFunc(l.members, func(p Process) bool {
		return p.Alive && p.MayLead && p.Key == l.ledWith
	})
}

// ask adds the questions to a batch, which fills l.
func (l *look) ask(b *pgx.Batch, ttl time.Duration) {
	b.Queue(selectFleet).QueryRow(func(r pgx.Row) error {
		var left float64
		err := r.Scan(&l.epoch, &l.holder, &l.beat, &left, &l.now)
		l.left = time.Duration(left * float64(time.Second))
		return err
	})
	b.Queue(selectLedWith).QueryRow(func(r pgx.Row) error { return r.Scan(&l.ledWith) })
	b.Queue(selectMembers, (silence * usual(ttl)).Seconds()).Query(func(rows pgx.Rows) (err error) {
		l.members, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (p Process, err error) {
			var ahead int64
			err = r.Scan(&p.ID, &p.Host, &p.Version, &p.Key, &p.MayLead, &ahead, &p.Since, &p.Seen, &p.Alive)
			p.Ahead = time.Duration(ahead) * time.Millisecond
			return p, err
		})
		return err
	})
}

func (l *look) view() View {
	v := View{Epoch: l.epoch, Leader: l.holder, LedWith: l.ledWith, Members: l.members}
	if l.left <= 0 {
		v.Leader = ""
	}
	return v
}
