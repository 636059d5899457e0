// Package dataset writes what is stored as Parquet, in a folder that DuckDB, pandas and polars open:
//
//	DIR/participants/platform=kr/day=2026-11-27/part-3.parquet
//	DIR/farsight.json      how far it came, by which the next export goes on
//
// An export goes in steps of a few thousand matches. Each step has a number, which its files bear: when all of them are
// whole, the step is noted in farsight.json. Whatever bears a later number was left by a step that did not end, and is
// removed by the next export. So a file never changes, and a kill at any moment costs one step.
package dataset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/riot"
)

// Export says what is written, and from where.
type Export struct {
	Dir   string
	After string    // cursor of the export before; "" = where farsight.json says, else the beginning
	Since time.Time // only what was played since; the zero time = all
	Patch string    // only matches of this one, "16.23"; "" = all
	// Filter is how Since and Patch were asked for: a folder has one filter, since what it left out never comes.
	Filter string
	Feed   func(ctx context.Context, q engine.FeedQuery) (engine.FeedPage, error)
	// Payload is Riot's JSON of a match or of its timeline; engine.ErrNotFound where it is not to be had.
	Payload func(ctx context.Context, q engine.PayloadQuery) ([]byte, error)
	// Queue is the name of a queue as the outside knows it; nil = ours.
	Queue func(engine.Queue) string
}

// Done is what an export has written.
type Done struct {
	Rows       map[string]int // by table
	Files      int
	Cursor     string // the next export goes on here
	Dropped    int    // matches whose payload retention has removed: of them only the rest is there
	Unreadable int    // records and payloads that could not be read
	First      error  // what was wrong with the first of them
}

// step is how many items of a feed a step has: a few days of a platform, and 25 MB of seats.
var step = 8192

// stateName is the file that says how far a folder came.
const stateName = "farsight.json"

// state is that file.
type state struct {
	Version map[string]int             `json:"version"` // of each table
	Filter  string                     `json:"filter"`
	Part    int                        `json:"part"` // steps that are whole
	Cursors map[engine.FeedKind]string `json:"cursors"`
}

// kinds are the feeds that are read, with the tables that come of them.
var kinds = []struct {
	kind   engine.FeedKind
	tables []*columns.Table
}{
	{engine.FeedParticipants, []*columns.Table{columns.GameTable, columns.SeatTable}},
	{engine.FeedTimelines, []*columns.Table{columns.EventTable, columns.FrameTable}},
	{engine.FeedRanks, []*columns.Table{columns.RankTable}},
	{engine.FeedPlayers, []*columns.Table{columns.PlayerTable}},
	{engine.FeedJobs, []*columns.Table{columns.JobTable}},
}

// leastKinds is how many there were at first: a cursor of then begins the others.
const leastKinds = 3

// cursor is the place of all feeds, in the order of kinds.
func (s *state) cursor() string {
	var parts []string
	for _, k := range kinds {
		parts = append(parts, s.Cursors[k.kind])
	}
	return strings.Join(parts, ",")
}

// exporter is an export under way.
type exporter struct {
	Export
	state
	done   Done
	reader columns.Reader
	values []riot.Value // of the timeline that is written
}

// Write exports what is stored behind the cursor. It always returns how far it came.
func (e Export) Write(ctx context.Context) (Done, error) {
	x := &exporter{Export: e, done: Done{Rows: map[string]int{}}}
	x.reader.Payload = func(ctx context.Context, match string) ([]byte, error) {
		return e.Payload(ctx, engine.PayloadQuery{Match: match})
	}
	if err := x.open(ctx); err != nil {
		return x.done, err
	}
	x.done.Cursor = x.cursor()
	for _, k := range kinds {
		if err := x.feed(ctx, k.kind, k.tables); err != nil {
			return x.done, err
		}
	}
	return x.done, nil
}

// open reads how far the folder came, and removes what a step left that did not end.
func (x *exporter) open(ctx context.Context) error {
	raw, err := os.ReadFile(filepath.Join(x.Dir, stateName))
	fresh := errors.Is(err, fs.ErrNotExist)
	if fresh {
		if err := x.knownPatch(ctx); err != nil {
			return err
		}
	}
	if err := regular.MkdirAll(x.Dir); err != nil {
		return fmt.Errorf("make the folder of the export: %w", err)
	}
	if err == nil {
		err = json.Unmarshal(raw, &x.state)
	}
	if err != nil && !fresh {
		return fmt.Errorf("read how far %s came: %w; export into an empty folder", x.Dir, err)
	}
	if fresh {
		if err := x.sweep(true); err != nil {
			return err
		}
		if err := x.begin(); err != nil {
			return err
		}
	}
	for _, t := range columns.Tables {
		if v, had := x.Version[t.Name]; had && v > t.Version {
			return fmt.Errorf("%s was written by a later version: export into an empty folder", x.Dir)
		}
		x.Version[t.Name] = t.Version
	}
	switch {
	case x.Export.Filter != x.state.Filter:
		return invalid("export into an empty folder", "%s has an export %s: what that left out never comes", x.Dir, asked(x.state.Filter))
	case x.After != "" && strings.TrimRight(x.After, ",") != strings.TrimRight(x.cursor(), ","):
		return invalid("go on there, or leave --after out", "%s ends at %s", x.Dir, x.cursor())
	}
	return x.sweep(false)
}

