package app

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/ui/cli"
)

// Proof that ingestion brings its own queries and commands to the console.
var _ control.Domain = (*ingest.Ingest)(nil)

// trackOptions are the flags of `farsight track`.
type trackOptions struct {
	account string // Riot ID; "" with a file or a tag's policy
	file    string // CSV; - = standard input
	tags    []string
	policy  string // as typed: the engine reads and checks it
}

// trackCommand makes `farsight track`: one account, a list of them, or the policy of a tag.
func trackCommand() commandDecl {
	var opt trackOptions
	return commandDecl{
		use: "track ['Name#TAG']", group: groupAccounts, short: "Keep accounts in sync: one, or a list from a file",
		long: "Keep accounts in sync.\n\n" +
			"With --file, each line of a CSV file is an account: Riot ID, platform, tags. A\n" +
			"first line \"riot_id,platform,tags\" is left out, tags are set apart by spaces or\n" +
			"semicolons. Lines that make no sense are written to FILE.rejects.csv with the\n" +
			"reason; the others are tracked, and those that are already stay as they are.\n\n" +
			"With --tag and --policy but without an account, the policy is that of the tag:\n" +
			"  --policy 'queues=420,440 lookback=90d timelines=ranked cadence=6h priority=2'\n" +
			"  cadence=adaptive goes by the last game: each hour to once a day. Without a cadence\n" +
			"  each run of the schedule latest (CRON_LATEST_EVERY) looks at the account.\n" +
			"  --policy default removes it.",
		example: "farsight track 'Name#TAG' --platform euw1 --tag team\nfarsight track --file accounts.csv",
		args:    cobra.MaximumNArgs(1), complete: onlyFirst(completeAccounts),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&opt.file, "file", "", "a CSV file with one account per line; - reads standard input")
			f.StringSliceVar(&opt.tags, "tag", nil, "tag of the account; may be given more than once")
			f.StringVar(&opt.policy, "policy", "", "what its syncs cover, such as 'queues=420 cadence=6h'")
		},
		run: func(ctx context.Context, g given) error {
			opt.account = strings.Join(g.args, "")
			return runTrack(ctx, g, opt)
		},
	}.acting()
}

// untrackCommand makes `farsight untrack`. It stops schedules only: `farsight forget` is what
// deletes.
func untrackCommand() commandDecl {
	return commandDecl{
		use: "untrack 'Name#TAG'", group: groupAccounts, short: "Stop keeping an account in sync; its data stays",
		example: "farsight untrack 'Name#TAG' --platform euw1", args: oneAccount, complete: onlyFirst(completeAccounts),
		run: func(ctx context.Context, g given) error {
			if err := riotID(g.args[0]); err != nil {
				return err
			}
			return g.track(ctx, engine.Command{Op: engine.OpUntrack, Account: g.args[0], Sync: engine.SyncAsk{Platform: g.cfg.Platform}})
		},
	}.acting()
}

// riotID refuses what is no Riot ID.
func riotID(account string) error {
	_, _, err := route.ParseRiotID(account)
	return usage(err)
}

// runTrack tracks what the flags name.
// What does not go together is refused before anything is opened.
func runTrack(ctx context.Context, g given, opt trackOptions) error {
	switch {
	case opt.file != "" && (opt.account != "" || opt.policy != ""):
		return usagef("--file names the accounts: leave out the account and --policy; `track --tag T --policy P` sets a policy for a tag")
	case opt.file != "":
		return trackFile(ctx, g, opt)
	case opt.account == "" && (len(opt.tags) == 0 || opt.policy == ""):
		return usagef("name an account as 'Name#TAG', a --file, or a --tag with a --policy")
	}
	ask := engine.SyncAsk{Platform: g.cfg.Platform, Tags: opt.tags, Policy: opt.policy}
	if opt.account != "" {
		if err := riotID(opt.account); err != nil {
			return err
		}
		platform, err := platformFor(g.cfg, opt.account)
		if err != nil {
			return err
		}
		ask.Platform = platform
	}
	return g.track(ctx, engine.Command{Op: engine.OpTrack, Account: opt.account, Sync: ask})
}

// track carries out one command on tracked accounts or schedules, and prints its receipt.
func (g given) track(ctx context.Context, c engine.Command) error {
	var r engine.Receipt
	err := commanding(ctx, g.cfg, mayBegin, func(ctx context.Context, con engine.Console, _ *parts) (err error) {
		r, err = con.Do(ctx, g.by(c))
		return err
	})
	if err != nil {
		// The policy's text is at fault, which is the command line: it ends with the code for that.
		if errors.Is(err, engine.ErrInvalid) {
			return usage(err)
		}
		return err
	}
	return cli.Tracked(g.out, r)
}

// maxTrackFile bounds what is read of a list, in bytes: a hundred thousand
// accounts fit.
const maxTrackFile = 16 << 20

