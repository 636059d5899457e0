package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/storage"
)

func doctorCommand() *cobra.Command {
	var opt doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong with this installation, and say what to do",
		Long: "Looks at the configuration, the key, the data directory, the store, the disk, the clock,\n" +
			"the schedules and the terminal, one line each, and changes nothing. Exit 0: no fault;\n" +
			"1: faults; 3: the store is damaged. The key itself is never shown.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDoctor(cmd.Context(), newDoctor(cmd, opt), stdout(cmd))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&opt.full, "full", false, "read all of the store, in a process of its own; it may take minutes")
	f.BoolVar(&opt.network, "network", false, "connect to Riot, and make one call if there is a key")
	f.Bool("json", false, "as JSON")
	return cmd
}

// newDoctor reads the configuration and the key as every command does, but what is
// wrong with them is a finding.
func newDoctor(cmd *cobra.Command, opt doctorOptions) *doctor {
	d := &doctor{opt: opt, getenv: os.Getenv, width: stdout(cmd).Width}
	d.cfg, d.wrong = config(cmd)
	d.keys, d.keyless = loadKey(d.cfg)
	return d
}

// checkInChild runs `farsight check` as a child. A child that died is damage.
func checkInChild(ctx context.Context, cfg Config) (r checkReport, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, fmt.Errorf("start the check: %w", err)
	}
	child := exec.CommandContext(ctx, self, "check", "--json", "--data-dir", cfg.DataDir)
	var said, complained bytes.Buffer
	child.Stdout, child.Stderr = &said, &complained
	err = child.Run()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if json.Unmarshal(said.Bytes(), &r) == nil && r.Path != "" {
		return r, nil
	}
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case failed && exit.ExitCode() < 0:
		return r, &storage.Damaged{Path: cfg.DataDir, Why: "reading it ended the process (" + exit.String() + ")"}
	case failed && exit.ExitCode() == exitIncomplete:
		return r, &storage.Damaged{Path: cfg.DataDir, Why: firstLine(complained.String())}
	case err == nil:
		return r, errors.New("the check said nothing")
	}
	return r, fmt.Errorf("check %s: %s", cfg.DataDir, firstLine(complained.String()))
}

// firstLine is the first line of what a child said, without its own name.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimPrefix(strings.TrimSpace(line), "farsight: ")
}
