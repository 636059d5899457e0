package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/keep"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/cli"
)

// backupCommand makes `farsight backup`. It may be run at any time, from cron too: a directory
// that an engine holds is copied by that engine from one read transaction, so that nothing has
// to stop for it.
func backupCommand() commandDecl {
	var ask engine.BackupAsk
	var list bool
	return commandDecl{
		use: "backup", group: groupData, short: "Copy the data directory, verified; --list shows the copies",
		long: "Copies the data directory, verified; an engine that works on it goes on meanwhile.\n" +
			"`farsight check --data-dir` with the path of a copy verifies it once more.",
		example: "farsight backup --to /mnt/backup", json: "the report as JSON",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&ask.To, "to", "", "folder of the backups (default backup/ in the data directory); another disk is safer")
			f.IntVar(&ask.Keep, "keep", 7, "backups to keep; older ones are removed")
			f.BoolVar(&list, "list", false, "list the backups instead")
			f.BoolVar(&ask.StateOnly, "no-payloads", false, "copy the state only")
		},
		run: func(ctx context.Context, g given) error {
			if ask.Keep < 1 || ask.Keep > mostBackups {
				return usagef("--keep %d is out of range: keep 1 to %d backups", ask.Keep, mostBackups)
			}
			if err := needsFiles(g.cfg, "backup"); err != nil {
				return err
			}
			if list {
				return listBackups(g.cfg, ask.To, g.out)
			}
			return g.backup(ctx, ask)
		},
	}
}

// backup lets the engine that holds the directory copy it, else copies it itself: the directory is opened for reading
// only, which keeps an engine from starting on it until the copy is made.
func (g given) backup(ctx context.Context, ask engine.BackupAsk) error {
	var r engine.BackupDone
	bar := newByteBar(g.out, "backup")
	err := through(ctx, g.cfg, func(c *api.Client) (err error) {
		r, err = backupHeld(ctx, c, ask, bar)
		return err
	}, func() error {
		db, err := storage.OpenReadOnly(inDirectory(g.cfg))
		if err != nil {
			return err
		}
		r, err = db.Backup(ctx, keep.BackupOptions{To: ask.To, Keep: ask.Keep, StateOnly: ask.StateOnly, Verify: verifyCopy, Progress: bar.show})
		bar.end()
		return errors.Join(err, db.Close())
	})
	if err != nil {
		return err
	}
	if err := cli.Report(g.out, r, printBackup); err != nil {
		return err
	}
	// What could be copied is a good backup and has been printed; a script must still learn that
	// the payloads of some months are those of an older copy, or missing.
	if len(r.Failed) > 0 {
		return &coded{code: exitIncomplete, quiet: true, err: errors.New("some months could not be copied")}
	}
	return nil
}

// reported has an engine carry a command out whose receipt has a report.
func reported[T any](ctx context.Context, c *api.Client, cmd engine.Command, of func(engine.Receipt) *T) (done T, err error) {
	r, err := c.Do(ctx, cmd)
	if err != nil {
		return done, leftOr(ctx, err)
	}
	if of(r) == nil { // it may know the command by another meaning
		return done, errors.New("the engine has not told what it did: is it of the same version?")
	}
	return *of(r), nil
}

// backupHeld asks a running engine. A folder is named as seen from here.
func backupHeld(ctx context.Context, c *api.Client, ask engine.BackupAsk, bar *byteBar) (done engine.BackupDone, err error) {
	if to := ask.To; to != "" {
		// The engine has another working directory than the shell that asks.
		if ask.To, err = filepath.Abs(to); err != nil {
			return done, fmt.Errorf("find the folder %s: %w", to, err)
		}
	}
	// How far it is the engine tells by another request, on a connection beside this one.
	arrived := bar.follow(ctx, c)
	done, err = reported(ctx, c, engine.Command{Op: engine.OpBackup, Backup: &ask}, func(r engine.Receipt) *engine.BackupDone { return r.Backup })
	arrived()
	// The engine says that what it holds is damaged: the same code as `farsight check` has.
	if errors.Is(err, engine.ErrBroken) {
		err = &coded{code: exitIncomplete, err: err}
	}
	return done, err
}

