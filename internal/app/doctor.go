package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/internal/bundle"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/doctor"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/river"
	"github.com/farsight-console/farsight/ui/cli"
)

// doctorCommand makes `farsight doctor`. It works where nothing else does: without a configuration
// that can be read, without a key, on a store that cannot be opened.
func doctorCommand() commandDecl {
	var full, network bool
	return commandDecl{
		use: "doctor", group: groupWhy, short: "Look for what is wrong with this installation, and say what to do",
		long: "Looks at the configuration, the key, the data directory, the store, the disk, the clock,\n" +
			"the schedules and the terminal, one line each, and changes nothing. With --store it looks\n" +
			"at the server, at the members that share it, and at River's tables, queues and rows.\n" +
			"Where an engine runs it is asked for its state, its key and its settings.\n" +
			"Exit 0: no fault; 1: faults; 3: the store is damaged. The key itself is never shown.",
		example: "farsight doctor", json: "as JSON",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&full, "full", false, "read all of the store, in a process of its own; it may take minutes")
			f.BoolVar(&network, "network", false, "connect to Riot, and make one call if there is a key")
		},
		bare: func(cmd *cobra.Command, _ []string) error {
			out := stdout(cmd)
			o := findInstallation(cmd).forDoctor(cmd.Context(), out.Width)
			o.Full, o.Network = full, network
			// An error is an interruption, or a store that could not be closed; what is wrong is in what was
			// said.
			said, err := doctor.Examine(cmd.Context(), o)
			if err != nil {
				return err
			}
			err = cli.Report(out, said, func(said doctor.Diagnosis, out cli.Out) error {
				clean := safe.Text // paths and errors come from outside
				if out.ASCII {
					clean = safe.ASCII
				}
				return said.Print(out.W, clean)
			})
			switch {
			// Graver than any number of faults, and told apart by its code: scripts stop there.
			case err == nil && said.Damaged:
				err = &coded{code: exitIncomplete, quiet: true, err: errors.New("the store is damaged")}
			case err == nil && said.Faults > 0:
				err = &coded{code: exitFailed, quiet: true, err: fmt.Errorf("%d faults", said.Faults)}
			}
			return err
		},
	}
}

// installation is the configuration and the key, read as every command does; what is
// wrong with them is no error here, but something to report.
type installation struct {
	cfg     config.Config
	faults  []string // of the configuration
	keys    *keyring.Ring
	keyless error // why there is no keyring
}

// findInstallation reads the configuration and the key. The key file is looked for also where settings
// are wrong, in the usual place if need be.
func findInstallation(cmd *cobra.Command) (i installation) {
	var err error
	i.cfg, err = configOf(cmd)
	// Each fault is a line of its own; any other error, such as one of a flag, is one.
	if faults, ok := errors.AsType[config.Faults](err); ok {
		i.faults = faults
	} else if err != nil {
		i.faults = []string{err.Error()}
	}
	i.keys, i.keyless = keyring.Load(i.cfg.KeyPath())
	return i
}

