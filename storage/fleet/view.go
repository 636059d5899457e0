package fleet

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/storage/pg"
)

// View is who was there at the last look.
type View struct {
	Epoch   int64
	Leader  string // the id of a member; "" = nobody leads
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

// silence is after how many terms without a sign of life a member counts as gone.
const silence = 3

// forget is after how long one that is gone is not told of any more.
const forget = 24 * time.Hour

const (
	selectFleet = "select epoch, holder, beat, extract(epoch from greatest(expires, to_timestamp(0)) - clock_timestamp())::float8, clock_timestamp() from fs_fleet"

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
}

// ask adds the questions to a batch, which fills l.
func (l *look) ask(b *pgx.Batch, ttl time.Duration) {
	b.Queue(selectFleet).QueryRow(func(r pgx.Row) error {
		var left float64
		err := r.Scan(&l.epoch, &l.holder, &l.beat, &left, &l.now)
		l.left = time.Duration(left * float64(time.Second))
		return err
	})
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
	v := View{Epoch: l.epoch, Leader: l.holder, Members: l.members}
	if l.left <= 0 {
		v.Leader = ""
	}
	return v
}
