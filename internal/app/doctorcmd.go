package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/doctor"
	"github.com/farsight-console/farsight/internal/keyring"
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
			return runDoctor(cmd.Context(), o, out)
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
		Browse: func(ctx context.Context, db doctor.Store) engine.Console { return browser(ctx, db.(store), i.cfg) },
		Check:  func(ctx context.Context) (storage.CheckReport, error) { return checkInChild(ctx, i.cfg) },
	}
	if i.cfg.Store != "" {
		o.Server = storeName(i.cfg)
	}
	// River's tables are looked at without a client of River, and so without starting anything.
	o.River = func(ctx context.Context, db doctor.Store) (doctor.River, error) {
		found, err := river.Find(ctx, db.(*sharedStore).server)
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
			key, rest := keySetting(settings)
			return &doctor.Engine{Row: s.Engine, From: key.Source}, rest
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

// keySetting takes the key, which is no setting but is shown as one, from the others.
func keySetting(settings []engine.Setting) (key engine.Setting, rest []engine.Setting) {
	for _, s := range settings {
		if s.Name == keyShown {
			key = s
		} else {
			rest = append(rest, s)
		}
	}
	return key, rest
}

// runDoctor prints a diagnosis and turns it into an exit code.
func runDoctor(ctx context.Context, o doctor.Options, out cli.Out) error {
	// An error is an interruption, or a store that could not be closed; what is wrong is in what was
	// said.
	said, err := doctor.Examine(ctx, o)
	if err != nil {
		return err
	}
	if err := cli.Report(out, said, printDiagnosis); err != nil {
		return err
	}
	switch {
	// Graver than any number of faults, and told apart by its code: scripts stop there.
	case said.Damaged:
		return &coded{code: exitIncomplete, quiet: true, err: errors.New("the store is damaged")}
	case said.Faults > 0:
		return &coded{code: exitFailed, quiet: true, err: fmt.Errorf("%d faults", said.Faults)}
	}
	return nil
}

// printDiagnosis cleans each line: paths and errors come from outside.
func printDiagnosis(said doctor.Diagnosis, out cli.Out) error {
	clean := safe.Text
	if out.ASCII {
		clean = safe.ASCII
	}
	return said.Print(out.W, clean)
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