// leftOr tells a command that was interrupted here from one that failed there.
func leftOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: the engine gives it up, too", context.Canceled)
	}
	return err
}

// printBackup says what was made, such as
//
//	/srv/farsight/backup/20261121T120000Z: verified, 4.3 MB written in 310 ms, 11 of 12 months unchanged since an earlier backup
//
// The backups of a folder share the copy of a month that has not changed between them.
func printBackup(r engine.BackupDone, out cli.Out) error {
	kept := human.If(r.Reused > 0, fmt.Sprintf(", %d of %s unchanged since an earlier backup", r.Reused, human.Counted(len(r.Months), "month", "months")))
	_, _ = fmt.Fprintf(out.W, "%s: verified, %s written in %s%s\n", safe.Text(r.Path), human.Bytes(r.Copied), r.Took.Round(10*time.Millisecond), kept)
	// A month that could not be copied keeps the copy of an earlier backup, if there is one.
	for month, why := range r.Failed {
		_, _ = fmt.Fprintf(out.W, "payloads of %s have no new copy: %s\n", month, safe.Text(why))
	}
	for _, name := range r.Removed {
		_, _ = fmt.Fprintf(out.W, "removed %s\n", safe.Text(name))
	}
	return nil
}

// backupsOf is the folder of a data directory's backups.
func backupsOf(cfg config.Config, to string) string {
	return cmp.Or(to, keep.BackupsDir(cfg.DataDir))
}

// listedBackup is one line of `farsight backup --list --json`.
type listedBackup struct {
	keep.Backup
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	AgeS    int64  `json:"age_s"`
	Problem string `json:"problem,omitempty"`
}

// listBackups lists those of a folder, the newest first. It opens no store, so that it works
// beside an engine and on a directory whose state.db cannot be opened, which is when it is
// needed most.
func listBackups(cfg config.Config, to string, out cli.Out) error {
	list, err := keep.Backups(backupsOf(cfg, to))
	if err != nil {
		return err
	}
	if len(list) == 0 && !out.JSON {
		_, err := fmt.Fprintf(out.W, "no backup in %s; `farsight backup` makes one\n", safe.Text(backupsOf(cfg, to)))
		return err
	}
	// Unusable ones are listed, too, with the reason: somebody counts on them.
	for _, b := range list {
		age := time.Since(b.Taken)
		if out.JSON {
			if err := cli.JSON(out, listedBackup{b, b.Path, b.Bytes(), int64(age.Seconds()), b.Problem}); err != nil {
				return err
			}
			continue
		}
		// Each was verified when it was made; whether its files are still whole `farsight check` tells.
		word := "verified"
		if b.Problem != "" {
			word = "unusable: " + b.Problem
		}
		line := fmt.Sprintf("%s  %s ago  state %s, payloads %s  %s  %s", b.Name, human.Age(age), human.Bytes(b.State.Size), human.Bytes(b.Bytes()-b.State.Size), word, b.Note)
		_, _ = fmt.Fprintln(out.W, strings.TrimRight(safe.Text(line), " "))
	}
	return nil
}

// restoreCommand makes `farsight restore`. It never deletes: what it replaces is kept beside
// what it puts back, and payloads that are newer than the backup stay, because they would cost
// calls to fetch again.
func restoreCommand() commandDecl {
	var opt keep.RestoreOptions
	var list bool
	return commandDecl{
		use: "restore [BACKUP]", group: groupData, short: "Put a backup back; what it replaces is kept beside it",
		long: "Puts the newest backup, or the one that is named, back into the data directory.\n" +
			"The state.db that is there is kept as state.db.before-restore-<time>. Payloads that\n" +
			"are newer than the backup stay and are used again instead of being fetched again.",
		example: "farsight restore --dry-run",
		args:    oneAtMost("backup", "20261121T120000Z"), complete: onlyFirst(completeBackups),
		dryRun: "say what would be put back, and do nothing", yes: true, json: "the report as JSON",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&opt.Backups, "from", "", "folder of the backups (default backup/ in the data directory)")
			f.BoolVar(&list, "list", false, "list the backups instead")
		},
		run: func(ctx context.Context, g given) error {
			if err := needsFiles(g.cfg, "restore"); err != nil {
				return err
			}
			if list {
				return listBackups(g.cfg, opt.Backups, g.out)
			}
			// No name is the newest that can be used, where all are of one store.
			opt.Name, opt.DryRun = strings.Join(g.args, ""), g.dry
			return g.restore(ctx, opt)
		},
	}
}

