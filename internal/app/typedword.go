package app

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/cli"
)

// typedWord asks before what cannot be undone: on a terminal a shown word must be
// typed, elsewhere --yes must have been said.
type typedWord struct {
	yes, asks bool
	out       cli.Out
	in        io.Reader
}

// askOn asks where a command was given.
func askOn(cmd *cobra.Command, yes bool) typedWord {
	out := stdout(cmd)
	return typedWord{yes: yes, asks: term.IsTerminal(int(os.Stdin.Fd())) && !out.JSON, out: out, in: cmd.InOrStdin()}
}

// confirm shows what would be done and wants the word. does says it to those who
// cannot be asked; undone, to those who type something else, that nothing was.
func (w typedWord) confirm(word, would, does, undone string) error {
	shown := strings.TrimSpace(safe.Text(word))
	switch {
	case w.yes:
		return nil
	case !w.asks:
		return usagef("%s: say --yes, or see --dry-run", does)
	}
	_, _ = fmt.Fprintf(w.out.W, "%s\ntype %s to go on: ", safe.Text(would), shown)
	line, _ := bufio.NewReader(w.in).ReadString('\n')
	if !strings.EqualFold(strings.TrimSpace(line), shown) {
		return usagef("%s: %s was not typed", undone, shown)
	}
	return nil
}
