package river

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/remote"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/pg"
)

// envMember makes of the test program a member of the fleet at the URL that it holds: its arguments
// are its id and where Riot is.
const envMember = "FARSIGHT_TEST_MEMBER"

const (
	testKey  = "RGAPI-00000000-0000-0000-0000-000000000000"
	testKind = "test.fetch"
	ttl      = time.Second
)

func TestMain(m *testing.M) {
	if at := os.Getenv(envMember); at != "" {
		if err := beMember(at, os.Args[1], os.Args[2]); err != nil {
			fmt.Println("failed", err)
			os.Exit(1)
		}
		return
	}
	scratch.AtOnce(4)
	leak.Main(scratch.OnDisk(m))
}

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
	db      *pg.DB
	client  *riot.Client
	calls   ownCalls
	member  *local.Backend
	carrier *Carrier
	leader  atomic.Pointer[local.Backend]
	leading atomic.Pointer[remote.Leader]
}

// ownCalls are those of a node while it leads: of attempts that it carries out itself.
type ownCalls struct {
	*remote.Calls
	now atomic.Pointer[limit.Limiter]
}

func (o *ownCalls) Acquire(ctx context.Context, r limit.Request) (riot.Permit, error) {
	p, err := o.Calls.Acquire(ctx, r)
	l := o.now.Load()
	if err == nil || l == nil {
		return p, err
	}
	p, err = l.Acquire(ctx, r)
	return unhurried{p}, err
}

// unhurried is a permit whose call may be written at any time.
type unhurried struct{ riot.Permit }

func (unhurried) WriteBy() time.Time { return time.Time{} }

func newNode(ctx context.Context, at, id, base string, change ...func(*Options)) (n *node, err error) {
	n = &node{id: id}
	if n.db, err = pg.Open(ctx, pg.Options{URL: at, Conns: 8}); err != nil {
		return nil, err
	}
	key, err := riot.ParseKey(testKey)
	if err != nil {
		return nil, err
	}
	n.calls.Calls = remote.NewCalls()
	n.client, err = riot.New(riot.Options{
		Keys: riot.NewKeys(key), Limiter: &n.calls, BaseURL: base + "/{routing}", Punctual: true, OnCall: n.calls.Note,
		// On a busy machine a member that stood still gave up after the usual 10 s on answers that were
		// sent: such a match is fetched twice, and no attempt was given back.
		Timeout: 5 * time.Minute,
	})
	if err != nil {
		return nil, err
	}
	if n.member, err = local.New(local.Options{Store: n.db, Kinds: n.kinds(), Policies: engine.DefaultPolicies(), Boot: id}); err != nil {
		return nil, err
	}
	o := Options{DB: n.db, Member: id, Key: key.Fingerprint, TTL: ttl, Workers: 24, Attempts: n.member, Calls: n.calls.Calls}
	for _, f := range change {
		f(&o)
	}
	n.carrier, err = Open(ctx, o)
	n.db.OnCommit(func(seq uint64, changes []engine.Change) {
		n.member.Apply(seq, changes)
		if b := n.leader.Load(); b != nil {
			b.Apply(seq, changes)
		}
	})
	n.db.OnGap(func() {
		n.member.Gap()
		if b := n.leader.Load(); b != nil {
			b.Gap()
		}
	})
	return n, err
}

// run is what a member does until ctx ends.
func (n *node) run(ctx context.Context) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var g, served errgroup.Group
	served.Go(func() error { return n.db.Serve(serving) })
	ctx, end := context.WithCancel(ctx)
	defer end()
	g.Go(func() error { defer end(); return n.carrier.Run(ctx) })
	g.Go(func() error { defer end(); return n.member.Follow(ctx) })
	g.Go(func() error {
		defer end()
		return fleet.Run(ctx, n.db, fleet.Options{ID: n.id, Host: "here", Version: "test", TTL: ttl, Lead: n.lead, Late: func() int { return int(n.member.Stats().Late) }})
	})
	err := g.Wait()
	stop()
	err = errors.Join(err, served.Wait())
	n.carrier.Close()
	n.client.CloseIdle()
	return errors.Join(err, n.db.Close())
}

// lead leads for a term.
func (n *node) lead(ctx context.Context, t *fleet.Term) error {
	if n.tells {
		fmt.Println("leads", t.Epoch)
	}
	limiter := limit.New(limit.Options{})
	limits := traffic.New(traffic.Options{Limiter: limiter, Store: t.Store, Lanes: laneOf})
	blob, err := t.Store.LoadState(ctx, traffic.LimiterState)
	l := remote.NewLeader(remote.Options{Limits: limits, Table: n.carrier, Store: t.Store, Carries: func(k engine.Kind) bool { return k == testKind }})
	if err == nil {
		err = l.Restore(ctx, blob == nil, t.Store.Live(ctx))
	}
	if err != nil {
		return err
	}
	n.leading.Store(l)
	n.calls.now.Store(limiter)
	defer n.calls.now.Store(nil)
	b, err := local.New(local.Options{
		Store: t.Store, Admitter: l, Launcher: l, Kinds: n.kinds(), Policies: engine.DefaultPolicies(),
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
	for _, run := range []func(context.Context) error{b.Run, func(ctx context.Context) error { return l.Fold(ctx, b) }, limits.Run} {
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

func (n *node) kinds() []engine.KindSpec {
	return []engine.KindSpec{{Kind: testKind, Policy: engine.PolicyMatch, Timeout: 30 * time.Second, Handler: n.fetch}}
}

// fetch is the handler of a job.
func (n *node) fetch(ctx context.Context, r engine.Run) engine.Outcome {
	var a args
	if err := json.Unmarshal(r.Job.Args, &a); err != nil {
		return engine.Fail(err)
	}
	_, err := n.client.Match(riot.WithJob(ctx, string(r.Job.ID), limit.Bulk), route.Europe, a.Match)
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