// trackFile tracks a whole list: it says the cost first, then what was done.
func trackFile(ctx context.Context, g given, opt trackOptions) error {
	list, err := readTrackFile(g.cmd, opt.file, g.cfg.Platform, opt.tags)
	if err != nil {
		return err
	}
	if len(list.lines) == 0 {
		return fmt.Errorf("%s names no account: write one per line as Name#TAG,euw1", opt.name())
	}
	var r engine.Receipt
	engineRuns := false
	err = commanding(ctx, g.cfg, mayBegin, func(ctx context.Context, con engine.Console, own *parts) (err error) {
		engineRuns = own == nil
		// The number of calls that a list of accounts costs, and the days that they take under the
		// limits, are told before the first is tracked.
		r, err = g.planned(ctx, con, engine.Command{Op: engine.OpTrackMany, Lines: list.lines}, func(r engine.Receipt) error {
			return cli.TrackCost(g.out, r, engineRuns)
		})
		return err
	})
	if err != nil {
		return err
	}
	if g.dry && !g.out.JSON { // nothing has told it before
		if err := cli.TrackCost(g.out, r, engineRuns); err != nil {
			return err
		}
	}
	if err := cli.Tracked(g.out, r); err != nil || len(r.Rejects) == 0 {
		return err
	}
	// A dry run leaves no file behind.
	if first := r.Rejects[0]; g.dry {
		return fmt.Errorf("%d of %d lines would be rejected, line %d because %s", len(r.Rejects), len(list.lines), first.Line, safe.Text(first.Reason))
	}
	path, err := list.writeRejects(opt.file, r.Rejects)
	if err != nil {
		return fmt.Errorf("%d lines were rejected, and could not be written down: %w", len(r.Rejects), err)
	}
	return &coded{code: exitIncomplete, err: fmt.Errorf("%d of %d lines were rejected: they are in %s with their reasons",
		len(r.Rejects), len(list.lines), path)}
}

// name is that of the list in sentences.
func (o trackOptions) name() string {
	if o.file == "-" {
		return "standard input"
	}
	return o.file
}

// trackList is a list as it was read.
type trackList struct {
	lines []engine.TrackLine
	raw   map[int][]string // fields by line, for the file of rejects
}

// readTrackFile reads a list whole. platform and tags are of the lines that name none, or none
// of their own.
func readTrackFile(cmd *cobra.Command, name, platform string, tags []string) (list trackList, err error) {
	body, err := readList(cmd.InOrStdin(), name)
	if err != nil {
		return list, err
	}
	return parseTrackList(body, platform, tags)
}

// readList reads a list that a person has made, a file or with - standard input, whole.
func readList(in io.Reader, name string) (string, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", fmt.Errorf("the list cannot be read: %w", err)
		}
		defer f.Close()
		in = f
	}
	// One byte more than fits tells a list that is too long from one that fits exactly.
	body, err := io.ReadAll(io.LimitReader(in, maxTrackFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("the list cannot be read: %w", err)
	case len(body) > maxTrackFile:
		return "", fmt.Errorf("the list has more than %d MiB: cut it into parts", maxTrackFile>>20)
	}
	// Spreadsheets begin a CSV file with a byte order mark, which would be part of the first name.
	return strings.TrimPrefix(string(body), "\ufeff"), nil
}

// parseTrackList reads CSV; a line of the wrong shape is kept, to be rejected with
// its reason.
func parseTrackList(body, platform string, tags []string) (list trackList, err error) {
	list.raw = map[int][]string{}
	r := csv.NewReader(strings.NewReader(body))
	// Riot IDs may hold quotes, and lines written by hand have blanks after their commas and leave
	// the last fields out.
	r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = -1, true, true
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, fmt.Errorf("the list is no CSV: %w", err)
		}
		// The line on which a record begins: one in quotes may go over several.
		n, _ := r.FieldPos(0)
		if n == 1 && strings.EqualFold(strings.TrimSpace(fields[0]), "riot_id") {
			continue
		}
		l := engine.TrackLine{Line: n, Account: strings.TrimSpace(fields[0]), Platform: platform, Tags: tags}
		// The line's own platform goes before --platform.
		if len(fields) > 1 && strings.TrimSpace(fields[1]) != "" {
			l.Platform = strings.TrimSpace(fields[1])
		}
		for _, f := range fields[min(2, len(fields)):] {
			// The full slice expression makes append copy: all lines begin with the same slice of
			// --tag.
			l.Tags = append(l.Tags[:len(l.Tags):len(l.Tags)], strings.FieldsFunc(f, func(c rune) bool { return c == ' ' || c == ';' })...)
		}
		list.lines, list.raw[n] = append(list.lines, l), fields
	}
}

// writeRejects writes the rejected lines to a new file beside the list.
// Its lines are those of the list with their number and reason in front: what is left after
// mending is to be cut off, and the rest can be tracked as it is. Every field is made safe for a
// spreadsheet, which would carry out one that begins with "=".
func (t trackList) writeRejects(name string, rejects []engine.TrackReject) (path string, err error) {
	// Of standard input the file has a name of its own, in the working directory.
	if name == "-" {
		name = "track"
	}
	f, err := newRejects(name)
	if err != nil {
		return "", err
	}
	w := csv.NewWriter(f)
	rows := [][]string{{"line", "reason", "riot_id", "platform", "tags"}}
	for _, r := range rejects {
		// The fields as they were read, so that a name with a comma is quoted again.
		row := []string{strconv.Itoa(r.Line), safe.CSV(r.Reason)}
		for _, field := range t.raw[r.Line] {
			row = append(row, safe.CSV(field))
		}
		rows = append(rows, row)
	}
	return f.Name(), errors.Join(w.WriteAll(rows), f.Close())
}

// newRejects makes a file that does not exist yet.
// One that does is of an earlier run, and somebody may be at work on it.
func newRejects(name string) (*os.File, error) {
	for n := 1; ; n++ {
		path := name + ".rejects.csv"
		if n > 1 {
			path = fmt.Sprintf("%s.rejects-%d.csv", name, n)
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		// A thousand such files are a script that goes wrong, and no reason to go on for ever.
		if !errors.Is(err, fs.ErrExist) || n == 1000 {
			return f, err
		}
	}
}
