package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/keep"
	"github.com/farsight-console/farsight/ui/cli"
)

// forgetCommand makes `farsight forget`, the one command whose effect nothing in the program takes
// back.
func forgetCommand() commandDecl {
	return commandDecl{
		use: "forget 'Name#TAG'", group: groupData, short: "Delete all that is stored of a player, for good",
		long: "Deletes an account with its syncs, jobs, attempts, reports and ranks, and the matches\n" +
			"and timelines that no other stored account has. Matches that others have stay; the\n" +
			"player's seat in them has no name any more, but Riot's JSON of them is as it was.\n" +
			"Of the last calls, and of what speaks for an alert, nothing says any more whose it was.\n" +
			"Waiting jobs of the account are cancelled; while one runs it is refused.\n\n" +
			"It cannot be undone. The space is given back at once, but the old bytes are gone from\n" +
			"the files only after `farsight compact`, which leaves the payloads of a month that is\n" +
			"not over unless --month names it; on PostgreSQL after `vacuumdb --full`. Backups,\n" +
			"exports, the log and audit entries from before keep what they have, and so do stores\n" +
			"that `restore` and `reset` moved aside.\n" +
			"The audit tells that it was done, and names a sum of the player's id.\n\n" +
			"Of accounts of one name on several platforms it takes the one on --platform. Players of\n" +
			"collections go, too, by the PUUID or Riot ID that they were listed by: with what was\n" +
			"collected of them alone, once their collections have ended or are cancelled. A whole\n" +
			"collection goes by `farsight collections --forget NAME`.\n\n" +
			"On a terminal it asks for the account's name; elsewhere it wants --yes.",
		example: "farsight forget 'Name#TAG' --platform euw1 --dry-run",
		args:    oneAccount, complete: onlyFirst(completeAccounts),
		yes: true, reason: "why; kept in the audit, so do not name the player",
		run: func(ctx context.Context, g given) error {
			// Before anything is opened: a name without its tag could be half of several.
			if err := riotID(g.args[0]); err != nil && !puuidForm.MatchString(g.args[0]) {
				return err
			}
			// A platform of "" is the only one that the account is on; of several the engine asks for one.
			return g.forget(ctx, g.args[0], engine.Command{
				Op: engine.OpForget, Account: g.args[0], Sync: engine.SyncAsk{Platform: g.cfg.Platform}})
		},
	}.acting()
}

// forget lets the engine that holds the directory forget what is named, else does it itself: it asks what would go, then
// the operator, and then does it.
func (g given) forget(ctx context.Context, what string, order engine.Command) error {
	return commanding(ctx, g.cfg, mustBeThere, func(ctx context.Context, c engine.Console, own *parts) error {
		late := 0
		if own != nil && !g.dry {
			// First what was interrupted: that may be the account that is named now, which has no name any more.
			err := own.store.FinishForgotten(ctx, func(f storage.Forgotten) {
				if late++; !g.out.JSON {
					// Of its name nothing is left: the first signs of a sum of its id are what the audit has, too.
					_, _ = fmt.Fprintf(g.out.W, "%s, which was half deleted, is gone now: %s\n", f.Done.Target(), f.Done.Text(false))
				}
			})
			if err != nil {
				return err
			}
		}
		var refused error // by the operator
		r, err := g.planned(ctx, c, order, func(r engine.Receipt) error {
			does := "forget deletes what is stored of " + safe.Text(what) + " for good"
			refused = g.confirm(what, r.Text+"; it cannot be undone", does, "nothing was deleted")
			return refused
		})
		switch {
		case refused != nil:
			return refused
		// It was the one that was half deleted: what was asked for has been done.
		case late > 0 && errors.Is(err, engine.ErrNotFound):
			return nil
		case err != nil:
			return leftOr(ctx, err)
		}
		return cli.Acted(g.out, r, g.dry, "")
	})
}

// pruneFlags are the flags of `farsight prune`.
// Ages are text, because time.ParseDuration knows no days.
type pruneFlags struct {
	completed, failed string
	classes           []string // "404=10d"
	keep              int
}

