package operation

import (
	"context"
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

// replaceKey puts another API key in place, and only then lets the limiter try it: the hold of the old
// one ends at once.
func (o *Operator) replaceKey(_ context.Context, cmd engine.Command) (engine.Receipt, error) {
	// The error tells what is wrong with the form of a key, and never the key.
	if err := o.opt.Keys.Replace(cmd.Key); err != nil {
		return refuse(engine.ErrInvalid, "", "%v", err)
	}
	o.opt.Limiter.KeyChanged()
	return engine.Receipt{Matched: 1, Applied: 1, Text: "API key replaced, now " + o.opt.Keys.Shown()}, nil
}
