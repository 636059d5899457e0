package ui

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
)

// refused says why nothing can be changed, if that is so.
func (p *plain) refused() bool {
	why := refusal(&p.rows.data, p.opt)
	if why != "" {
		p.say("Refused: " + why + ".")
	}
	return why != ""
}

func (p *plain) sync(arg string) {
	if p.refused() {
		return
	}
	c, wrong := parseSync(arg, &p.rows.data)
	if wrong != "" {
		p.say("Nothing was done: " + wrong + ".")
		return
	}
	p.carryOut(page.SyncOf(c))
}

// plainJob acts on a live job as its key on a list would.
func plainJob(a page.Action) func(p *plain, arg string) {
	return func(p *plain, arg string) {
		if p.refused() {
			return
		}
		j, ok := p.liveJob(arg)
		if row, found := p.accountNamed(arg); found && !ok {
			j, ok = p.liveJob(string(row.Job))
		}
		if !ok {
			p.say("No live job is called " + strings.TrimPrefix(arg, "job:") + ": jobs lists them.")
			return
		}
		effect, wrong := page.ActOn(p.view(), j, a)
		if wrong != "" {
			p.say("Nothing was done: " + wrong + ".")
			return
		}
		p.carryOut(effect)
	}
}

// reclass opens the discarded jobs of an error class again, after a question.
func (p *plain) reclass(arg string) {
	if p.refused() {
		return
	}
	class, reason := reasoned(arg)
	if class == "" {
		p.say("Nothing was done: name an error class, such as 404.")
		return
	}
	e := page.ReclassOf(class)
	e.Do.Reason = reason
	p.carryOut(e)
}

func (p *plain) purge() {
	if !p.refused() {
		p.carryOut(page.PurgeJobs())
	}
}

// forget deletes an account, once its name is typed.
func (p *plain) forget(arg string) {
	if p.refused() {
		return
	}
	name, reason := reasoned(arg)
	a, ok := p.accountNamed(name)
	if !ok {
		p.say("Nothing was done: there is no account " + or(name, "without a name") + ".")
		return
	}
	p.carryOut(page.ForgetAccount(a, reason))
}

func (p *plain) call(arg string) {
	if p.refused() {
		return
	}
	e, wrong := callOf(arg)
	if wrong != "" {
		p.say("Nothing was done: " + wrong + ".")
		return
	}
	p.carryOut(e)
}

func (p *plain) takeBack(arg string) {
	if p.refused() {
		return
	}
	if arg != "" {
		c, wrong := undoOf(arg)
		if wrong != "" {
			p.say("Nothing was done: " + wrong + ".")
			return
		}
		p.do(c)
		return
	}
	if p.undo.audit == 0 || time.Now().After(p.undo.until) {
		p.say("There is nothing to undo: a cancel, a pause, a new time or a plan can be taken back within 10 seconds.")
		return
	}
	c := engine.Command{Op: engine.OpUndo, Audit: p.undo.audit}
	p.undo = undo{}
	p.do(c)
}

// carryOut does what an effect asks for; a question waits for the next line.
func (p *plain) carryOut(e page.Effect) {
	if e.Say.Text != "" {
		p.say(e.Say.Text + ".")
	}
	cost, free, nothing := p.weigh(e)
	if nothing {
		p.say(cost...)
		return
	}
	all := e.DoAll
	if e.Do != nil {
		all = append(all, *e.Do)
	}
	if len(all) == 0 {
		return
	}
	if e.Confirm == nil || free {
		for _, c := range all {
			p.do(c)
		}
		return
	}
	p.say(e.Confirm.Question)
	p.say(e.Confirm.Lines...)
	p.say(cost...)
	word := or(e.Confirm.Word, "yes")
	p.say("Type " + word + " to " + e.Confirm.Yes + ", anything else leaves it.")
	p.next = func(answer string) {
		if !strings.EqualFold(answer, word) {
			p.say("Nothing was done.")
			return
		}
		for _, c := range all {
			p.do(c)
		}
	}
}

// weigh asks the engine what an effect that is tried first would do and cost, and
// reports whether that is so little that no question is needed. What the engine refuses
// is none either: the command itself is refused then, with the reason. Where there is
// nothing to do, there is nothing to ask.
func (p *plain) weigh(e page.Effect) (lines []string, free, nothing bool) {
	if !e.Try || e.Do == nil {
		return nil, false, false
	}
	try := *e.Do
	try.By, try.DryRun = p.opt.actor(), true
	r, err := p.console.Do(p.ctx, try)
	switch {
	case err != nil:
		return nil, true, false
	case r.Nothing:
		return []string{r.Text + "."}, false, true
	}
	if r.Select != nil {
		e.Do.Select = r.Select // what is confirmed is what was counted
	}
	if r.Text != "" && try.Op != engine.OpTrigger {
		lines = append(lines, r.Text+".")
	}
	if line := costLine(weighed{command: *e.Do, receipt: r}, p.view().Now); line != "" {
		lines = append(lines, line)
	}
	return lines, e.Free > 0 && (r.Cost == nil || r.Cost.Calls <= e.Free), false
}

// do carries out a command and says what became of it.
func (p *plain) do(c engine.Command) {
	c.By = p.opt.actor()
	r, err := p.console.Do(p.ctx, c)
	switch {
	case err != nil:
		p.say("Refused: " + page.Sentence(err) + ".")
	case r.Text != "":
		p.say("Done: " + r.Text + ".")
	default:
		p.say("Done.")
	}
	if err == nil && r.Undo {
		p.undo = undo{r.Audit, time.Now().Add(undoFor)}
		p.say("undo takes it back within 10 seconds.")
	}
}
