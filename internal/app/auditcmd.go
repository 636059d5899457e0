package app

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/cli"
)

// newWatchCommands are the commands that tell what has happened: the log, the
// operators' commands, and what led to a 429.
func newWatchCommands() []*cobra.Command {
	return []*cobra.Command{logsCommand(), auditCommand(), forensicsCommand()}
}

func auditCommand() *cobra.Command {
	var q engine.AuditQuery
	var op string
	var last int
	cmd := &cobra.Command{Use: "audit", Short: "Show which commands operators gave, when, why and with what result", Args: noArgs}
	f := cmd.Flags()
	f.StringVar(&op, "op", "", "only this command: cancel, retry, pause, freeze …")
	f.StringVar(&q.Text, "text", "", "only those with this text in who gave it, target, reason or result")
	f.IntVar(&last, "last", 200, "at most so many of the newest; 0 = all")
	cmd.RunE = lister(cmd, func(*cobra.Command, []string) (cli.List, error) {
		if last < 0 {
			return cli.List{}, usagef("--last %d makes no sense: use 1 or more, or 0 for all", last)
		}
		q.Op = engine.Op(op)
		return cli.Audit(q, last), nil
	})
	return cmd
}

func forensicsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "forensics [CALL]",
		Short: "Show what led to a 429: our counts beside Riot's, and who spent them",
		Args:  oneAtMost("call", "4711"),
		RunE: telling(func(args []string) (cli.List, error) {
			var q engine.ForensicsQuery
			if len(args) > 0 {
				n, err := strconv.ParseUint(args[0], 10, 64)
				if q.Seq = n; err != nil || n == 0 {
					return cli.List{}, usagef("%q is no number of a call: give one that `farsight forensics` names, or none for the latest 429", args[0])
				}
			}
			return cli.Forensics(q), nil
		}),
	}
	cmd.Flags().Bool("json", false, "as JSON")
	return cmd
}