// forDoctor is what a doctor wants to know of it, beside how far to look.
// The doctor's package knows neither cobra nor River: what it needs of them is given as functions.
func (i installation) forDoctor(ctx context.Context, width int) doctor.Options {
	o := doctor.Options{
		Version: version(), Settings: doctor.Settings{Faults: i.faults},
		Key: doctor.Key{Env: keyring.Env, Err: i.keyless},
		Dir: i.cfg.DataDir, Forced: i.cfg.Force, BackupEvery: i.cfg.BackupEvery,
		BaseURL: i.cfg.BaseURL, Timeout: i.cfg.Timeout, Zone: config.HostZone(),
		Getenv: os.Getenv, Width: width,
		Open:   func() (doctor.Store, error) { return openStored(i.cfg) },
		Browse: func(ctx context.Context, db doctor.Store) engine.Console { return browser(ctx, db.(*store), i.cfg) },
		Check:  func(ctx context.Context) (storage.CheckReport, error) { return checkInChild(ctx, i.cfg) },
	}
	if i.cfg.Store != "" {
		o.Server = storeName(i.cfg)
	}
	// River's tables are looked at without a client of River, and so without starting anything.
	o.River = func(ctx context.Context, db doctor.Store) (doctor.River, error) {
		found, err := river.Find(ctx, db.(*store).server)
		return doctor.River(found), err
	}
	var settings []engine.Setting
	if o.Engine, settings = engineSays(ctx, i.cfg); settings == nil {
		settings = i.cfg.Sources
	}
	o.Settings.All = len(settings)
	for _, s := range settings {
		if s.Name == "base_url" {
			o.BaseURL = s.Value
		}
		if s.Source != "default" {
			o.Settings.Changed++
		}
	}
	if i.keyless == nil {
		o.Key.Keys, o.Key.From, o.Key.File = i.keys.Keys, i.keys.From(), i.keys.Path()
	}
	return o
}

// enginePatience is how long an engine may take to say how it is.
const enginePatience = 10 * time.Second

// engineSays asks the engine on the directory how it is, and for the settings that it runs with; nil = none runs.
func engineSays(ctx context.Context, cfg config.Config) (*doctor.Engine, []engine.Setting) {
	ctx, cancel := context.WithTimeout(ctx, enginePatience)
	defer cancel()
	c, err := dialEngine(ctx, cfg)
	if err == nil && c != nil {
		defer c.Close()
		var s engine.StatusAnswer
		var settings []engine.Setting
		if s, err = engine.Ask[engine.StatusAnswer](ctx, c, engine.StatusQuery{}); err == nil {
			settings, err = c.Settings(ctx)
		}
		if err == nil {
			e := &doctor.Engine{Row: s.Engine}
			return e, slices.DeleteFunc(settings, func(s engine.Setting) bool {
				if s.Name == keyShown { // which is no setting but is shown as one
					e.From = s.Source
				}
				return s.Name == keyShown
			})
		}
	}
	if err == nil { // it has said nothing, not even that it has no store
		held := standsStill(cfg)
		if held == nil {
			return nil, nil
		}
		err = held
	}
	return &doctor.Engine{Err: err}, nil
}

// checkInChild runs `farsight check` as a child.
// A page that is damaged may end the process that reads it: the diagnosis goes on.
func checkInChild(ctx context.Context, cfg config.Config) (storage.CheckReport, error) {
	var r checkReport
	var complained bytes.Buffer
	said, code, err := runSelf(ctx, cfg.DataDir, &complained, "check", "--json", "--data-dir", cfg.DataDir, "--store", cfg.Store)
	// A damaged store ends the child with a code and its report all the same: the report says more.
	if json.Unmarshal(said, &r) == nil && r.Path != "" {
		return storage.CheckReport{Findings: r.Findings, More: r.More, Rows: r.Rows, Payloads: r.Payloads, Bytes: r.Bytes, Orphans: r.Orphans}, nil
	}
	switch {
	// it could not be started, or was ended by a signal
	case err != nil:
	case code == exitIncomplete:
		err = &storage.Damaged{Path: cfg.DataDir, Why: firstLine(complained.String())}
	// It ended well, and what it wrote is no report: a version of another build, say.
	case code == exitDone:
		err = errors.New("the check said nothing")
	default:
		err = fmt.Errorf("check %s: %s", cfg.DataDir, firstLine(complained.String()))
	}
	return storage.CheckReport{}, err
}

// firstLine is the first line of what a child said, without its own name.
func firstLine(s string) string {
	// The rest is what to do about it, and the doctor says that itself.
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimPrefix(strings.TrimSpace(line), "farsight: ")
}

