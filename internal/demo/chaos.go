package demo

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/ui/chaos"
)

// Chaos breaks the demo's simulator, and its engine from within. It is made with a
// simulator and nothing else: there is none where a real key is used.
//
// It is called by keys of the panel, by the engine's commits (Look, Stall) and by handlers (Spoil),
// each on a goroutine of its own; c.mu holds what all of them need. What takes longer than a key may
// is done by Run, one thing at a time: a second one is refused while the first is under way.
type Chaos struct {
	host   *Host       // the simulator
	stage  *Stage      // the engine, which can be killed and begun anew
	rows   []*mischief // what the panel offers here
	seed   uint64
	speed  float64
	limits sim.Limits // the usual ones
	begin  func(context.Context) error
	by     engine.Actor
	key    func() string // fingerprint of the key in use
	tally  *tally
	trap   *armed
	todo   chan func() // what takes longer than a key may: for run

	mu      sync.Mutex
	pages   bool // alerts call the demo's telephone
	asked   map[string]*injected
	kills   int // of this member
	commits int
	stalled time.Duration
	refused string // fingerprint of the key that has been let expire

	stats sim.Stats // as of counted
	count time.Time
}

// injected is what was asked of a row.
// One of three forms: a rate that strikes until it is ended, hits that strike once each, or a preset
// that ends by itself.
type injected struct {
	rate    float64   // percent
	pending int       // number of hits after which a fault that was asked for once is over
	until   time.Time // of a preset
	on      bool      // of a preset
}

// statsEvery bounds how often the simulator is asked for its sums: four times a second is as often as a number can be read.
const statsEvery = 250 * time.Millisecond

// newChaos is a panel without a simulator and an engine: New hands them in once they are made.
func newChaos(seed uint64, speed float64, account string) *Chaos {
	return &Chaos{seed: seed, speed: speed, tally: newTally(), trap: newArmed(account), todo: make(chan func(), 1), asked: map[string]*injected{}}
}

// Run does what takes its time, until ctx ends.
func (c *Chaos) Run(ctx context.Context) {
	for {
		select {
		case f := <-c.todo:
			f()
		case <-ctx.Done():
			select {
			case f := <-c.todo: // an engine that fell must be revived, to end in order
				f()
			default:
			}
			return
		}
	}
}

// Observe sees every commit to the store of an engine, after the engine did.
// The trap closes on a commit and not on a clock: the engine is killed with exactly fallAt matches
// stored, in every run.
func (c *Chaos) Observe(db Store, changes []engine.Change) {
	c.tally.observe(changes)
	if !c.trap.observe(changes) {
		return
	}
	c.stage.fell(db, "the engine was killed with "+c.trap.stand()+"; it starts again in a second")
	// It has room for one: nothing else can be under way, for an engine runs.
	c.todo <- c.revive
}

// revive starts the engine again after the trap has closed, and says where it went on
// when the console has found it.
func (c *Chaos) revive() {
	if err := c.stage.revive(c.mend); err != nil {
		c.report(err)
		return
	}
	// Five seconds at most: a note that nobody sees yet is lost, and one that comes late confuses.
	for range 50 {
		if at, ok := c.trap.resumed(); ok && c.stage.con.CaughtUp() {
			c.stage.note(engine.LevelOK, at)
			return
		}
		await.Pause(c.stage.ctx, 100*time.Millisecond)
	}
}

// kill ends the engine as kill -9 does: its term is not resigned, and what it has in hand is for the
// others to find out.
func (c *Chaos) kill() (string, error) {
	said := fmt.Sprintf("this member is killed, and comes back after %s", c.stage.pause)
	// The engine is looked up when the kill is done, not when it was asked for: another one may run
	// by then.
	kill := func() error {
		c.stage.fell(c.stage.Engine(), said)
		return c.stage.revive(func() {})
	}
	if !c.soon(kill) {
		return "", errStarting
	}
	// Counted here, where the lock is held: the row shows it at once.
	c.kills++
	return said, nil
}

// mend puts the simulator back as it was before the trap was set.
func (c *Chaos) mend() {
	_ = c.host.sim.SetLimits(c.limits) // they were right before
	c.trap.reopen(c.host.sim.Stats().Repeated)
}

// report says on the console what went wrong off its loop; nil = nothing did.
func (c *Chaos) report(err error) {
	if err != nil && c.stage.ctx.Err() == nil {
		c.stage.note(engine.LevelErr, err.Error())
	}
}

