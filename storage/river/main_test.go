package river

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/key"
	"github.com/farsight-console/farsight/storage/pg"
)

// envMember makes of the test program a member of the fleet at the URL that it holds: its arguments
// are its id and where Riot is.
const envMember = "FARSIGHT_TEST_MEMBER"

const (
	testKey  = "RGAPI-00000000-0000-0000-0000-000000000000"
	testKind = "test.fetch"
	ttl      = time.Second
	// patience is for one answer, in a call and in its attempt. On a busy machine a member that stood still gave up
	// after 10 s, or 30, on answers that were sent: such a match is fetched twice, and no attempt was given back.
	patience = 5 * time.Minute
)

// whole is for a quiet machine: the numbers of docs/fleet.md's promises, and their times, take minutes of it.
var whole = flag.Bool("whole", false, "fleets of the size, and for as long, as they are promised for")

// sized is the usual value, or the one of a whole run.
func sized[T any](usual, most T) T {
	if *whole {
		return most
	}
	return usual
}

func TestMain(m *testing.M) {
	if at := os.Getenv(envMember); at != "" {
		if err := beMember(at, os.Args[1], os.Args[2]); err != nil {
			fmt.Println("failed", err)
			os.Exit(1)
		}
		return
	}
	scratch.AtOnce(12)
	leak.Main(scratch.OnDisk(m))
}

// made gives a schema of a test's own, with the tables of the store and of River.
var made = pgtest.Made(func(at string) error {
	ctx := context.Background()
	db, err := pg.Open(ctx, pg.Options{URL: at})
	if err != nil {
		return err
	}
	c, err := Open(ctx, Options{DB: db, Member: "makes", Key: func() string { return "" }})
	if err == nil {
		c.Close()
	}
	return errors.Join(err, db.Close())
})

// beMember is a member until its input ends.
func beMember(at, id, base string) error {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	n, err := newNode(ctx, at, id, base)
	if err != nil {
		return err
	}
	n.tells = true
	return n.run(ctx)
}

// node is a process of a fleet that fetches matches: each job is one.
type node struct {
	id      string
	tells   bool // when it leads
	base    string
	db      *storage.DB
	server  *pg.DB
	log     *pg.Log
	dir     string
	rows    errgroup.Group // follow the log
	client  *riot.Client
	carrier *Carrier
	idle    bool
	led     bool        // by others, always
	others  atomic.Bool // somebody else makes calls
	leader  atomic.Pointer[local.Backend]
	limits  atomic.Pointer[traffic.Limits] // of its term
}

func newNode(ctx context.Context, at, id, base string, change ...func(*Options)) (n *node, err error) {
	n = &node{id: id, base: base}
	if n.server, err = pg.Open(ctx, pg.Options{URL: at, Conns: 8}); err != nil {
		return nil, err
	}
	if n.dir, err = os.MkdirTemp("", "member"); err != nil {
		return nil, err
	}
	n.log = n.server.Log()
	if n.db, err = storage.Open(storage.Options{Dir: n.dir + "/data", Shared: n.log}); err != nil {
		return nil, err
	}
	if n.client, err = n.newClient(limit.New(limit.Options{}), nil); err != nil {
		return nil, err
	}
	o := Options{DB: n.server, Member: id, Key: keyOfAll.Fingerprint, TTL: ttl, Workers: 24, Relay: n.client.Relay, Reach: NewReach(n.client.Reach, zerolog.Nop()), Order: n.enqueue}
	for _, f := range change {
		f(&o)
	}
	n.idle, n.led = o.Workers == 0, strings.HasPrefix(id, "led")
	n.carrier, err = Open(ctx, o)
	n.db.OnCommit(func(seq uint64, changes []engine.Change) {
		if b := n.leader.Load(); b != nil {
			b.Apply(seq, changes)
		}
	})
	return n, err
}

// enqueue is what the rig asks of who leads: jobs.
func (n *node) enqueue(ctx context.Context, asked []byte) ([]byte, error) {
	var specs []engine.Spec
	if err := json.Unmarshal(asked, &specs); err != nil {
		return nil, err
	}
	return []byte("null"), n.db.Write(ctx, func(tx engine.Tx) error {
		_, err := n.db.Job(tx, engine.JobID(key.JobID(1)))
		if errors.Is(err, engine.ErrNotFound) { // else it was carried out, and who did lost its term before it said so
			_, err = tx.Enqueue(specs...)
		}
		return err
	})
}

var keyOfAll = func() riot.Key {
	k, err := riot.ParseKey(testKey)
	if err != nil {
		panic(err)
	}
	return k
}()

func (n *node) newClient(l *limit.Limiter, by riot.Carrier) (*riot.Client, error) {
	return riot.New(riot.Options{
		Keys: riot.NewKeys(keyOfAll), Limiter: unhurried{l}, BaseURL: n.base + "/{routing}", Punctual: true, Timeout: patience, Carrier: by,
	})
}

