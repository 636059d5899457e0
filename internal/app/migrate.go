package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/pg"
	"github.com/farsight-console/farsight/ui/cli"
)

// migrateCommand makes `farsight migrate`. It may be given again after it was interrupted.
func migrateCommand() commandDecl {
	var at string
	return commandDecl{
		use: "migrate --to postgres://…|DIR", group: groupData, short: "Move a data directory into a PostgreSQL, or back, compared row by row",
		long: "Copies all that is stored in the data directory into a schema of a PostgreSQL, or all that is\n" +
			"in the one that --store names into a data directory that is not there yet, reads it back and\n" +
			"compares it; then no engine opens what it was copied from any more. One that was interrupted\n" +
			"goes on when it is given again.",
		example: "farsight migrate --to postgres://farsight@db.example/lol --dry-run\n" +
			"farsight migrate --to /var/lib/farsight2 --store postgres://farsight@db.example/lol",
		dryRun: "say how much it is, and do nothing", json: "the report as JSON",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&at, "to", "", "the PostgreSQL, as postgres://user@host/database, its password in PGPASSFILE; or the directory")
		},
		run: func(ctx context.Context, g given) error {
			// Asked for here and not by the flag library, whose sentence has no example.
			if at == "" {
				return usagef("--to is missing: write --to postgres://user@host/database, or --to DIR with --store")
			}
			m := &move{cfg: g.cfg, dry: g.dry, bar: newByteBar(g.out, ""), began: time.Now()}
			m.r.DryRun = g.dry
			var run func(ctx context.Context, to string) error
			if run = m.toDirectory; g.cfg.Store == "" || strings.Contains(at, "://") {
				if !strings.Contains(at, "://") {
					return usagef("--to: into a directory goes what a PostgreSQL has, which --store names; else write --to postgres://user@host/database")
				}
				// The address is checked as that of --store is: no password, and one of PostgreSQL's.
				var to config.Config
				if err := config.SetStore(&to, at); err != nil {
					return usagef("--to: %v", err)
				}
				if g.cfg.Store == to.Store { // the configuration names the destination already: what is moved is the data directory
					m.cfg.Store = ""
				}
				if err := needsFiles(m.cfg, "migrate"); err != nil {
					return err
				}
				if !hasStore(m.cfg) {
					return errNothingStored(m.cfg)
				}
				run = m.toServer
			}
			err := run(ctx, at)
			m.bar.end() // before anything else is printed
			if err != nil {
				return interrupted(err)
			}
			m.r.Took = time.Since(m.began)
			return cli.Report(g.out, m.r, m.print)
		},
	}
}

// taken is what was copied.
type taken struct {
	// nothing was written: the sizes are those of the source
	DryRun   bool          `json:"dry_run,omitempty"`
	From     string        `json:"from"`
	To       string        `json:"to"`
	Rows     int64         `json:"rows"`  // of the source's tables
	Bytes    int64         `json:"bytes"` // of those rows and of the payloads, as the source stores them
	Payloads int64         `json:"payloads"`
	Resumed  bool          `json:"resumed,omitempty"` // an earlier copy was gone on with
	Took     time.Duration `json:"took_ns"`
}

// move is one `farsight migrate`.
type move struct {
	cfg   config.Config
	dry   bool
	bar   *byteBar
	began time.Time
	then  string // how engines are started on what was moved
	r     taken
}

// weigh notes how much the payloads are.
func (m *move) weigh(months []storage.MonthSize) {
	for _, month := range months {
		m.r.Payloads += int64(month.Payloads)
		m.r.Bytes += month.Bytes
	}
}

