package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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

// asks asks where a command was given. With --json nobody reads the question, even on a terminal.
func (g given) asks() typedWord {
	return typedWord{yes: g.yes, asks: term.IsTerminal(int(os.Stdin.Fd())) && !g.out.JSON, out: g.out, in: g.cmd.InOrStdin()}
}

// confirm shows what would be done and wants the word. does says it to those who
// cannot be asked; undone, to those who type something else, that nothing was.
func (w typedWord) confirm(word, would, does, undone string) error {
	// What is typed is compared with what is shown: a name with signs that a terminal cannot show
	// could never be typed otherwise.
	shown := strings.TrimSpace(safe.Text(word))
	switch {
	case w.yes:
		return nil
	case !w.asks:
		return usagef("%s: say --yes, or see --dry-run", does)
	}
	_, _ = fmt.Fprintf(w.out.W, "%s\ntype %s to go on: ", safe.Text(would), shown)
	// The end of the input is an empty answer, which is not the word.
	line, _ := bufio.NewReader(w.in).ReadString('\n')
	if !strings.EqualFold(strings.TrimSpace(line), shown) {
		return usagef("%s: %s was not typed", undone, shown)
	}
	return nil
}

// yesNo shows what would be done and wants the word yes, typed whole. Unlike [typedWord.confirm] it
// takes any other answer for a change of mind, which is no wrong usage.
func (w typedWord) yesNo(does, undone string, show func() error) error {
	switch {
	case w.yes:
		return nil
	case !w.asks:
		return usagef("%s: say --yes, or see --dry-run", does)
	}
	if err := show(); err != nil {
		return err
	}
	_, _ = fmt.Fprint(w.out.W, "type yes to go on: ")
	var answer string
	if _, _ = fmt.Scanln(&answer); answer != "yes" {
		return errors.New(undone)
	}
	return nil
}
