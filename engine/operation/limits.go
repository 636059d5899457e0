package operation

import (
	"context"
	"errors"
	"fmt"

	"github.com/farsight-console/farsight/engine"
)

// freeze stops a host's calls, or those of one method of it, or caps them at a share of their limit.
// Its dry run does not ask whether Riot has such a host: the limiter refuses that when it is meant.
func (o *Operator) freeze(_ context.Context, cmd engine.Command) (engine.Receipt, error) {
	r := engine.Receipt{Matched: 1, Text: "bucket " + bucketName(cmd.Bucket) + " frozen: its jobs wait, none fails"}
	// Cap is in percent of the limit; 0 = nothing goes.
	if cmd.Bucket.Cap > 0 {
		r.Text = fmt.Sprintf("bucket %s capped at %d %%: what goes beyond it waits, none fails",
			bucketName(cmd.Bucket), cmd.Bucket.Cap)
	}
	if cmd.DryRun {
		r.Text = "would have " + r.Text
		return r, nil
	}
	if err := o.opt.Limiter.Freeze(cmd.Bucket, cmd.Reason); err != nil {
		return engine.Receipt{Matched: 1}, err
	}
	r.Applied = 1
	return r, nil
}

// thaw ends a freeze, a cap or a long wait that Riot asked for, and says which. Where there was none it
// says so and changes nothing.
func (o *Operator) thaw(_ context.Context, cmd engine.Command) (engine.Receipt, error) {
	r := engine.Receipt{Matched: 1, Text: "bucket " + bucketName(cmd.Bucket) + " open again"}
	if cmd.DryRun {
		r.Text = "would have " + r.Text
		return r, nil
	}
	held, err := o.opt.Limiter.Thaw(cmd.Bucket)
	if err != nil {
		return engine.Receipt{Matched: 1}, err
	}
	if held == "" {
		return engine.Receipt{Matched: 1, Nothing: true, Text: "bucket " + bucketName(cmd.Bucket) + " was not frozen"}, nil
	}
	r.Applied, r.Text = 1, r.Text+": it was "+held
	return r, nil
}

// untriedKey is among the Skipped of a receipt for a key that Riot could not be asked about.
const untriedKey = "not tried"

// replaceKey puts another API key in place, unless Riot refuses it, and only then lets the limiter try it: the hold
// of the old one ends at once. One that Riot could not be asked about is taken, for the engine goes on to try it,
// and the receipt says so. A dry run only asks, without a key about the one in use.
func (o *Operator) replaceKey(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	verdict, r := ": Riot lets it in", engine.Receipt{Matched: 1}
	// Errors tell what is wrong with a key, and never the key.
	if err := o.tryKey(ctx, cmd.Key); errors.Is(err, engine.ErrRefused) || errors.Is(err, engine.ErrInvalid) {
		return r, err
	} else if err != nil {
		verdict, r.Skipped = fmt.Sprintf("; %s: %v", untriedKey, err), map[string]int{untriedKey: 1}
	}
	switch {
	case cmd.DryRun && cmd.Key == "":
		r.Text = "the API key in use is " + o.opt.Keys.Shown() + verdict
		return r, nil
	case cmd.DryRun:
		r.Text = "would replace the API key" + verdict
		return r, nil
	}
	if err := o.opt.Keys.Replace(cmd.Key); err != nil {
		return refuse(engine.ErrInvalid, "", "%v", err)
	}
	o.opt.Limiter.KeyChanged()
	r.Applied, r.Text = 1, "API key replaced, now "+o.opt.Keys.Shown()+verdict
	return r, nil
}

// tryKey asks Riot about a key, see [Options].TryKey.
func (o *Operator) tryKey(ctx context.Context, key string) error {
	if o.opt.TryKey == nil {
		return errors.New("this engine makes no calls")
	}
	return o.opt.TryKey(ctx, key)
}