// restore plans first, asks, and then puts back what it has planned. The plan is a dry run
// of the same code: what is asked about is what will be done.
func (g given) restore(ctx context.Context, opt keep.RestoreOptions) error {
	o := inDirectory(g.cfg)
	opt.Verify, opt.By = verifyCopy, operator("cli")
	opt.Forget = []string{traffic.LimiterState} // counts of another time: the windows count as full
	if !opt.DryRun {
		plan := opt
		plan.DryRun = true
		r, err := storage.Restore(ctx, o, plan)
		if err != nil {
			return toEnd("restore", err)
		}
		does := fmt.Sprintf("restore replaces state.db with that of %s, %s old", r.From.Name, human.Age(r.Age))
		if err := g.yesNo(does, "nothing was changed", func() error { return printRestore(r, g.out) }); err != nil {
			return err
		}
		opt.Name = r.From.Name // what was agreed to, whatever is made meanwhile
	}
	bar := newByteBar(g.out, "restore")
	opt.Progress = bar.show
	r, err := storage.Restore(ctx, o, opt)
	bar.end()
	if err != nil {
		return toEnd("restore", err)
	}
	if err := cli.Report(g.out, r, printRestore); err != nil || !r.Mixed() {
		return err
	}
	return &coded{code: exitIncomplete, quiet: true, err: errors.New("some months were not put back")}
}

// printRestore says what becomes of each file, such as
//
//	put back 20261121T120000Z (2h old), 84 MB in all
//	  state.db: replace, the old one is kept as state.db.before-restore-20261121T141500Z
//	  payload/2026-11.db: keep
func printRestore(r keep.RestoreReport, out cli.Out) error {
	did := "put back"
	if r.DryRun {
		did = "would put back"
	}
	_, _ = fmt.Fprintf(out.W, "%s %s (%s old), %s in all\n", did, safe.Text(r.From.Name), human.Age(r.Age), human.Bytes(r.Bytes))
	for _, f := range r.Files {
		line := fmt.Sprintf("  %s: %s", f.Name, f.Do)
		if f.Kept != "" {
			line += ", the old one is kept as " + f.Kept
		}
		if f.Why != "" {
			line += " (" + f.Why + ")"
		}
		_, _ = fmt.Fprintln(out.W, safe.Text(line))
	}
	return nil
}

// compactCommand makes `farsight compact`. Beside an engine that works on the directory it lets that archive the months;
// state.db is written anew only where none does.
func compactCommand() commandDecl {
	var ask engine.CompactAsk
	var stateOnly bool
	return commandDecl{
		use: "compact", group: groupData, short: "Shrink the data directory: archive closed months, take the holes out of state.db",
		long: "Packs the payloads of closed months to about half their size, and takes the holes out of state.db.\n" +
			"Beside an engine that works on the directory it packs months alone; the schedule compact does so each night.\n" +
			"Whatever interrupts it, it goes on where it stopped.",
		example: "farsight compact --dry-run",
		dryRun:  "say what there is to do and how long it takes, and do nothing", json: "the report as JSON",
		flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&ask.Months, "month", nil, "archive this month, closed or not; may be given more than once")
			f.BoolVar(&stateOnly, "state-only", false, "leave payloads alone")
			f.IntVar(&ask.Workers, "workers", 0, "payloads packed at once; 0 = one per core")
		},
		run: func(ctx context.Context, g given) error {
			if err := archivable(ask); err != nil {
				return usage(err)
			}
			if err := needsFiles(g.cfg, "compact"); err != nil {
				return err
			}
			if ask.Workers == 0 {
				ask.Workers = min(runtime.NumCPU(), mostPackers)
			}
			if stateOnly {
				return toEnd("compact --state-only", g.compactUnheld(ctx, ask, true))
			}
			return through(ctx, g.cfg, func(c *api.Client) error { // it archives months
				arrived := newByteBar(g.out, "archive").follow(ctx, c)
				done, err := reported(ctx, c, engine.Command{Op: engine.OpCompact, Compact: &ask, DryRun: g.dry}, func(r engine.Receipt) *engine.CompactDone { return r.Compact })
				arrived()
				if err != nil {
					return err
				}
				return g.compacted(done, ask)
			}, func() error { return g.compactUnheld(ctx, ask, false) })
		},
	}
}

