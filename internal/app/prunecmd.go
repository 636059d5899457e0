package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/ui/cli"
)

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
			"Ages are whole numbers with h, d, w or y; 0 keeps for ever. --class overrules\n" +
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
	err := through(ctx, g.cfg, func(c *api.Client) error {
		told, err := c.Do(ctx, g.by(engine.Command{Op: engine.OpPrune, Prune: &rule}))
		switch {
		case err != nil:
			return leftOr(ctx, err)
		// An engine of another version may take the command and answer in other words.
		case told.Prune == nil:
			return errNoReport
		}
		r = *told.Prune
		return nil
	}, func() (err error) {
		prune := pruneUnheld
		if g.dry {
			prune = wouldPrune
		}
		r, err = prune(ctx, g.cfg, rule)
		return err
	})
	if err != nil {
		return err
	}
	return cli.Report(g.out, r, func(r engine.PruneDone, out cli.Out) error { return printPruned(r, g.dry, out) })
}

// wouldPrune counts what would go, on a directory that is opened for reading.
func wouldPrune(ctx context.Context, cfg config.Config, rule engine.PruneAsk) (engine.PruneDone, error) {
	// For reading: to count nothing must be written, on a disk that is full, say.
	db, err := openStored(cfg)
	if err != nil {
		return engine.PruneDone{}, err
	}
	r, err := db.Prune(ctx, rule, wall.Now(), true)
	return r, errors.Join(err, db.Close())
}

// pruneUnheld prunes a directory on which no engine works, and notes it in the audit: with an engine
// that is done by the engine.
func pruneUnheld(ctx context.Context, cfg config.Config, rule engine.PruneAsk) (r engine.PruneDone, err error) {
	err = onDirectory(ctx, cfg, func(ctx context.Context, p *parts) (err error) {
		if r, err = p.store.Prune(ctx, rule, wall.Now(), false); err != nil {
			return err
		}
		return p.auditPrune(ctx, r)
	})
	return r, err
}

// auditPrune notes in the audit that an operator has pruned, and how many jobs went.
func (p *parts) auditPrune(ctx context.Context, r engine.PruneDone) error {
	return p.store.Write(ctx, func(tx engine.Tx) error {
		_, err := p.store.AddAudit(tx, engine.AuditEntry{
			At: wall.Now(), By: operator("cli"), Op: engine.OpPrune, Target: "jobs", Result: r.Text(false),
			// Spared are those that were old enough and stay for another reason.
			Matched: r.Completed + r.Failed + r.Spared, Applied: r.Completed + r.Failed,
		})
		return err
	})
}

// printPruned has a line for each error class, those with the most jobs first.
func printPruned(r engine.PruneDone, dry bool, out cli.Out) error {
	_, _ = fmt.Fprintln(out.W, r.Text(dry))
	// Those of one count by their names, so that two runs print the same.
	byCount := func(a, b engine.Class) int {
		return cmp.Or(r.Classes[b]-r.Classes[a], strings.Compare(string(a), string(b)))
	}
	for _, class := range slices.SortedFunc(maps.Keys(r.Classes), byCount) {
		name := cmp.Or(safe.Text(string(class)), "no error (cancelled)")
		// A line per class: "  404: 1203".
		if _, err := fmt.Fprintf(out.W, "  %s: %d\n", name, r.Classes[class]); err != nil {
			return err
		}
	}
	return nil
}