// bundleCommand makes `farsight bundle`. It packs what it can get: of an installation that is broken,
// too, which is when somebody reports a bug.
func bundleCommand() commandDecl {
	var path string // "" = a name with the instant, in the working directory
	var names, noCheck bool
	return commandDecl{
		use: "bundle", group: groupWhy, short: "Pack what a bug report needs into one file, without the key and without names",
		long: "Packs version, diagnosis, configuration, queues, limits, schedules, alerts, the newest\n" +
			"jobs with their attempts, the operators' commands, the end of the log and the result of\n" +
			"a check into one archive. The API key is never in it. Riot IDs and PUUIDs are replaced\n" +
			"unless --names keeps them. Nothing is sent anywhere.",
		example: "farsight bundle --out report.tar.gz", json: "what was written, as JSON",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&path, "out", "", "file to write, which must not exist (default farsight-bundle-<time>.tar.gz here)")
			f.BoolVar(&names, "names", false, "keep Riot IDs and PUUIDs")
			f.BoolVar(&noCheck, "no-check", false, "leave out the full check of the store, which may take minutes")
		},
		bare: func(cmd *cobra.Command, _ []string) error {
			// One instant for the name of the file, its README and the times in the archive.
			o := bundle.Options{Version: version(), At: wall.Now(), Names: names}
			if path == "" {
				path = "farsight-bundle-" + o.At.Format("20060102T150405Z") + ".tar.gz"
			}
			return runBundle(cmd.Context(), findInstallation(cmd), o, path, !noCheck, stdout(cmd))
		},
	}
}

// runBundle collects what it can and writes it. A part that cannot be had is named in the bundle
// instead, for what cannot be read is often what the report is about; only an interruption leaves no
// file.
func runBundle(ctx context.Context, i installation, o bundle.Options, path string, full bool, out cli.Out) error {
	// The full check reads all of the store; without it a bundle is made in a second.
	look := i.forDoctor(ctx, out.Width)
	look.Full = full
	said, err := doctor.Examine(ctx, look)
	if err != nil {
		return err
	}
	// The key in use is cut out by itself; other keys are known by their form.
	if i.keyless == nil {
		o.Key = i.keys.Get()
	}
	// What the console tells goes in first: the names of players are learnt there, and only then can
	// they be cut out of the log and the diagnosis.
	b := bundle.New(o)
	err = browse(ctx, i.cfg, func(c engine.Console) error {
		b.AddStored(ctx, c)
		return nil
	})
	if err != nil {
		b.Add("stored.txt", "why what is stored is not here", fmt.Appendln(nil, err))
	}
	b.Add("version.txt", "this build and the modules in it", []byte("farsight "+version()+"\n"+strings.Join(modules(), "\n")+"\n"))
	b.AddJSON("doctor.json", "what `farsight doctor` finds", said)
	b.AddJSON("config.json", "every setting with its source", i.settings())
	b.AddLog(logbook.Path(i.cfg.DataDir))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w, err := b.Write(path)
	if err != nil {
		return err
	}
	// What is in the file, as the file's own list does: somebody is about to send it.
	return cli.Report(out, w, func(w bundle.Written, out cli.Out) error {
		for line := range strings.Lines(w.Readme) {
			_, _ = fmt.Fprintln(out.W, safe.Text(strings.TrimSuffix(line, "\n")))
		}
		_, err := fmt.Fprintf(out.W, "\nwritten to %s, %s\n", safe.Text(w.Path), human.Bytes(w.Bytes))
		return err
	})
}

// settings are those that `farsight config` shows.
func (i installation) settings() []engine.Setting {
	// The key is no setting, for settings may stand in a file that others read; it is shown like one.
	key := engine.Setting{Name: keyShown, Value: "none", Source: "default", Env: keyring.Env}
	switch {
	case i.keyless != nil:
		key.Value = "unusable: " + i.keyless.Error()
	// Only the last four characters of it: see riot.Key.
	case !i.keys.Get().IsZero():
		key.Value, key.Source = i.keys.Get().String(), i.keys.From()
	}
	return append([]engine.Setting{key}, i.cfg.Sources...)
}