// pruneCommand makes `farsight prune`, which is the daily run of the engine, given by hand.
func pruneCommand() commandDecl {
	var o pruneFlags
	least := strconv.Itoa(fewestFailed)
	return commandDecl{
		use: "prune", group: groupData, short: "Delete jobs that ended long ago, with their attempts; matches and accounts stay",
		long: "Deletes jobs that ended long ago, with their attempts. Matches, accounts and the sums\n" +
			"of each day stay, and so do the last " + least + " failed jobs, jobs that others wait for and\n" +
			"those that an account still shows. The engine does this once a day by itself, with\n" +
			"the defaults.\n\n" +
			"Ages are whole numbers with h, d, w or y; 0 keeps for ever. --class wins over\n" +
			"--failed for an error class of `farsight jobs --classes`; 404 stands for 404.x, too.",
		example: "farsight prune --completed 30d --dry-run",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.completed, "completed", "", "age from which completed jobs go (default 30d)")
			f.StringVar(&o.failed, "failed", "", "age from which discarded and cancelled jobs go (default 90d)")
			f.StringSliceVar(&o.classes, "class", nil, "age for an error class, such as 404=10d; may be given more than once")
			f.IntVar(&o.keep, "keep", fewestFailed, "newest failed jobs that stay whatever their age, at least "+least)
		},
		run: func(ctx context.Context, g given) error {
			rule, err := o.rule()
			if err != nil {
				return err
			}
			return g.prune(ctx, rule)
		},
	}.acting()
}

// rule is the default one with what the flags change.
func (o pruneFlags) rule() (engine.PruneAsk, error) {
	r := keepRule()
	if o.keep < fewestFailed {
		return r, usagef("--keep %d is too few: the last %d failed jobs always stay", o.keep, fewestFailed)
	}
	r.KeepFailed = o.keep
	for _, f := range []struct {
		flag, value string
		to          *time.Duration
	}{{"completed", o.completed, &r.Completed}, {"failed", o.failed, &r.Failed}} {
		// Not given: the default rule's age stays.
		if f.value == "" {
			continue
		}
		age, err := parseAge(f.value)
		if err != nil {
			return r, usagef("--%s %v", f.flag, err)
		}
		*f.to = age
	}
	for _, c := range o.classes {
		// "404=10d"
		class, text, ok := strings.Cut(c, "=")
		age, err := parseAge(text)
		if !ok || class == "" || err != nil {
			return r, usagef("--class %q is no class and age: write 404=10d", safe.Text(c))
		}
		// A class of the default rule may be given anew, too.
		r.Classes[engine.Class(class)] = age
	}
	return r, nil
}

// ageUnits are what an age may be counted in.
var ageUnits = map[byte]time.Duration{'h': time.Hour, 'd': day, 'w': 7 * day, 'y': 365 * day}

// mostAge is the greatest age that can be asked for. Beyond 292 years a time.Duration runs over, and
// 585y would be three weeks.
const mostAge = 100 * 365 * day

// parseAge reads a whole number with a unit; 0 is 0.
func parseAge(s string) (time.Duration, error) {
	if s == "0" {
		return 0, nil
	}
	// Without a unit 30 could be days or hours: that is asked back, not guessed.
	bad := fmt.Errorf("%q is no age: write 12h, 30d, 6w or 1y, or 0 for ever", safe.Text(s))
	if s == "" {
		return 0, bad
	}
	// "30d": the last letter is the unit.
	unit, ok := ageUnits[s[len(s)-1]]
	n, err := strconv.Atoi(s[:len(s)-1])
	if !ok || err != nil || n < 0 {
		return 0, bad
	}
	// Bounded before the multiplication, which would run over.
	if n > int(mostAge/unit) {
		return 0, fmt.Errorf("%q is more than 100y: write 0 for ever", safe.Text(s))
	}
	return time.Duration(n) * unit, nil
}

