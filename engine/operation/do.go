package operation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot"
)

// auditTime is how long an audit entry may take to be on disk.
const auditTime = 30 * time.Second

func unknown(op engine.Op) (engine.Receipt, error) {
	return refuse(engine.ErrInvalid, "see /openapi.json for those there are", "this Farsight does not know the command %q", op)
}

// Do carries out one command and writes an audit entry, whatever came of it.
// Errors are *engine.Problem.
//
// It is the one way to all operations, of consoles, commands, HTTP and the canary. A refused command is
// audited, too; a dry run is not, since it does nothing. engine.ErrInvalid = there is no such
// operation.
func (o *Operator) Do(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	run := Of(cmd.Op).run
	if run == nil {
		return unknown(cmd.Op)
	}
	ctx = engine.AsOrder(ctx)
	var r engine.Receipt
	err := check(cmd)
	if err == nil {
		r, err = run(o, ctx, cmd)
	}
	if err != nil {
		err = engine.ProblemOf(err)
	}
	if cmd.DryRun {
		// An operation that starts syncs has asked for the delays itself, since it knows whose they
		// are.
		if err == nil && r.Cost != nil && r.Cost.Delays == nil && r.Cost.Unknown == "" {
			o.opt.Delays(ctx, r.Cost, false)
		}
		return r, err
	}
	// What was done is written down, also when whoever asked for it has gone since.
	auditing, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
	defer cancel()
	if cmd.Account != "" && cmd.Op != engine.OpForget { // consoles name it by its id
		if a, err := o.opt.Store.AccountRow(auditing, cmd.Account); err == nil {
			cmd.Account = cmp.Or(a.RiotID, cmd.Account)
		}
	}
	e, auditErr := o.audit(auditing, cmd, r, err)
	r.Audit, r.Undo = e.Seq, undoable(e)
	if err == nil {
		o.announce(cmd, r)
	}
	if auditErr != nil && err == nil {
		return r, engine.ProblemOf(fmt.Errorf(
			"the command was carried out, but its audit entry was not written: %w", auditErr))
	}
	return r, err
}

// maxReason is how long a reason may be, in characters: it stands in the audit, in the log and with each job that
// the command is about, which may be a hundred thousand.
const maxReason = 1000

// check refuses a command that is not to be kept as it is: audit, log and jobs say what it says. The lines of
// a list are looked at one by one.
func check(cmd engine.Command) error {
	cmd.Lines = nil
	words, err := json.Marshal(cmd)
	if err != nil {
		return err
	}
	if text := string(words); riot.Redact(text) != text {
		return errKeyInWords
	}
	return CheckReason(cmd.Reason)
}

var errKeyInWords = engine.Problemf(engine.ErrInvalid, "leave it out; a new key is set by K in the console",
	"an API key stands where a name or a reason belongs, and nothing of it was kept")

// CheckReason refuses a reason that cannot be kept: *engine.Problem with engine.ErrInvalid.
func CheckReason(reason string) error {
	if riot.Redact(reason) != reason {
		return errKeyInWords
	}
	if n := utf8.RuneCountInString(reason); n > maxReason {
		return engine.Problemf(engine.ErrInvalid, "shorten it", "the reason has %d characters: at most %d are kept", n, maxReason)
	}
	return nil
}

// audit writes the entry of a command, with what is needed to take it back. It comes after the deed: an
// engine that is killed between the two has done what no entry tells, but the history of the jobs does.
func (o *Operator) audit(
	ctx context.Context, cmd engine.Command, r engine.Receipt, err error,
) (engine.AuditEntry, error) {
	if r.Audit != 0 { // the store wrote it in one transaction with what was done
		return engine.AuditEntry{Seq: r.Audit}, nil
	}
	e := engine.AuditEntry{
		At: time.Now(), By: cmd.By, Op: cmd.Op, Target: riot.Redact(targetOf(cmd, r)), Reason: riot.Redact(cmd.Reason),
		Result: r.Text, Matched: r.Matched, Applied: r.Applied, Moves: r.Moves, Queue: r.Queue, Schedule: r.Schedule,
	}
	if err != nil { // the words of a refused command were not checked
		e.Result = riot.Redact(err.Error())
		e.Target, e.Reason = safe.Line(e.Target, maxReason), safe.Line(e.Reason, maxReason)
	}
	if o.opt.Audit != nil {
		e.Seq, err = o.opt.Audit(ctx, e)
	} else {
		e.Seq, err = AddAudit(ctx, o.opt.Store, e)
	}
	return e, err
}

// AddAudit writes an entry, and gives its number.
func AddAudit(ctx context.Context, s interface {
	Write(ctx context.Context, fn func(engine.Tx) error) error
	AddAudit(tx engine.Tx, e engine.AuditEntry) (uint64, error)
}, e engine.AuditEntry) (seq uint64, err error) {
	err = s.Write(ctx, func(tx engine.Tx) (err error) {
		seq, err = s.AddAudit(tx, e)
		return err
	})
	return seq, err
}

// announce shows every console what an operator has done, and who it was.
func (o *Operator) announce(cmd engine.Command, r engine.Receipt) {
	// What changed nothing is no news to others.
	if r.Nothing || r.Joined {
		return
	}
	text, of := string(cmd.Op), targetOf(cmd, r)
	if of != text && !strings.HasPrefix(r.Text, of) && (cmd.Account == "" || !strings.Contains(r.Text, cmd.Account)) {
		text += " " + of // else it is told below whose it is
	}
	if r.Text != "" {
		text += ": " + r.Text
	}
	o.opt.Note(engine.Note{
		At: time.Now(), Level: engine.LevelInfo, Text: cmd.By.User + ": " + text, Job: cmd.Job, By: cmd.By,
	})
}

// Refuse writes the audit entry of a command that was refused before it came here:
// who asked may not.
func (o *Operator) Refuse(ctx context.Context, cmd engine.Command, why string) error {
	_, err := o.audit(ctx, cmd, engine.Receipt{}, engine.Problemf(engine.ErrRefused, "", "refused: %s", why))
	return err
}