// knownPatch refuses a patch that no stored match is of.
func (x *exporter) knownPatch(ctx context.Context) error {
	seen := map[string]time.Time{}
	for q := (engine.FeedQuery{Kind: engine.FeedParticipants, Page: engine.Page{Limit: engine.LargestPage}}); x.Patch != ""; {
		page, err := x.Feed(ctx, q)
		if err != nil {
			return err
		}
		for _, r := range page.Rows {
			switch {
			case r.Seat == nil || r.Seat.Patch == "":
			case r.Seat.Patch == x.Patch:
				return nil
			case r.Seat.Played.After(seen[r.Seat.Patch]):
				seen[r.Seat.Patch] = r.Seat.Played
			}
		}
		if q.After = page.Next; page.More {
			continue
		}
		newest := slices.SortedFunc(maps.Keys(seen), func(a, b string) int { return seen[b].Compare(seen[a]) })
		do := "fetch some first"
		if len(newest) > 0 {
			do = "the newest are of " + strings.Join(newest[:min(len(newest), 3)], ", ")
		}
		return invalid(do, "no stored match is of patch %s", x.Patch)
	}
	return nil
}

// begin is the state of a folder that has nothing yet, at the cursor that was asked for.
func (x *exporter) begin() error {
	x.state = state{Version: map[string]int{}, Filter: x.Export.Filter, Cursors: map[engine.FeedKind]string{}}
	if x.After == "" {
		return x.save()
	}
	places := strings.Split(x.After, ",")
	if len(places) < leastKinds || len(places) > len(kinds) {
		return invalid("use the one that an export with --format parquet has named", "%q is no cursor of one", x.After)
	}
	for i, place := range places {
		x.Cursors[kinds[i].kind] = place
	}
	return x.save()
}

func asked(filter string) string { return cmp.Or(filter, "of everything") }

func invalid(do, format string, args ...any) error {
	return engine.Problemf(engine.ErrInvalid, do, format, args...)
}

// sweep removes what steps left that did not end. A folder that has files, and says not how far it came, is not ours.
func (x *exporter) sweep(fresh bool) error {
	for _, t := range columns.Tables {
		err := filepath.WalkDir(filepath.Join(x.Dir, t.Name), func(path string, d fs.DirEntry, err error) error {
			name := ""
			if err == nil && !d.IsDir() {
				name = d.Name()
			}
			n, isPart := partOf(name)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil || !isPart || n <= x.Part:
				return err
			case fresh:
				return invalid("export into an empty folder", "%s has %s, but no %s", x.Dir, name, stateName)
			}
			return os.Remove(path)
		})
		if err != nil {
			return fmt.Errorf("clear up %s: %w", x.Dir, err)
		}
	}
	return nil
}

// partOf is the number that a file bears, whole (part-3.parquet) or not (.part-3.parquet.123.part).
func partOf(name string) (n int, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(name, "."), "part-")
	digits, rest, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && strings.HasPrefix(rest, "parquet")
}

// save notes how far it came.
func (x *exporter) save() error {
	raw, err := json.MarshalIndent(x.state, "", "  ")
	if err == nil {
		err = regular.Replace(filepath.Join(x.Dir, stateName), append(raw, '\n'))
	}
	if err != nil {
		return fmt.Errorf("note how far %s came: %w", x.Dir, err)
	}
	return nil
}

// item is one thing of a feed: a match with its seats, a timeline, or a row.
type item struct {
	id, platform, patch string
	at                  time.Time
	seats               []*engine.SeatRow
	row                 []riot.Value // of what has no payload
}

// day is the partition of an item.
func (i *item) day() string {
	if i.at.IsZero() {
		return "unknown"
	}
	return i.at.UTC().Format(time.DateOnly)
}

// feed writes what a feed has, step by step.
func (x *exporter) feed(ctx context.Context, kind engine.FeedKind, tables []*columns.Table) error {
	var items []item
	after, last := x.Cursors[kind], ""
	for {
		page, err := x.Feed(ctx, engine.FeedQuery{Kind: kind, Page: engine.Page{After: after, Limit: engine.LargestPage}})
		if err != nil {
			return err
		}
		for _, r := range page.Rows {
			// A match's seats come together, and its last one is not known before the next match comes.
			if same := len(items) > 0 && r.Seat != nil && items[len(items)-1].id == r.ID; same {
				items[len(items)-1].seats = append(items[len(items)-1].seats, r.Seat)
				last = r.Cursor
				continue
			}
			if len(items) >= step {
				if err := x.step(ctx, kind, last, tables, items); err != nil {
					return err
				}
				items = items[:0]
			}
			if it, wanted := x.item(r); wanted {
				items = append(items, it)
			}
			last = r.Cursor
		}
		if after = page.Next; !page.More {
			return x.step(ctx, kind, after, tables, items)
		}
	}
}