// Inject implements session.Chaos.
func (c *Chaos) Inject(ctx context.Context, ask chaos.Ask) (string, error) {
	if ask.Name == "" {
		c.clear()
		return "all that was injected is ended", nil
	}
	m := mischiefOf(ask.Name)
	if m == nil || !slices.Contains(c.rows, m) {
		return "", engine.Problemf(engine.ErrNotFound, "", "there is no fault %q", ask.Name)
	}
	// A simulator that another process serves is not ours to break.
	if m.simulated() && !c.host.serves.Load() {
		return "", engine.Problemf(engine.ErrRefused, "inject it there", "the simulated Riot is in the demo that was started first")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case ask.Off:
		c.off(m)
		return m.name + " is ended", nil
	case m.preset:
		return c.start(m)
	case ask.Rate > 0:
		return c.rate(m, ask.Rate)
	}
	return c.strikeOnce(m)
}

// mischiefOf is the row of a name; nil = there is none.
func mischiefOf(name string) *mischief {
	for i := range mischiefs {
		if mischiefs[i].name == name {
			return &mischiefs[i]
		}
	}
	return nil
}

// injected is what was asked of a row. The caller holds the lock.
func (c *Chaos) injected(m *mischief) *injected {
	r := c.asked[m.name]
	if r == nil {
		r = &injected{}
		c.asked[m.name] = r
	}
	return r
}

// start begins a preset.
func (c *Chaos) start(m *mischief) (string, error) {
	r := c.injected(m)
	switch m.name {
	// Any other key works: the simulator refuses those that it knows.
	case keyExpires:
		c.refused, r.on = c.key(), true
		c.host.sim.ExpireKeys()
		return "the key has expired: replace it by any RGAPI-uuid", nil
	case restartAt:
		return c.setTrap()
	case killMember:
		return c.kill()
	case pagerCalls:
		return c.setPages()
	}
	// A preset that is begun again starts its time anew.
	c.host.sim.Remove(m.rated())
	if err := c.inject(m, 0); err != nil {
		return "", err
	}
	// The simulator's clock goes faster by the demo's speed, and so does the scene.
	lasts := time.Duration(float64(m.lasts) / c.speed)
	r.on, r.until = true, time.Now().Add(lasts)
	return fmt.Sprintf("%s begins, for %s", m.name, lasts), nil
}

// inject gives the simulator the faults of a row, in front of those that it has: what the operator
// asks for strikes before the demo's own.
func (c *Chaos) inject(m *mischief, rate float64) error {
	for _, f := range m.plan(rate) {
		if err := c.host.sim.InjectFirst(f); err != nil {
			return err
		}
	}
	return nil
}

// setTrap arms the restart; the demo begins anew if its account is past the mark.
func (c *Chaos) setTrap() (string, error) {
	// One trap at a time: its kill would have no engine to fall on.
	if _, on := c.trap.status(); on {
		return "", engine.Problemf(engine.ErrConflict, "", "the restart is under way already")
	}
	_, _, late := c.trap.late()
	if err := c.host.sim.SetLimits(fallLimits); err != nil {
		return "", err
	}
	// Still far enough from the mark, so nothing has to be thrown away.
	if !late {
		c.trap.arm(true)
		return fmt.Sprintf("armed: the engine is killed at %d; until then the limits are %s", fallAt, limitsText(fallLimits)), nil
	}
	if !c.soon(c.anew) {
		return "", errStarting
	}
	return "the demo begins anew, and is killed at " + strconv.Itoa(fallAt), nil
}

// errStarting is why what replaces or changes the engine is refused.
var errStarting = engine.Problemf(engine.ErrConflict, "wait a moment", "the engine is being started already")

// soon has Run do something; false when it has something to do already.
func (c *Chaos) soon(f func() error) bool {
	select {
	case c.todo <- func() { c.report(f()) }:
		return true
	default:
		return false
	}
}

// setPages lets alerts call the demo's telephone, and rings it.
func (c *Chaos) setPages() (string, error) {
	if !c.soon(c.page) {
		return "", errStarting
	}
	c.pages = true // before page can read it, which waits for the lock
	return "the pager rings a simulated telephone: see its calls in Jobs", nil
}

// page tells the engine whether alerts call anybody. What is in line when they do no more
// is cancelled.
func (c *Chaos) page() error {
	on := c.Pages()
	// Calls that are in line were asked for by alerts of before: nobody wants them any more.
	if err := c.stage.Engine().Page(c.stage.ctx, on); err != nil || on {
		return err
	}
	_, err := c.stage.Console().Do(c.stage.ctx, engine.Command{
		Op: engine.OpCancel, Select: &engine.Selection{Filter: &engine.JobFilter{Queue: pager.QueuePager}}, By: c.by, Reason: pagerCalls + " are ended",
	})
	return err
}

// Pages reports whether alerts call the demo's telephone, also that of an engine which is
// only being started.
func (c *Chaos) Pages() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pages
}

// anew begins the demo with an empty directory and sets the trap.
func (c *Chaos) anew() error {
	err := c.stage.anew("the demo begins anew in an empty directory", func() {
		c.host.sim.Reset()
		c.tally.forget()
		c.trap.forget()
		c.trap.arm(true)
	})
	if err != nil {
		return err
	}
	return c.begin(c.stage.ctx)
}

