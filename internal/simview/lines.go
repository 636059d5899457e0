// Package simview shows what a simulated Riot makes of its clients' calls: as a line per
// call, and as a console whose Limits screen is fed by what the simulator counts.
package simview

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot/sim"
)

// every is how often the call log is read.
const every = 100 * time.Millisecond

// Follow prints calls as they end, until ctx does.
func Follow(ctx context.Context, s *sim.Sim, w io.Writer, asJSON bool) error {
	seq := 0
	for {
		// Looked at before reading: calls that end while ctx does are printed in the round after.
		ended := ctx.Err() != nil
		calls := s.Calls(seq, 1000)
		for _, c := range calls {
			if err := write(w, c, asJSON); err != nil {
				return err
			}
			seq = c.Seq
		}
		if ended && len(calls) == 0 {
			return nil
		}
		await.Pause(ctx, every)
	}
}

// write prints one call: as JSON with all that is known, or as a line.
func write(w io.Writer, c sim.Call, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(c)
	}
	_, err := fmt.Fprintln(w, line(c))
	return err
}

// line tells a call: when, the status, where to, the window that decided on it, for what,
// and what was wrong with it.
func line(c sim.Call) string {
	// 12:00:00.123 200 euw1     match-v5.match              application 3/20 in 1 s   EUW1_7012345678
	status := fmt.Sprint(c.Status)
	if c.Status == 0 {
		status = "---" // no answer
	}
	text := fmt.Sprintf("%s %s %-8s %-27s %-25s %s", c.At.Format("15:04:05.000"), status, c.Host, c.Method, useText(c.Window), c.ID)
	if notes := notes(c); len(notes) > 0 {
		text += "  " + strings.Join(notes, "; ")
	}
	return safe.Text(strings.TrimRight(text, " "))
}

// useText is the window that decided on a call, such as "application 20/20 in 1 s".
func useText(u sim.Use) string {
	if u.Limit == 0 {
		return "not counted"
	}
	return fmt.Sprintf("%s %d/%d in %s", u.Scope, u.Used, u.Limit, human.Dur(u.Per))
}

// notes are what a client may want to mend.
func notes(c sim.Call) (out []string) {
	// What the client did wrong goes before what the server did.
	if c.Violation {
		out = append(out, "BROKE THE LIMIT, "+ahead(c.Early)+" early")
	}
	// The gravest mistake of a client: Riot blocks keys that go on so.
	if c.Hasty > 0 {
		out = append(out, "came "+ahead(c.Hasty)+" before its Retry-After was over")
	}
	if c.RetryAfter != "" {
		out = append(out, "Retry-After "+c.RetryAfter)
	}
	if c.Status == 429 && c.LimitType != c.Window.Scope {
		out = append(out, "limit type "+cmp.Or(c.LimitType, "none"))
	}
	if c.Fault != "" {
		out = append(out, "fault "+c.Fault)
	}
	if c.Gone {
		out = append(out, "the client left before the end")
	}
	return out
}

// ahead is a time that something came too early by.
func ahead(d time.Duration) string {
	// Whether it was 3 or 30 ms depends on the network more than on the client.
	if d < 100*time.Millisecond {
		return "less than 0.1 s"
	}
	return human.Dur(d)
}