// item is what a row of a feed begins; wanted is false where the filter leaves it out, or nothing was fetched.
func (x *exporter) item(r engine.FeedRow) (it item, wanted bool) {
	it = item{id: r.ID, platform: columns.PlatformOf(r.ID)}
	switch {
	case r.Corrupt:
		x.unreadable(fmt.Errorf("the record of %s cannot be read", r.ID))
		return it, false
	case r.Seat != nil:
		it.at, it.patch, it.seats = r.Seat.Played, r.Seat.Patch, []*engine.SeatRow{r.Seat}
	case r.Timeline != nil:
		it.at, it.patch = r.Timeline.Played, r.Timeline.Patch
		wanted = !r.Timeline.FetchedAt.IsZero()
	case r.Rank != nil:
		it.at, it.platform, it.row = r.Rank.At, r.Rank.Platform, columns.RankTable.Row(columns.Source{Rank: r.Rank})
	case r.Player != nil: // of any time
		it.platform, it.row = r.Player.Platform, columns.PlayerTable.Row(columns.Source{Player: r.Player})
		return it, true
	case r.Job != nil:
		j := engine.JobRow{Job: *r.Job}
		if x.Queue != nil {
			j.Queue = engine.Queue(x.Queue(j.Queue))
		}
		it.at, it.platform, it.row = j.Finished, "", columns.JobTable.Row(columns.Source{Job: &j})
	}
	wanted = r.Timeline == nil || wanted
	return it, wanted && !it.at.Before(x.Since) && (x.Patch == "" || it.row != nil || it.patch == x.Patch)
}

// unreadable counts what could not be read, and keeps the first reason.
func (x *exporter) unreadable(err error) {
	if x.done.Unreadable++; x.done.First == nil {
		x.done.First = err
	}
}

// step writes items, a partition after the other in the order of the feed, and notes that they are whole.
func (x *exporter) step(ctx context.Context, kind engine.FeedKind, cursor string, tables []*columns.Table, items []item) error {
	slices.SortStableFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.platform, b.platform), cmp.Compare(a.day(), b.day()))
	})
	before := x.done.Files
	for len(items) > 0 {
		n := 1
		for n < len(items) && items[n].platform == items[0].platform && items[n].day() == items[0].day() {
			n++
		}
		if err := x.partition(ctx, tables, items[:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	if x.done.Files > before {
		x.Part++
	} else if cursor == x.Cursors[kind] {
		return nil
	}
	x.Cursors[kind] = cursor
	x.done.Cursor = x.cursor()
	return x.save()
}

// partition writes the files of one platform and day.
func (x *exporter) partition(ctx context.Context, tables []*columns.Table, items []item) (err error) {
	files := make([]*file, len(tables))
	for i, t := range tables {
		files[i] = &file{table: t, dir: filepath.Join(x.Dir, t.Name), name: fmt.Sprintf("part-%d.parquet", x.Part+1)}
		if t != columns.JobTable { // some are of no platform
			files[i].dir = filepath.Join(files[i].dir, "platform="+hive(items[0].platform))
		}
		if t != columns.PlayerTable {
			files[i].dir = filepath.Join(files[i].dir, "day="+items[0].day())
		}
	}
	for i := range items {
		if err = x.write(ctx, files, &items[i]); err != nil {
			break
		}
	}
	for _, f := range files {
		if f.rows > 0 && err == nil {
			x.done.Files++
			x.done.Rows[f.table.Name] += f.rows
		}
		err = f.finish(err)
	}
	return err
}

// hive is a platform as the name of a folder; an id of Riot's that has none, or a strange one, leads nowhere else.
func hive(platform string) string {
	if platform == "" || strings.ContainsFunc(platform, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		return "unknown"
	}
	return platform
}

// write adds the rows of an item. What cannot be read costs no other item.
func (x *exporter) write(ctx context.Context, files []*file, it *item) error {
	switch {
	case it.row != nil:
		return files[0].add(it.row)
	case it.seats != nil:
		return x.writeMatch(ctx, files, it)
	}
	raw, err := x.Payload(ctx, engine.PayloadQuery{Match: it.id, Timeline: true})
	for i := 0; i < len(files) && err == nil; i++ {
		x.values, err = files[i].table.Pick(raw, x.values[:0])
		if err != nil {
			break
		}
		for row := range files[i].table.Rows(it.id, x.values) {
			if err := files[i].add(row); err != nil {
				return err
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, engine.ErrNotFound):
		x.done.Dropped++
	case err != nil:
		x.unreadable(fmt.Errorf("the timeline of %s: %w", it.id, err))
	}
	return nil
}

func (x *exporter) writeMatch(ctx context.Context, files []*file, it *item) error {
	err := x.reader.Open(ctx, it.id)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		x.unreadable(err)
	case !x.reader.Whole():
		x.done.Dropped++
	default:
		err = files[0].add(x.reader.GameRow())
	}
	for i := 0; i < len(it.seats) && (err == nil || files[0].err == nil); i++ {
		err = files[1].add(x.reader.SeatRow(it.seats[i]))
	}
	return errors.Join(files[0].err, files[1].err)
}