// limitsText writes application limits as Riot's headers do: "20:1,100:120".
func limitsText(l sim.Limits) string {
	var texts []string
	for _, one := range l.App {
		texts = append(texts, one.String())
	}
	return strings.Join(texts, ",")
}

// rate strikes a share of all calls from now on.
func (c *Chaos) rate(m *mischief, percent float64) (string, error) {
	if m.preset {
		return "", engine.Problemf(engine.ErrInvalid, "start it without one", "%s takes no rate", m.name)
	}
	c.host.sim.Remove(m.rated())
	c.injected(m).rate = percent
	if err := c.inject(m, percent); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s strikes %s of all %s", m.name, rateText(percent), cmp.Or(m.strikes(), "calls")), nil
}

// rateText is a rate as people read it.
func rateText(percent float64) string {
	return strconv.FormatFloat(percent, 'g', 4, 64) + " %"
}

// strikes is what a row strikes, where that is no call.
func (m *mischief) strikes() string {
	switch m.name {
	case slowDisk:
		return "commits"
	case workerCrash:
		return "attempts"
	}
	return ""
}

// strikeOnce strikes the next call that fits.
// Asked twice before it has struck, it strikes twice.
func (c *Chaos) strikeOnce(m *mischief) (string, error) {
	r := c.injected(m)
	r.pending = max(r.pending, c.tally.total(m.once()).Hits) + 1
	if err := c.inject(m, 0); err != nil {
		return "", err
	}
	return m.name + " is injected once", nil
}

// off ends a row. The caller holds the lock.
func (c *Chaos) off(m *mischief) {
	c.host.sim.Remove(m.rated(), m.once())
	r := c.injected(m)
	r.rate, r.on, r.until, r.pending = 0, false, time.Time{}, 0
	switch m.name {
	case keyExpires:
		c.host.sim.RenewKeys()
		c.refused = ""
	case pagerCalls:
		if c.pages {
			c.pages = false
			c.soon(c.page) // else an engine is being started, which knows
		}
	case restartAt:
		c.trap.arm(false)
		_ = c.host.sim.SetLimits(c.limits) // they were right before
	}
}

// clear ends every row that is on.
func (c *Chaos) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.rows {
		if c.row(m).On {
			c.off(m)
		}
	}
}

// Stall is the slow disk: it comes before every commit.
func (c *Chaos) Stall() {
	c.mu.Lock()
	m := mischiefOf(slowDisk)
	r := c.injected(m)
	c.commits++
	wait, name := time.Duration(0), ""
	switch {
	case r.pending > c.tally.total(m.once()).Hits:
		wait, name = 2*time.Second, m.once()
	case c.chosen(m, r.rate, strconv.Itoa(c.commits)):
		wait, name = 400*time.Millisecond, m.rated()
	}
	// Counted before the wait, which is not under the lock: other commits are counted meanwhile.
	c.stalled += wait
	c.mu.Unlock()
	if wait > 0 {
		c.tally.hit(name)
		await.Pause(c.stage.ctx, wait)
	}
}

// Spoil is the worker crash: the handler of a chosen attempt panics in place of its
// work, and what follows is what follows on every panic. life ends when the engine is
// killed, and with it what it has in hand.
func (c *Chaos) Spoil(life context.Context) func(engine.KindSpec) engine.KindSpec {
	return func(k engine.KindSpec) engine.KindSpec {
		work := k.Handler
		k.Handler = func(ctx context.Context, r engine.Run) engine.Outcome {
			if c.crashes(r.Job) {
				panic("the chaos panel crashed this worker")
			}
			ctx, stop := context.WithCancelCause(ctx)
			defer stop(nil)
			defer context.AfterFunc(life, func() { stop(context.Cause(life)) })()
			return work(ctx, r)
		}
		return k
	}
}

// crashes reports whether an attempt is to crash.
func (c *Chaos) crashes(j engine.Job) bool {
	c.mu.Lock()
	m := mischiefOf(workerCrash)
	r, name := c.injected(m), ""
	switch {
	case r.pending > c.tally.total(m.once()).Hits:
		name = m.once()
	case c.chosen(m, r.rate, j.Key+" "+strconv.Itoa(j.Attempts)):
		name = m.rated()
	}
	if name != "" {
		c.tally.strike(name, thingOfJob(j.Key))
	}
	c.mu.Unlock()
	return name != ""
}

// chosen draws from the seed, the row and the thing: the same again in every run.
func (c *Chaos) chosen(m *mischief, percent float64, thing string) bool {
	if percent <= 0 {
		return false
	}
	// The same seed strikes the same attempts, so that a demo can be shown again.
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d/%s/%s", c.seed, m.name, thing)
	x := h.Sum64() // the low bits of FNV alone are poor
	return float64((x^x>>32)*0x9E3779B97F4A7C15>>40)/(1<<24) < percent/100
}