// prune lets the engine that holds the directory delete old jobs, else does it itself.
func (g given) prune(ctx context.Context, rule engine.PruneAsk) error {
	// Said before an engine is looked for: without a store there is none.
	if !hasStore(g.cfg) {
		return errNothingStored(g.cfg)
	}
	var r engine.PruneDone
	err := through(ctx, g.cfg, func(c *api.Client) (err error) {
		r, err = reported(ctx, c, g.by(engine.Command{Op: engine.OpPrune, Prune: &rule}), func(r engine.Receipt) *engine.PruneDone { return r.Prune })
		return err
	}, func() (err error) {
		// For reading: to count nothing must be written, on a disk that is full, say.
		if g.dry {
			db, err := openStored(g.cfg)
			if err != nil {
				return err
			}
			r, err = db.Prune(ctx, rule, wall.Now(), true)
			return errors.Join(err, db.Close())
		}
		return onDirectory(ctx, g.cfg, func(ctx context.Context, p *parts) (err error) {
			if r, err = p.store.Prune(ctx, rule, wall.Now(), false); err != nil {
				return err
			}
			// An engine notes it in the audit by itself.
			_, err = operation.AddAudit(ctx, p.store, engine.AuditEntry{
				At: wall.Now(), By: operator("cli"), Op: engine.OpPrune, Target: "jobs", Result: r.Text(false),
				// Spared are those that were old enough and stay for another reason.
				Matched: r.Completed + r.Failed + r.Spared, Applied: r.Completed + r.Failed,
			})
			return err
		})
	})
	if err != nil {
		return err
	}
	return cli.Report(g.out, r, func(r engine.PruneDone, out cli.Out) error {
		_, _ = fmt.Fprintln(out.W, r.Text(g.dry))
		// A line for each error class, those with the most jobs first; those of one count by their names, so that two runs
		// print the same.
		byCount := func(a, b engine.Class) int {
			return cmp.Or(r.Classes[b]-r.Classes[a], strings.Compare(string(a), string(b)))
		}
		for _, class := range slices.SortedFunc(maps.Keys(r.Classes), byCount) {
			if _, err := fmt.Fprintf(out.W, "  %s: %d\n", cmp.Or(safe.Text(string(class)), "no error (cancelled)"), r.Classes[class]); err != nil {
				return err
			}
		}
		return nil
	})
}

// resetCommand makes `farsight reset`. It writes new files in the place of those of the store, and so
// needs the directory for itself.
func resetCommand() commandDecl {
	var opt keep.ResetOptions
	return commandDecl{
		use: "reset", group: groupData, short: "Begin anew with an empty store; what was stored is moved aside",
		long: "Begins a new, empty store. What was stored, state.db and payload/, goes into the folder\n" +
			"before-reset-<time> of the data directory, which is a data directory by itself:\n" +
			"`farsight accounts --data-dir` with its path shows what is in it. With --no-backup it\n" +
			"is deleted for good.\n\n" +
			"Configuration, themes, the key, the log and the backups stay. The new store's audit\n" +
			"says that it was done. No engine may hold the directory.\n\n" +
			"On a terminal it asks for the name of the data directory; elsewhere it wants --yes.",
		example: "farsight reset --dry-run",
		yes:     true, reason: "why; kept in the new store's audit",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&opt.NoBackup, "no-backup", false, "delete what was stored instead of moving it aside")
		},
		run: func(ctx context.Context, g given) error {
			if err := needsFiles(g.cfg, "reset"); err != nil {
				return err
			}
			opt.Reason = g.reason
			return g.reset(ctx, opt)
		},
	}.acting()
}

// reset says what would go, asks, and then does it.
func (g given) reset(ctx context.Context, opt keep.ResetOptions) error {
	opt.By, opt.Forget = operator("cli"), []string{traffic.LimiterState} // counts of another time: the windows count as full
	do := func(dry bool) (r keep.ResetReport, err error) {
		// It is too fast to be interrupted, but for between the question and the deed.
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		opt.DryRun = dry
		r, err = storage.Reset(inDirectory(g.cfg), opt)
		// A directory without a store: there is nothing to begin anew.
		if errors.Is(err, fs.ErrNotExist) {
			return r, errNothingStored(g.cfg)
		}
		return r, toEnd("reset", err)
	}
	// The same code, dry: what is asked about is what will be done.
	r, err := do(true)
	if err == nil && !g.dry {
		// What is shown on a terminal, and what the error says elsewhere.
		would, does := r.Text(), "reset moves the store of "+safe.Text(g.cfg.DataDir)+" aside"
		if opt.NoBackup {
			would, does = would+"; it cannot be undone", "reset deletes the store of "+safe.Text(g.cfg.DataDir)+" for good"
		}
		// "." would be a poor word to type.
		if err := g.confirm(filepath.Base(g.cfg.Folder()), would, does, "nothing was changed"); err != nil {
			return err
		}
		r, err = do(false)
	}
	if err != nil {
		return err
	}
	return cli.Report(g.out, r, func(r keep.ResetReport, out cli.Out) error {
		line := r.Text()
		if !r.DryRun {
			line += "; " + r.Dir + " begins anew"
		}
		_, err := fmt.Fprintln(out.W, safe.Text(line))
		return err
	})
}