// compactUnheld archives months and copies state.db without its holes. Interrupted, it leaves each
// file either as it was or as it is to be; packed months are found half done by the next run.
func (g given) compactUnheld(ctx context.Context, ask engine.CompactAsk, stateOnly bool) error {
	bar := newByteBar(g.out, "archive")
	r, err := storage.Compact(ctx, inDirectory(g.cfg), keep.CompactOptions{
		State: true, Months: !stateOnly, DryRun: g.dry, Verify: verifyCopy,
		Archive: keep.ArchiveOptions{Months: ask.Months, Workers: ask.Workers, Progress: bar.archive},
	})
	bar.end()
	if err != nil {
		return interrupted(err)
	}
	return g.compacted(r, ask)
}

// compacted prints the report.
func (g given) compacted(r engine.CompactDone, ask engine.CompactAsk) error {
	return cli.Report(g.out, r, func(r engine.CompactDone, out cli.Out) error { return printCompact(r, ask.Workers, out) })
}

// interrupted says of an interruption that nothing is lost: the command goes on where it stopped.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		_, _ = fmt.Fprintln(os.Stderr, "interrupted: nothing was lost; the same command goes on where it stopped")
	}
	return err
}

// toEnd adds to the error of a directory that an engine holds what a command needs
// that puts other files in the place of those that are open.
func toEnd(command string, err error) error {
	held, ok := errors.AsType[*storage.ErrHeld](err)
	if !ok {
		return err
	}
	return fmt.Errorf("%w: `farsight %s` needs it for itself: end the engine with `%s`, and start it again afterwards", err, command, killing(held.PID))
}

// mostPackers is how many payloads are packed at once unless more are asked for: each takes some 20 MB.
const mostPackers = 16

// packPace is how many bytes of payloads, as they arrived, one core packs in a second at the least.
const packPace = 2 << 20

// printCompact has a line for each month, and the sums:
//
//	2026-10: 612 MB -> 174 MB (0.28), 41200 of 41200 payloads packed in 38.2s
//	state.db: 96 MB -> 61 MB
//	in all: 708 MB -> 235 MB
func printCompact(r engine.CompactDone, workers int, out cli.Out) error {
	for _, m := range r.Months {
		// Sizes before and after, and their ratio.
		ratio := 1.0 // of an empty file, which did not shrink
		if m.Before > 0 {
			ratio = float64(m.After) / float64(m.Before)
		}
		line := fmt.Sprintf("%s: %s -> %s (%.2f), %d of %d payloads packed in %s", m.Month, human.Bytes(m.Before), human.Bytes(m.After),
			ratio, m.Packed, m.Payloads, m.Took.Round(100*time.Millisecond))
		if r.DryRun {
			takes := time.Duration(float64(m.ToPack) / float64(packPace*max(workers, 1)) * float64(time.Second))
			line = fmt.Sprintf("%s: %s, %d of %d payloads to pack, %s at most", m.Month, human.Bytes(m.Before), m.Packed, m.Payloads, human.Age(max(takes, time.Second)))
		}
		// A month that is still being written, or whose files are damaged.
		if m.Left != "" {
			line = fmt.Sprintf("%s: %s, left as it is: %s", m.Month, human.Bytes(m.Before), m.Left)
		}
		if m.Bad > 0 {
			line += fmt.Sprintf("; %d cannot be read and were kept as they are: run `farsight check`", m.Bad)
		}
		_, _ = fmt.Fprintln(out.W, safe.Text(line))
	}
	if r.DryRun {
		_, err := fmt.Fprintf(out.W, "state.db: %s; nothing was changed\n", human.Bytes(r.StateBefore))
		return err
	}
	state := "-> " + human.Bytes(r.StateAfter)
	if r.StateLeft != "" {
		state = "left as it is: " + r.StateLeft
	}
	_, err := fmt.Fprintf(out.W, "state.db: %s %s\nin all: %s -> %s\n", human.Bytes(r.StateBefore), state, human.Bytes(r.Before), human.Bytes(r.After))
	return err
}

