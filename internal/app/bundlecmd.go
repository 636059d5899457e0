package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/internal/bundle"
	"github.com/farsight-console/farsight/internal/doctor"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/ui/cli"
)

// bundleOptions are the flags of `farsight bundle`.
type bundleOptions struct {
	out     string // "" = a name with the instant, in the working directory
	names   bool   // Riot IDs and PUUIDs stay
	noCheck bool
}

// bundleCommand makes `farsight bundle`. It packs what it can get: of an installation that is broken,
// too, which is when somebody reports a bug.
func bundleCommand() commandDecl {
	var opt bundleOptions
	return commandDecl{
		use: "bundle", group: groupWhy, short: "Pack what a bug report needs into one file, without the key and without names",
		long: "Packs version, diagnosis, configuration, queues, limits, schedules, alerts, the newest\n" +
			"jobs with their attempts, the operators' commands, the end of the log and the result of\n" +
			"a check into one archive. The API key is never in it. Riot IDs and PUUIDs are replaced\n" +
			"unless --names keeps them. Nothing is sent anywhere.",
		example: "farsight bundle --out report.tar.gz", json: "what was written, as JSON",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&opt.out, "out", "", "file to write, which must not exist (default farsight-bundle-<time>.tar.gz here)")
			f.BoolVar(&opt.names, "names", false, "keep Riot IDs and PUUIDs")
			f.BoolVar(&opt.noCheck, "no-check", false, "leave out the full check of the store, which may take minutes")
		},
		bare: func(cmd *cobra.Command, _ []string) error {
			return runBundle(cmd.Context(), findInstallation(cmd), opt, stdout(cmd))
		},
	}
}

// runBundle collects what it can and writes it. A part that cannot be had is named in the bundle
// instead, for what cannot be read is often what the report is about; only an interruption leaves no
// file.
func runBundle(ctx context.Context, i installation, opt bundleOptions, out cli.Out) error {
	// One instant for the name of the file, its README and the times in the archive.
	at := wall.Now()
	if opt.out == "" {
		opt.out = "farsight-bundle-" + at.Format("20060102T150405Z") + ".tar.gz"
	}
	// The full check reads all of the store; without it a bundle is made in a second.
	look := i.forDoctor(ctx, out.Width)
	look.Full = !opt.noCheck
	said, err := doctor.Examine(ctx, look)
	if err != nil {
		return err
	}
	o := bundle.Options{Version: version(), At: at, Names: opt.names}
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
	w, err := b.Write(opt.out)
	if err != nil {
		return err
	}
	return cli.Report(out, w, printWritten)
}

// printWritten says what is in the file, as the file's own list does: somebody is about to send it.
func printWritten(w bundle.Written, out cli.Out) error {
	for line := range strings.Lines(w.Readme) {
		_, _ = fmt.Fprintln(out.W, safe.Text(strings.TrimSuffix(line, "\n")))
	}
	_, err := fmt.Fprintf(out.W, "\nwritten to %s, %s\n", safe.Text(w.Path), human.Bytes(w.Bytes))
	return err
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
