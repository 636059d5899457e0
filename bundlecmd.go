package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/wall"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/ui/cli"
)

// bundleOptions are the flags of `farsight bundle`.
type bundleOptions struct {
	out     string
	names   bool
	noCheck bool
}

func bundleCommand() *cobra.Command {
	var opt bundleOptions
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Pack what a bug report needs into one file, without the key and without names",
		Long: "Packs version, diagnosis, configuration, queues, limits, schedules, alerts, the newest\n" +
			"jobs with their attempts, the operators' commands, the end of the log and the result of\n" +
			"a check into one archive. The API key is never in it. Riot IDs and PUUIDs are replaced\n" +
			"unless --names keeps them. Nothing is sent anywhere.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runBundle(cmd.Context(), newDoctor(cmd, doctorOptions{full: !opt.noCheck}), opt, stdout(cmd))
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.out, "out", "", "file to write, which must not exist (default farsight-bundle-<time>.tar.gz here)")
	f.BoolVar(&opt.names, "names", false, "keep Riot IDs and PUUIDs")
	f.BoolVar(&opt.noCheck, "no-check", false, "leave out the full check of the store, which may take minutes")
	f.Bool("json", false, "what was written, as JSON")
	return cmd
}

func runBundle(ctx context.Context, d *doctor, opt bundleOptions, out cli.Out) error {
	at := wall.Now()
	if opt.out == "" {
		opt.out = "farsight-bundle-" + at.Format("20060102T150405Z") + ".tar.gz"
	}
	var key riot.Key
	if d.keyless == nil {
		key = d.keys.Get()
	}
	b := &bundle{mask: newMasker(key, opt.names)}
	said, err := d.examine(ctx)
	if err != nil {
		return err
	}
	b.fromStore(ctx, d.cfg)
	b.add("version.txt", "this build and the modules in it", []byte("farsight "+version()+"\n"+strings.Join(modules(), "\n")+"\n"))
	b.addJSON("doctor.json", "what `farsight doctor` finds", said)
	b.addJSON("config.json", "every setting with its source", settingsOf(d))
	b.log(d.cfg.DataDir)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	readme := b.readme(at, opt.names)
	if err := b.write(opt.out, at, readme); err != nil {
		return err
	}
	return b.report(opt.out, readme, opt.names, out)
}

// fromStore adds what the engine that runs, or the directory, can tell. It goes
// first: who plays is learnt there, to be found in all that follows.
func (b *bundle) fromStore(ctx context.Context, cfg Config) {
	err := browse(ctx, cfg, func(c engine.Console) error {
		b.mask.learn(ctx, c)
		b.stored(ctx, c)
		return nil
	})
	if err != nil {
		b.add("stored.txt", "why what is stored is not here", fmt.Appendln(nil, err))
	}
}

// settingsOf are the settings as `farsight config` shows them.
func settingsOf(d *doctor) []cli.Setting {
	key := cli.Setting{Name: "api_key", Value: "none", Source: "default", Env: keyEnv}
	switch {
	case d.keyless != nil:
		key.Value = "unusable: " + d.keyless.Error()
	case !d.keys.Get().IsZero():
		key.Value, key.Source = d.keys.Get().String(), d.keys.from()
	}
	return append([]cli.Setting{key}, d.cfg.Sources...)
}