// unhurried lets calls go that may be written at any time.
type unhurried struct{ l *limit.Limiter }

func (u unhurried) Acquire(ctx context.Context, r limit.Request) (riot.Permit, error) {
	p, err := u.l.Acquire(ctx, r)
	return anyTime{p}, err
}

type anyTime struct{ riot.Permit }

func (anyTime) WriteBy() time.Time { return time.Time{} }

// run is what a member does until ctx ends.
func (n *node) run(ctx context.Context) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var g, served errgroup.Group
	served.Go(func() error { return n.db.Serve(serving) })
	ctx, end := context.WithCancel(ctx)
	defer end()
	g.Go(func() error { defer end(); return n.carrier.Run(ctx) })
	lead := n.lead
	if n.led {
		lead = nil
	}
	g.Go(func() error {
		defer end()
		return fleet.Run(ctx, n.server, fleet.Options{
			ID: n.id, Host: "here", Version: "test", TTL: ttl, Lead: lead, Late: n.carrier.Late, Key: keyOfAll.Fingerprint, Idle: n.idle,
			OnLook: func(v engine.MembersPage) {
				n.others.Store(slices.ContainsFunc(v.Members, func(m engine.MemberRow) bool { return m.ID != n.id && m.Carries() }))
			},
		})
	})
	err := g.Wait()
	stop()
	err = errors.Join(err, served.Wait())
	n.carrier.Close()
	n.client.CloseIdle()
	_ = n.rows.Wait()
	return errors.Join(err, n.db.Close(), n.server.Close(), os.RemoveAll(n.dir))
}

// lead leads for a term.
func (n *node) lead(ctx context.Context, t *fleet.Term) error {
	if n.tells {
		fmt.Println("leads", t.Epoch)
	}
	if err := n.db.Lead(t.Within, t.Epoch, func() {}); err != nil {
		return err
	}
	n.rows.Go(func() error { return n.log.Follow(t.Within, t.Epoch, func(error) {}) })
	limiter := limit.New(limit.Options{Keeps: true})
	var limits *traffic.Limits
	// A member that may be killed hands its calls on even while it sees no other: of those that it makes itself who leads next
	// learns from the attempts of accounts, and these jobs have none.
	calls := n.carrier.Lead(t, func() (elsewhere, only bool) { return n.tells || n.others.Load(), n.idle }, func() { limits.Signal() })
	limits = traffic.New(traffic.Options{Limiter: limiter, Store: n.db, Lanes: laneOf, Halt: calls.Halt})
	client, err := n.newClient(limiter, calls)
	if err != nil {
		return err
	}
	defer client.CloseIdle()
	blob, err := n.db.LoadState(ctx, traffic.LimiterState)
	if err == nil {
		err = limits.Restore(ctx, blob == nil, n.db.Live(ctx))
	}
	if err == nil {
		err = calls.Inherit(ctx, limits)
	}
	if err != nil {
		return err
	}
	n.limits.Store(limits)
	b, err := local.New(local.Options{
		Store: n.db, Admitter: limits, Kinds: kinds(client), Policies: engine.DefaultPolicies(),
		Boot: fmt.Sprint(n.id, " ", t.Epoch), Workers: func() int { return 48 },
	})
	if err != nil {
		return err
	}
	n.leader.Store(b)
	defer n.leader.Store(nil)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var g errgroup.Group
	for _, run := range []func(context.Context) error{b.Run, calls.Run, n.carrier.Obey, limits.Run} {
		g.Go(func() error { defer stop(); return run(ctx) })
	}
	return errors.Join(g.Wait(), context.Cause(ctx))
}

// laneOf is where all jobs call.
func laneOf(j engine.Job) (at traffic.Lane, more bool) {
	return traffic.To(route.Europe, route.Match), false
}

// args are those of a job.
type args struct {
	Match string `json:"match"`
}

func kinds(c *riot.Client) []engine.KindSpec {
	return []engine.KindSpec{{Kind: testKind, Policy: engine.PolicyMatch, Timeout: patience, Handler: func(ctx context.Context, r engine.Run) engine.Outcome {
		return fetch(ctx, c, r)
	}}}
}

// fetch is the handler of a job.
func fetch(ctx context.Context, c *riot.Client, r engine.Run) engine.Outcome {
	var a args
	if err := json.Unmarshal(r.Job.Args, &a); err != nil {
		return engine.Fail(err)
	}
	_, err := c.Match(riot.WithJob(ctx, string(r.Job.ID), limit.Bulk), route.Europe, a.Match)
	e, refused := errors.AsType[*riot.Error](err)
	switch {
	case err == nil:
		return engine.Done(nil)
	case refused && e.Reason == riot.Throttled:
		return engine.Snooze(e.RetryAt, engine.HoldThrottled, err)
	case ctx.Err() != nil:
		return engine.Retry(err)
	}
	return engine.Snooze(time.Now().Add(time.Second), engine.HoldOutage, err)
}
