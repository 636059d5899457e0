package session

import (
	"context"

	"github.com/farsight-console/farsight/ui/chaos"
)

// Chaos breaks the simulated Riot of a demo. A console that works with a real key
// is never given one, so its panel cannot be opened there.
type Chaos interface {
	// State tells what is injected and what came of it. It must not wait.
	State() chaos.State
	// Inject carries an ask out and says so in one sentence. Errors are for the
	// message line.
	Inject(ctx context.Context, ask chaos.Ask) (said string, err error)
}

// NoChaos is why a console without Chaos breaks nothing.
const NoChaos = "only the demo has a chaos panel: there is nothing to break safely here"
