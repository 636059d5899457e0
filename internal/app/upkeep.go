package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/keep"
)

// keeper does what a store needs while the engine runs: backups, and retention
// if the operator has configured one.
type keeper struct {
	db interface {
		DropExpired(ctx context.Context, keep league.Span, now time.Time, dryRun bool) ([]storage.DroppedMonth, error)
	}
	files  *storage.DB // nil = a server is copied by its own means
	log    zerolog.Logger
	every  time.Duration    // between two backups; 0 = none
	keep   league.Span      // of payloads; off = for ever
	failed func(why string) // that a backup failed; "" = one did not
	// agreed reports whether Riot's clock was heard and says the same as this machine's.
	agreed func() bool
}

// keeperLook is how often the keeper looks at the wall clock, so that a machine
// that slept catches up soon. It begins with a pause: a start has more urgent
// work, and a short run needs no backup.
const keeperLook = 10 * time.Minute

// Run works until ctx ends. What fails is logged and tried again at the next
// look: the engine does not depend on it.
func (k keeper) Run(ctx context.Context) error {
	var dropped time.Time
	for {
		if !await.Pause(ctx, keeperLook) {
			return nil
		}
		if k.due() {
			k.backup(ctx)
		}
		if now := time.Now(); now.Sub(dropped) > 24*time.Hour && !k.keep.Off() && k.agreed() {
			// Asked for only while Riot's clock confirms this machine's: what a wrong one deletes is lost.
			dropped = now
			if _, err := k.db.DropExpired(ctx, k.keep, now, false); err != nil && ctx.Err() == nil {
				k.log.Error().Err(err).Msg("retention of payloads failed")
			}
		}
	}
}

// due reports whether the newest backup is too old. One from the future counts
// as old too: a clock was put back.
func (k keeper) due() bool {
	if k.every <= 0 || k.files == nil {
		return false
	}
	list, err := keep.Backups(keep.BackupsDir(k.files.Dir()))
	if err != nil {
		k.log.Warn().Err(err).Msg("could not look at the backups")
		return false
	}
	// The newest that counts: neither one that cannot be used, nor one that was made for another
	// reason, such as before a restore, which its note says.
	for _, b := range list {
		if b.Problem == "" && b.Note == "" {
			return time.Since(b.Taken).Abs() > k.every
		}
	}
	return true
}

// backup makes one of the usual number in the usual folder. What fails is logged: the store is as it
// was.
func (k keeper) backup(ctx context.Context) {
	r, err := k.files.Backup(ctx, keep.BackupOptions{Verify: verifyCopy})
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		k.log.Error().Err(err).Msg("the scheduled backup failed")
		k.failed(err.Error())
		return
	}
	k.log.Info().Str("path", r.Path).Int64("bytes", r.Copied).Dur("took", human.Logged(r.Took)).Msg("backup made")
	failed := ""
	for month, why := range r.Failed {
		k.log.Error().Str("month", month).Str("err", why).Msg("payloads have no new copy")
		failed = "the payloads of " + month + " have no new copy: " + why
	}
	k.failed(failed)
}

// upkeep does on a running engine what `farsight backup` and `farsight prune` do
// on a directory that no engine holds.
type upkeep struct {
	db  *store
	cfg config.Config
}

// mostBackups is how many backups may be kept.
const mostBackups = 1000

// Backup implements control.Upkeep. The folder is one of the engine's host.
func (u upkeep) Backup(ctx context.Context, ask engine.BackupAsk, tell func(done, total int64)) (engine.BackupDone, error) {
	if err := needsFiles(u.cfg, "backup"); err != nil {
		return engine.BackupDone{}, err
	}
	// A relative path would be meant from where the operator stands, and taken from where the engine
	// does.
	if ask.To != "" && !filepath.IsAbs(ask.To) {
		return engine.BackupDone{}, engine.Problemf(engine.ErrInvalid, "write it from / on", "the folder of the backups %q is no absolute path", ask.To)
	}
	if ask.Keep < 0 || ask.Keep > mostBackups {
		return engine.BackupDone{}, engine.Problemf(engine.ErrInvalid, "keep 1 to 1000, or 0 for as many as usual", "%d backups cannot be kept", ask.Keep)
	}
	r, err := u.db.Backup(ctx, keep.BackupOptions{To: ask.To, Keep: ask.Keep, StateOnly: ask.StateOnly, Verify: verifyCopy, Progress: tell})
	if err != nil {
		return engine.BackupDone{}, notBackedUp(err)
	}
	return r, nil
}

// notBackedUp tells what stands in the way of a backup from what is wrong with the
// store.
func notBackedUp(err error) error {
	_, held := errors.AsType[*storage.ErrHeld](err)
	_, unusable := errors.AsType[*storage.ErrUnusable](err)
	switch {
	case held:
		return engine.Problemf(engine.ErrRefused, "wait for its end", "another backup to the same folder is under way")
	case unusable, noRoom(err):
		return engine.Problemf(engine.ErrRefused, "", "%v", err)
	}
	return engine.Problemf(engine.ErrBroken, "", "the backup failed: %v", err)
}

