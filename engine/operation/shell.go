package operation

import (
	"context"

	"github.com/farsight-console/farsight/engine"
)

// maxOwn is how many bytes a user's own command may have.
const maxOwn = 4 << 10

// shell lets a console run a command of its user's own: it is in the audit before it runs. It does not
// run here: the console does that, at its user's own place, once this has answered.
func (o *Operator) shell(_ context.Context, cmd engine.Command) (engine.Receipt, error) {
	switch own := cmd.Own; {
	case own == nil || own.Name == "" || own.Run == "":
		return refuse(engine.ErrInvalid, "say its name and its line", "no command of a user's own is described")
	case len(own.Name)+len(own.Run)+len(own.On) > maxOwn:
		return refuse(engine.ErrInvalid, "call a script", "the command is longer than %d bytes", maxOwn)
	}
	return engine.Receipt{Matched: 1, Applied: 1, Text: "runs where the console is: " + cmd.Own.Run}, nil
}