// completeBackups offers the backups of the data directory, or of --from.
func completeBackups(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	cfg, err := configOf(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	// Read from the folder itself, without the store: what is to be restored may be all that can be
	// read.
	from, _ := cmd.Flags().GetString("from")
	list, _ := keep.Backups(backupsOf(cfg, from))
	var words []cobra.Completion
	for _, b := range list {
		if strings.HasPrefix(b.Name, begun) {
			words = append(words, hint(b.Name, human.Age(time.Since(b.Taken))+" old, "+human.Bytes(b.Bytes())))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// byteBar shows on a terminal how far a long file operation is, and when it
// ends. Elsewhere, and with --json, it shows nothing.
type byteBar struct {
	w     io.Writer
	what  string
	ascii bool
	began time.Time
	drawn time.Time
}

// Cells of the bar, and the pause between two drawings: faster is not seen, and over a slow line it
// would be what the operation waits for.
const (
	barCells = 24
	barEvery = 200 * time.Millisecond
)

// newByteBar is a bar on standard error, so that standard output has the report alone. what names the
// operation in front of it.
func newByteBar(out cli.Out, what string) *byteBar {
	b := &byteBar{what: what, ascii: out.ASCII, began: time.Now()}
	if !out.JSON && term.IsTerminal(int(os.Stderr.Fd())) {
		b.w = os.Stderr
	}
	return b
}

// show draws how many bytes of how many are done: "backup ████░░░ 1.2 GB of 4.0 GB, 30s left".
func (b *byteBar) show(done, total int64) {
	b.line(done, total, fmt.Sprintf("%s of %s", human.Bytes(done), human.Bytes(total)))
}

// step shows one step of several, each with a bar of its own, by what it goes through.
func (b *byteBar) step(what string, done, total int64) {
	if b.what != what {
		b.what, b.began = what, time.Now()
	}
	b.line(done, total, fmt.Sprintf("%d of %d", done, total))
}

// archive draws how far the month is that is being packed.
func (b *byteBar) archive(p keep.ArchiveProgress) {
	if p.Done == 0 || b.what != p.Month {
		b.what, b.began = p.Month, time.Now() // each month has its own bar and its own pace
	}
	b.line(int64(p.Done), int64(p.Total), fmt.Sprintf("%d of %d payloads, %s -> %s", p.Done, p.Total, human.Bytes(p.Before), human.Bytes(p.After)))
}

// line draws the bar anew over the one before it. The last step is always drawn, whatever the pause, or
// the bar would end at 97 %.
func (b *byteBar) line(done, total int64, text string) {
	if b.w == nil || total <= 0 || done < total && time.Since(b.drawn) < barEvery {
		return
	}
	b.drawn = time.Now()
	bar := themes.GlyphsOf(b.ascii).Bar(int(barCells*done/total), barCells)
	// How long it will go on at the pace so far; that of the first second says too little.
	if spent := time.Since(b.began); 0 < done && done < total && spent >= time.Second {
		text += ", " + human.Age(time.Duration(float64(spent)*float64(total-done)/float64(done))) + " left"
	}
	_, _ = fmt.Fprintf(b.w, "\r\x1b[K%s %s %s", b.what, bar, text)
}

// follow shows how far the engine is with the backup that this process is about to ask
// it for, until arrived is called. Where nobody sees a bar nothing is asked.
func (b *byteBar) follow(ctx context.Context, c *api.Client) (arrived func()) {
	if b.w == nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		for {
			if !await.Pause(ctx, barEvery) {
				b.end()
				return
			}
			// Of the engine's clock: the bar may have been asked for later than the backup began.
			for _, run := range found[engine.UpkeepAnswer](ctx, c, engine.UpkeepQuery{}).Running {
				if c.Is(run.By) {
					b.began = run.Began
					b.show(run.Done, run.Total)
					break
				}
			}
		}
	})
	return func() {
		stop()
		following.Wait()
	}
}

// end clears the line.
func (b *byteBar) end() {
	if b.w != nil && !b.drawn.IsZero() {
		_, _ = fmt.Fprint(b.w, "\r\x1b[K")
	}
}