// Compact implements control.Upkeep.
func (u upkeep) Compact(ctx context.Context, ask engine.CompactAsk, dry bool, tell func(done, total int64)) (engine.CompactDone, error) {
	if err := needsFiles(u.cfg, "compact"); err != nil {
		return engine.CompactDone{}, err
	}
	if err := archivable(ask); err != nil {
		return engine.CompactDone{}, err
	}
	return u.db.CompactMonths(ctx, keep.CompactOptions{DryRun: dry, Verify: verifyCopy, Archive: keep.ArchiveOptions{
		Months: ask.Months, Workers: ask.Workers, Progress: func(p keep.ArchiveProgress) { tell(p.Before, p.Bytes) },
	}})
}

// archivable refuses what is no month, and more workers than make sense.
func archivable(ask engine.CompactAsk) error {
	for _, m := range ask.Months {
		if _, err := time.Parse("2006-01", m); err != nil {
			return engine.Problemf(engine.ErrInvalid, "write 2026-11", "%q is no month", safe.Text(m))
		}
	}
	if ask.Workers < 0 || ask.Workers > 256 {
		return engine.Problemf(engine.ErrInvalid, "use 1 to 256, or 0 for as many as usual", "%d workers are out of range", ask.Workers)
	}
	return nil
}

// Prune implements control.Upkeep.
func (u upkeep) Prune(ctx context.Context, ask *engine.PruneAsk, dry bool) (engine.PruneDone, error) {
	// Without a rule it is what the daily schedule does.
	rule := keepRule()
	if ask != nil {
		rule = *ask
	}
	if err := possible(rule); err != nil {
		return engine.PruneDone{}, err
	}
	return u.db.Prune(ctx, rule, wall.Now(), dry)
}

// possible refuses a rule that deletes what always stays, or what has not ended yet.
func possible(rule engine.PruneAsk) error {
	if rule.KeepFailed < fewestFailed {
		return engine.Problemf(engine.ErrInvalid, "", "keep_failed %d is too few: the last %d failed jobs always stay", rule.KeepFailed, fewestFailed)
	}
	for _, age := range append(slices.Collect(maps.Values(rule.Classes)), rule.Completed, rule.Failed) {
		if age < 0 {
			return engine.Problemf(engine.ErrInvalid, "0 keeps them for ever", "%s is no age of jobs", age)
		}
	}
	return nil
}

// How jobs that ended are counted when old ones are deleted.
const (
	day          = 24 * time.Hour
	fewestFailed = 100 // of the failed jobs, the last ones stay whatever their age
)

// keepRule says how long ended jobs are kept (S4-2): what went well for a month,
// failures for a quarter of a year by the class of their error, and the last
// hundred failures for ever. A 404 says no more than its match does; what broke the
// engine is evidence for longer.
func keepRule() engine.PruneAsk {
	return engine.PruneAsk{
		Completed: 30 * day, Failed: 90 * day, KeepFailed: fewestFailed,
		Classes: map[engine.Class]time.Duration{"404": 30 * day, "crash": 365 * day, "panic": 365 * day, "undecodable": 365 * day},
	}
}

// pruner is what the daily schedule does.
func pruner(db *store) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		r, err := db.Prune(ctx, keepRule(), wall.Now(), false)
		return r.Text(false), err
	}
}

// compacter is what the nightly schedule does, on one core; nil = the store has no months of its own.
func compacter(db *store) func(context.Context) (string, error) {
	if db.server != nil {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		r, err := db.CompactMonths(ctx, keep.CompactOptions{Verify: verifyCopy})
		return r.Text(false), err
	}
}

// forgetLook is how often an engine looks for what is half deleted.
const forgetLook = time.Minute

// forgetLate goes on with what a crash, or a caller who has left, has left half deleted. What fails is logged and tried
// again at the next look.
func (p *parts) forgetLate(ctx context.Context) error {
	for {
		err := p.store.FinishForgotten(ctx, func(storage.Forgotten) {})
		if err != nil && ctx.Err() == nil {
			p.log.Error().Err(err).Msg("an account could not be deleted wholly; it is tried again")
		}
		if !await.Pause(ctx, forgetLook) {
			return nil
		}
	}
}

// mistyped takes accounts away that were made for a sync, and that Riot does not know, or
// not on that platform, whoever asked for the sync. The row stays as FAILED, with the
// reason, for as long as the account may not be synced again: consoles and programs read it
// there, and a look at its stats makes no call to Riot.
type mistyped struct {
	console engine.Console
	wait    time.Duration

	mu     sync.Mutex
	failed map[string]time.Time // account -> when its sync failed
}

// Times of looking for mistyped accounts.
const (
	mistypedLook  = time.Minute
	mistypedLeast = time.Minute // that the row is there, also without a cooldown
)