// toServer moves the data directory, which is held the whole time: what an engine wrote meanwhile would be lost.
func (m *move) toServer(ctx context.Context, to string) (err error) {
	from, err := storage.OpenHandover(inDirectory(m.cfg))
	if err != nil {
		return toEnd("migrate", err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if m.r.From, err = filepath.Abs(m.cfg.DataDir); err != nil {
		return err
	}
	m.r.To, m.then = pg.Name(to), "--store"
	if err := from.RefuseMoved(m.r.To); err != nil {
		return err
	}
	facts, err := from.Facts(ctx)
	if err != nil {
		return err
	}
	server, err := pg.OpenToFill(ctx, pg.Options{URL: to}, m.r.From, facts.Instance, m.dry)
	if err != nil {
		if moved := from.RefuseMoved(""); moved != nil { // all was done before
			return moved
		}
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	m.r.Resumed = server.Again
	count := func(rows []storage.Step, bytes int) error {
		for _, s := range rows {
			if s.Key != nil {
				m.r.Rows++
			}
		}
		m.r.Bytes += int64(bytes)
		return nil
	}
	if err := from.Rows(ctx, count); err != nil {
		return err
	}
	months, err := from.Payloads().ByMonth(ctx)
	if err != nil {
		return err
	}
	if m.weigh(months); m.dry {
		return nil
	}
	if err := server.Empty(ctx); err != nil {
		return err
	}
	sums, read, n := storage.Sums{}, storage.Sums{}, int64(0)
	err = from.Rows(ctx, func(rows []storage.Step, _ int) error {
		sums.Add(rows...)
		n += int64(len(rows))
		m.bar.step("rows", n, m.r.Rows)
		return server.Fill(ctx, rows)
	})
	if err != nil {
		return err
	}
	if err := m.payloads(ctx, from, from.Payloads(), server); err != nil {
		return err
	}
	if err := m.readBack(ctx, server, read); err != nil {
		return err
	}
	if err := sums.Compare(read); err != nil {
		return err
	}
	// The mark comes first: at no time may engines open both.
	if err := from.Leave(m.r.To); err != nil {
		return err
	}
	return server.Filled(ctx, facts.Instance, facts.Restored)
}

// payloads copies them, and counts those that a match names.
func (m *move) payloads(ctx context.Context, of *storage.Handover, from, to storage.Payloads) error {
	n, err := of.CopyPayloads(ctx, from, to, func(done, total int) { m.bar.step("payloads", int64(done), int64(total)) })
	m.r.Payloads = int64(n)
	return err
}

// readBack counts and sums what a server has.
func (m *move) readBack(ctx context.Context, server *pg.Move, sums storage.Sums) error {
	var n int64
	_, err := server.Rows(ctx, func(s storage.Step) error {
		if sums.Add(s); s.Key != nil {
			n++
		}
		m.bar.step("comparing", n, max(n, m.r.Rows))
		return nil
	})
	m.r.Rows = n
	return err
}

// halfDone is what the name of a directory ends with until all is in it.
const halfDone = ".migrating"

// toDirectory moves the server's schema into a directory. Nobody else leads meanwhile.
func (m *move) toDirectory(ctx context.Context, to string) (err error) {
	if to, err = filepath.Abs(to); err != nil {
		return err
	}
	half := to + halfDone
	m.r.From, m.r.To, m.then = storeName(m.cfg), to, "--data-dir "+to
	server, err := pg.OpenToLeave(ctx, pg.Options{URL: m.cfg.Store}, to)
	if errors.Is(err, fs.ErrNotExist) {
		return errNothingStored(m.cfg)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if there, err := os.ReadDir(to); !server.Again && len(there) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return engine.Problemf(engine.ErrRefused, "name a directory that is not there", "%s is there, and not empty", to)
	}
	if m.r.Rows, m.r.Bytes, err = server.Weigh(ctx); err != nil {
		return err
	}
	months, err := server.ByMonth(ctx)
	if err != nil {
		return err
	}
	m.weigh(months)
	if server.Again {
		return m.arrived(ctx, server, half)
	}
	if m.dry {
		return nil
	}
	m.r.Resumed = storage.HasState(half)
	host, _ := os.Hostname() // for people
	t, release, err := fleet.Take(ctx, server.DB, fleet.Options{ID: memberID(), Host: host, Version: version(), Idle: true})
	if held, is := errors.AsType[*storage.ErrHeld](err); is {
		held.Do = ""
		return fmt.Errorf("%w: `farsight migrate` needs it for itself: end all its engines, and start them on %s afterwards", held, to)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	ctx, stop := context.WithCancelCause(ctx)
	defer context.AfterFunc(t.Within, func() { stop(context.Cause(t.Within)) })()
	if err := server.Settled(ctx, t.Epoch); err != nil {
		return err
	}
	var n int64
	o := inDirectory(m.cfg)
	o.Dir, o.Shared = half, filling{server.Log, ctx, func() { n++; m.bar.step("rows", n, max(n, m.r.Rows)) }}
	dir, err := storage.OpenArrival(o)
	if err != nil {
		return err
	}
	if err := m.fillDirectory(ctx, server, dir); err != nil {
		return errors.Join(err, dir.Close())
	}
	if err := dir.Arrive(server.Copied()); err != nil {
		return err
	}
	if err := server.Leave(ctx, t.Epoch); err != nil {
		return err
	}
	return named(half, to)
}

// fillDirectory copies the payloads to the rows, and compares.
func (m *move) fillDirectory(ctx context.Context, server *pg.Move, dir *storage.Handover) error {
	if err := m.payloads(ctx, dir, server, dir.Payloads()); err != nil {
		return err
	}
	want, have := storage.Sums{}, storage.Sums{}
	if err := m.readBack(ctx, server, want); err != nil {
		return err
	}
	err := dir.Rows(ctx, func(rows []storage.Step, _ int) error {
		have.Add(rows...)
		return nil
	})
	if err != nil {
		return err
	}
	return want.Compare(have)
}

// filling fills a directory until a context ends.
type filling struct {
	*pg.Log
	ctx  context.Context
	each func()
}

func (f filling) Rows(_ context.Context, fill func(s storage.Step) error) (storage.Place, error) {
	return f.Log.Rows(f.ctx, func(s storage.Step) error {
		f.each()
		return fill(s)
	})
}

// arrived gives a directory its name that has got all before.
func (m *move) arrived(ctx context.Context, server *pg.Move, half string) error {
	o := inDirectory(m.cfg)
	o.Dir = half
	dir, err := storage.OpenReadOnly(o)
	if errors.Is(err, fs.ErrNotExist) {
		return server.Refused()
	}
	if err != nil {
		return err
	}
	facts, err := dir.Facts(ctx)
	instance, err2 := server.Instance(ctx)
	if err := errors.Join(err, err2, dir.Close()); err != nil {
		return err
	}
	if instance != facts.Instance { // of another machine, say
		return server.Refused()
	}
	if m.r.Resumed = true; m.dry {
		return nil
	}
	return named(half, m.r.To)
}

// named gives a directory its name, which may be that of an empty one.
func named(half, to string) error {
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return regular.Rename(half, to)
}

// print says what was moved and how to go on. Seconds are the least it tells: 0s would look like
// nothing.
func (m *move) print(r taken, out cli.Out) error {
	rows, payloads := human.Counted(int(r.Rows), "row", "rows"), human.Counted(int(r.Payloads), "payload", "payloads")
	from, to := safe.Text(r.From), safe.Text(r.To)
	if r.DryRun {
		_, err := fmt.Fprintf(out.W, "%s and %s, %s in all, would go from %s to %s; nothing was changed\n", rows, payloads, human.Bytes(r.Bytes), from, to)
		return err
	}
	_, err := fmt.Fprintf(out.W, "%s, with %s, were moved to %s in %s: each was read back and is the same\nstart engines with %s; none opens %s any more\n",
		rows, payloads, to, human.Age(max(r.Took, time.Second)), safe.Text(m.then), from)
	return err
}
