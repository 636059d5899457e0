package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/keep"
	"github.com/farsight-console/farsight/ui/cli"
)

// checkCommand makes `farsight check`. Code 3 is for a damaged store alone, so that a script
// can tell it from a directory that could not be opened.
func checkCommand() commandDecl {
	var repair bool
	return commandDecl{
		use: "check", group: groupData, short: "Verify the data directory: exit 0 when it is sound, 3 when it is damaged",
		example: "farsight check && echo sound", json: "the findings as JSON",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&repair, "repair", false, "ask Riot for damaged payloads again, when an engine runs next")
		},
		run: func(ctx context.Context, g given) error { return g.check(ctx, repair) },
	}
}

// pageCheck is the hidden command that reads every page of every file. It runs as
// a process of its own, since a damaged page can end the process that reads it.
const pageCheck = "check-pages"

// checkReport is what `farsight check --json` prints.
type checkReport struct {
	Sound    bool              `json:"sound"`
	Path     string            `json:"path"`
	Findings []storage.Finding `json:"findings"`
	More     int               `json:"more_findings,omitempty"`
	Rows     map[string]int    `json:"rows,omitempty"`
	Payloads int               `json:"payloads"`
	Bytes    int64             `json:"payload_bytes"`
	Orphans  int               `json:"orphans"`
	Asked    []engine.JobID    `json:"asked_again,omitempty"` // keys of the jobs that fetch damaged payloads anew
	Refused  []string          `json:"refused,omitempty"`     // why others cannot be
}

// check verifies a data directory and changes nothing in it, unless what is damaged is to be repaired.
func (g given) check(ctx context.Context, repair bool) error {
	if !hasStore(g.cfg) {
		return errNothingStored(g.cfg)
	}
	// The pages first, in a child: reading a damaged one ends the process that does.
	if g.cfg.Store == "" {
		_, code, err := runSelf(ctx, g.cfg.DataDir, os.Stderr, pageCheck, "--data-dir", g.cfg.DataDir)
		if err == nil && code != exitDone { // it has said why
			err = &coded{code: code, quiet: true, err: fmt.Errorf("the page check of %s failed", g.cfg.DataDir)}
		}
		if err != nil {
			return err
		}
	}
	db, err := openStored(g.cfg)
	if err != nil {
		return err
	}
	r, err := db.Check(ctx)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	report := checkReport{Sound: r.Sound(), Path: storeName(g.cfg), Findings: r.Findings, More: r.More, Rows: r.Rows, Payloads: r.Payloads, Bytes: r.Bytes, Orphans: r.Orphans}
	if repair && !report.Sound {
		if err := report.repair(ctx, g.cfg); err != nil {
			return err
		}
	}
	if err := cli.Report(g.out, report, printCheck); err != nil {
		return err
	}
	asked := func(f storage.Finding) bool { return slices.Contains(report.Asked, keyOf(f)) }
	mended := r.More == 0 && !slices.ContainsFunc(r.Findings, func(f storage.Finding) bool { return !asked(f) }) // all that was found is fetched again
	if !report.Sound && !mended {
		return &coded{code: exitIncomplete, quiet: true, err: errors.New("the store is damaged")}
	}
	return nil
}

// repair forces the jobs of damaged payloads, as an operator would: they run when an engine does.
func (r *checkReport) repair(ctx context.Context, cfg config.Config) error {
	return onDirectory(ctx, cfg, func(ctx context.Context, p *parts) error {
		for _, f := range r.Findings {
			key := keyOf(f)
			if f.Match == "" || slices.Contains(r.Asked, key) {
				continue
			}
			_, err := p.control.Do(ctx, engine.Command{Op: engine.OpForce, Job: key, By: operator("cli"), Reason: "check --repair: its stored payload is damaged"})
			switch {
			case err == nil:
				r.Asked = append(r.Asked, key)
			case ctx.Err() != nil:
				return context.Cause(ctx)
			default:
				r.Refused = append(r.Refused, string(key)+": "+err.Error())
			}
		}
		return nil
	})
}

// keyOf is the key of the job that fetches a damaged payload.
func keyOf(f storage.Finding) engine.JobID { return engine.JobID(ingest.PartKey(f.Part, f.Match)) }

// printCheck has a line for each finding, such as
//
//	matches EUW1_7012345678: its payload is missing
//
// and one for the whole.
func printCheck(r checkReport, out cli.Out) error {
	for _, f := range r.Findings {
		_, _ = fmt.Fprintf(out.W, "%s %s: %s\n", safe.Text(f.Table), safe.Text(f.Key), safe.Text(f.Why))
	}
	if r.More > 0 {
		_, _ = fmt.Fprintf(out.W, "and %d more\n", r.More)
	}
	// The findings that are listed are bounded; the number is of all.
	word := "sound"
	if !r.Sound {
		word = fmt.Sprintf("damaged: %d findings; nothing was changed", len(r.Findings)+r.More)
	}
	for _, why := range r.Refused {
		_, _ = fmt.Fprintf(out.W, "not repaired: %s\n", safe.Text(why))
	}
	if len(r.Asked) > 0 {
		word = fmt.Sprintf("damaged: %d findings; %s fetched again when an engine runs", len(r.Findings)+r.More, human.Counted(len(r.Asked), "payload is", "payloads are"))
	}
	_, err := fmt.Fprintf(out.W, "%s is %s (%d matches, %d payloads, %d bytes of them)\n", r.Path, word, r.Rows["matches"], r.Payloads, r.Bytes)
	return err
}

// checkPagesCommand tells each finding on its standard error, which its parent passes on, and ends with
// code 3 when there is one.
func checkPagesCommand() commandDecl {
	return commandDecl{
		use: pageCheck, hidden: true,
		run: func(_ context.Context, g given) error {
			findings, err := storage.CheckFiles(inDirectory(g.cfg))
			if isHeld(err) {
				return fmt.Errorf("%w: while it runs, `farsight backup` copies it and `farsight check --data-dir BACKUP` verifies the copy", err)
			}
			if err != nil {
				return err
			}
			for _, f := range findings {
				_, _ = fmt.Fprintf(g.cmd.ErrOrStderr(), "%s: %s\n", safe.Text(f.Table), safe.Text(f.Why))
			}
			if len(findings) > 0 {
				return &storage.Damaged{Path: g.cfg.DataDir, Why: fmt.Sprintf("%d faults in its pages", len(findings))}
			}
			return nil
		},
	}
}

// checkCopyCommand says on standard output what is wrong with the file.
// It is a process of its own because bbolt maps the file: a damaged page may end whoever reads
// it with SIGBUS, which must not be the engine that makes the copy. [verifyCopy] starts it. A
// damaged copy ends with code 3 and its reason alone on standard output; any other failure is
// an error as of every command.
func checkCopyCommand() commandDecl {
	return commandDecl{
		use: checkCopy + " FILE", hidden: true, args: cobra.ExactArgs(1),
		bare: func(cmd *cobra.Command, args []string) error {
			err := keep.CheckCopy(cmd.Context(), args[0])
			if d, ok := errors.AsType[*storage.Damaged](err); ok {
				_, _ = fmt.Fprint(cmd.OutOrStdout(), d.Why)
				return &coded{code: exitIncomplete, quiet: true, err: err}
			}
			return err
		},
	}
}