// newMistyped makes one that leaves an account's row for the cooldown of its syncs.
func newMistyped(cooldown time.Duration) *mistyped {
	return &mistyped{wait: max(cooldown, mistypedLeast), failed: map[string]time.Time{}}
}

// Publish notes the syncs that have failed in one commit. It never blocks.
func (m *mistyped) Publish(changes []engine.Change) {
	for i := range changes {
		if a := changes[i].Account; a != nil {
			m.note(a)
		}
	}
}

// note remembers a failed sync, or forgets about it once the account has become one to keep.
func (m *mistyped) note(a *engine.AccountRow) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !neverSynced(a):
		delete(m.failed, a.ID)
	case m.failed[a.ID].IsZero():
		m.failed[a.ID] = time.Now()
	}
}

// neverSynced reports whether nothing but a sync that failed is known of an account.
func neverSynced(a *engine.AccountRow) bool {
	return a.Status == engine.SyncFailed && !a.Tracked && a.LastSync.IsZero()
}

// Run implements control.Runner. It finds those of earlier engines, too.
func (m *mistyped) Run(ctx context.Context) error {
	// The pause comes first: the console that is asked is wired by then.
	for first := true; await.Pause(ctx, mistypedLook); first = false {
		if first {
			m.find(ctx)
		}
		for _, id := range m.due() {
			forgetMistyped(ctx, m.console, id, engine.Actor{User: engine.ByEngine, Via: "engine"})
		}
	}
	return nil
}

// find notes what failed before this start, whose wait begins anew.
func (m *mistyped) find(ctx context.Context) {
	for a, err := range engine.Accounts(ctx, m.console, engine.AccountsQuery{Page: engine.Page{Limit: engine.LargestPage}}) {
		if err == nil {
			m.note(&a)
		}
	}
}

// due takes out those that have stood for long enough.
func (m *mistyped) due() (ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, since := range m.failed {
		if time.Since(since) >= m.wait {
			ids = append(ids, id)
			delete(m.failed, id)
		}
	}
	return ids
}

// forgetMistyped takes an account away if it was mistyped. If it cannot be taken away it
// stays as FAILED.
func forgetMistyped(ctx context.Context, c engine.Console, id string, by engine.Actor) {
	d := found[engine.AccountDetail](ctx, c, engine.AccountQuery{ID: id})
	// Asked again: meanwhile somebody may have tracked it. An identity means that Riot has known it
	// once.
	if !neverSynced(&d.Row) || len(d.Identity) > 0 {
		return
	}
	job := found[engine.JobDetail](ctx, c, engine.JobQuery{ID: d.Row.Job})
	// Any other failure, such as a refused key, says nothing about the name.
	if job.Job.Class != riot.ClassMissing && job.Job.Class != ingest.ClassPlatform {
		return
	}
	_, _ = c.Do(ctx, engine.Command{Op: engine.OpForget, Account: d.Row.ID, Reason: "Riot knows no such account", By: by})
}

// found gives the answer to a query; its zero value when there is none.
func found[T any](ctx context.Context, c engine.Console, q engine.Query) T {
	answer, _ := engine.Ask[T](ctx, c, q)
	return answer
}

// runSelf runs a command of this program in a process of its own, which a damaged page of the file or
// directory at path may end: that is *storage.Damaged. It gives what the command said and its exit
// code; err says why there is none.
func runSelf(ctx context.Context, path string, complaints io.Writer, args ...string) (said []byte, code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, 0, fmt.Errorf("start the check of %s: %w", path, err)
	}
	child := exec.CommandContext(ctx, self, args...)
	// What the child complains of goes to whoever asked for the check; what it found is on its standard
	// output, and read here.
	child.Stderr = complaints
	said, err = child.Output()
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return said, exitDone, nil
	case ctx.Err() != nil:
		return said, 0, context.Cause(ctx)
	case !failed:
		return said, 0, fmt.Errorf("check %s: %w", path, err)
	// Ended by a signal. SIGBUS is what a page does that the file promises and the disk cannot give.
	case exit.ExitCode() < 0:
		return said, 0, &storage.Damaged{Path: path, Why: "reading it ended the process (" + exit.String() + ")"}
	}
	return said, exit.ExitCode(), nil
}

// verifyCopy proves a copy in a child process, which a damaged page may end.
func verifyCopy(ctx context.Context, path string) error {
	said, code, err := runSelf(ctx, path, os.Stderr, checkCopy, path)
	switch {
	case err != nil || code == exitDone:
		return err
	case code == exitIncomplete && len(said) > 0:
		return &storage.Damaged{Path: path, Why: string(said)}
	}
	return fmt.Errorf("check %s: exit status %d", path, code)
}

// checkCopy is the hidden command that reads one database file to its last
// record. Like check-pages it runs as a process of its own.
const checkCopy = "check-copy"
