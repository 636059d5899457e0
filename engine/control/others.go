package control

import (
	"context"
	"errors"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Payloads reads Riot's JSON of a stored match or timeline; engine.ErrNotFound
// when there is none.
type Payloads func(ctx context.Context, q engine.PayloadQuery) ([]byte, error)

// Payloads lets the console of stored data give out payloads.
func (b *Browse) Payloads(read Payloads) *Browse {
	b.payloads = read
	return b
}

func (f finder) payload(ctx context.Context, q engine.PayloadQuery) (engine.Answer, error) {
	if f.payloads == nil {
		return nil, engine.Problemf(engine.ErrInvalid, "", "this console cannot read payloads")
	}
	raw, err := f.payloads(ctx, q)
	if errors.Is(err, engine.ErrNotFound) {
		return nil, engine.Problemf(engine.ErrNotFound, "", "%v", err)
	}
	return wrap(engine.Payload{JSON: raw}, err)
}

// tell shows every console what an operator has done, and who it was.
func (c *Control) tell(cmd engine.Command, r engine.Receipt) {
	if r.Nothing || r.Joined {
		return
	}
	text := string(cmd.Op) + " " + targetOf(cmd, r)
	if targetOf(cmd, r) == string(cmd.Op) {
		text = string(cmd.Op)
	}
	if r.Text != "" {
		text += ": " + r.Text
	}
	c.hub.Note(engine.Note{At: time.Now(), Level: engine.LevelInfo, Text: cmd.By.User + ": " + text, Job: cmd.Job, By: cmd.By})
}

// Refuse writes the audit entry of a command that was refused before it came here:
// who asked may not.
func (c *Control) Refuse(ctx context.Context, cmd engine.Command, why string) error {
	_, err := c.audit(ctx, cmd, engine.Receipt{}, engine.Problemf(engine.ErrRefused, "", "refused: %s", why))
	return err
}
