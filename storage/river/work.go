package river

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/riot"
)

// callArgs are what a row of River says of a call, for people.
type callArgs struct {
	Job    string `json:"job"`
	Host   string `json:"host"`
	Method string `json:"method"`
}

// Kind is the word for it in River's tables.
func (callArgs) Kind() string { return kindCall }

// caller makes the calls that the leader lets go.
type caller struct {
	river.WorkerDefaults[callArgs]
	c *Carrier
}

// Timeout is none: the client has its own.
func (w *caller) Timeout(*river.Job[callArgs]) time.Duration { return -1 }

// Work makes one call. It returns no error: fs_call tells what became of it.
func (w *caller) Work(ctx context.Context, row *river.Job[callArgs]) error {
	w.c.make(ctx, row)
	return nil
}

const (
	// begin lets a call be made once: of two members that begin it at once the second waits for the row, and finds begun set.
	// It expires by the database's clock, which is the same for all.
	begin = `update fs_call set member = $2, begun = clock_timestamp()
where id = $1 and key_fp = $3 and begun is null and ended is null and expires > clock_timestamp() returning host, method, path`

	// tell ends a call with what its member tells, and wakes the leader. It changes nothing of one that was given up
	// meanwhile.
	tell = `with told as (
	update fs_call set ended = clock_timestamp(), how = $2, status = $3, headers = $4, body = $5, class = $6, said = $7
	where id = $1 and ended is null returning id
) select count(*), pg_notify($8, '') from told`
)

func (c *Carrier) make(ctx context.Context, row *river.Job[callArgs]) {
	by := time.Now().Add(writeWithin) // before the begin is: it is written within two seconds of it
	call := riot.Carried{Job: row.Args.Job}
	err := c.pool.QueryRow(ctx, begin, row.ID, c.opt.Member, c.opt.Key()).Scan(&call.Host, &call.Method, &call.Path)
	if errors.Is(err, pgx.ErrNoRows) {
		return // another member has begun it, or it has expired
	}
	if err != nil { // nobody knows whether it is ours: it must not be made
		c.opt.Log.Warn().Err(err).Str("job", call.Job).Msg("a call is left")
		return
	}
	a, wrote, err := c.opt.Relay(ctx, call, by)
	end := ending{how: answered}
	if a != nil {
		end.status, end.body = a.Status, a.Body
		end.headers, _ = json.Marshal(a.Header) // texts always can be
	} else {
		end.how, end.class, end.said = unused, riot.ClassStopped, "the member has stopped"
		if wrote {
			end.how = lost
		}
		if e, ok := errors.AsType[*riot.Error](err); ok {
			end.class, end.said = e.Class, e.Message
		}
	}
	c.opt.Reach.Note(call.Host, end.status, end.class)
	// The call was made: its report is tried until the database is there, however late.
	for began := time.Now(); ; {
		late, err := c.report(context.WithoutCancel(ctx), row.ID, end)
		if late {
			c.late.Add(1)
		}
		if err == nil || time.Since(began) > tellPatience || !await.Pause(ctx, tellPause) {
			return
		}
		c.opt.Log.Warn().Err(err).Str("job", call.Job).Msg("what became of a call cannot be told yet")
	}
}

// ending is what a member tells of a call.
type ending struct {
	how, class, said string
	status           int
	headers, body    []byte
}

const (
	// tellPatience is how long the end of a call is kept for a database that is away; tellPause is between two tries.
	tellPatience = 20 * time.Second
	tellPause    = 500 * time.Millisecond
)

// report ends a call. late: nobody waits for it any more.
func (c *Carrier) report(ctx context.Context, id int64, e ending) (late bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, tellPatience)
	defer cancel()
	var told int
	err = c.pool.QueryRow(ctx, tell, id, e.how, e.status, e.headers, e.body, e.class, e.said, c.channel()).Scan(&told, nil)
	return told == 0 && err == nil, err
}

// channel is the channel on which the leader hears that a call has ended.
func (c *Carrier) channel() string { return c.opt.DB.Schema() + ".told" }
