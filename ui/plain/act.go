package plain

import (
	"cmp"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/ui/line"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/session"
)

// refused says why nothing can be changed, if that is so: the console is read only, no engine runs, or it
// was lost. It says so before a question is asked, not after.
func (p *plain) refused() bool {
	why := p.opt.Refuses(&p.rows.Data)
	if why != "" {
		p.say("Refused: " + why + ".")
	}
	return why != ""
}

// operate carries out what stands behind an operation's word, after its question. undo alone takes back
// what was done last; with a number it is a command like the others.
func (p *plain) operate(o operation.Operation, arg string) {
	switch {
	case p.refused():
		return
	case o.Op == engine.OpUndo && arg == "":
		p.takeBack()
		return
	}
	e, wrong := line.Read(p.view(), o, arg)
	if wrong != "" {
		p.say("Nothing was done: " + wrong + ".")
		return
	}
	p.carryOut(e)
}

// takeBack takes the last command back. Whether it still can be, the engine says: its jobs may have
// moved on.
func (p *plain) takeBack() {
	if !p.undo.Open(time.Now()) {
		within := " can be taken back within " + human.Spoken(session.UndoFor) + "."
		p.say("There is nothing to undo: a " + operation.UndoWords("or") + within)
		return
	}
	p.do(p.undo.Take())
}

// carryOut does what an effect asks for; a question waits for the next line.
// The effect is the one that a key of the screen would have: its question, its word and its cost are
// asked here in lines.
func (p *plain) carryOut(e page.Effect) {
	// A page may answer without doing anything: that a job has ended already.
	if e.Say.Text != "" {
		p.say(e.Say.Text + ".")
	}
	cost, free, nothing := p.weigh(e)
	if nothing {
		p.say(cost...)
		return
	}
	all := e.DoAll // of marked rows: one command for each
	if e.Do != nil {
		all = append(all, *e.Do)
	}
	if len(all) == 0 {
		return
	}
	carry := func() {
		for _, c := range all {
			p.do(c)
		}
	}
	if e.Confirm == nil || free {
		carry()
		return
	}
	p.say(e.Confirm.Question)
	p.say(e.Confirm.Lines...)
	p.say(cost...)
	word := cmp.Or(e.Confirm.Word, "yes") // what cannot be undone has a word of its own, such as purge
	p.say("Type " + word + " to " + e.Confirm.Yes + ", anything else leaves it.")
	p.ask(func(answer string) bool { return strings.EqualFold(answer, word) }, carry)
}

// ask takes the next line as an answer: one that agrees lets do happen, any other leaves it.
func (p *plain) ask(agrees func(answer string) bool, do func()) {
	p.next = func(answer string) {
		if !agrees(answer) {
			p.say("Nothing was done.")
			return
		}
		do()
	}
}

// weigh asks the engine what an effect that is tried first would do and cost, and
// reports whether that is so little that no question is needed (free). No question either where
// the engine refuses: the command itself is refused then, with the reason. Where there is
// nothing to do (nothing), there is nothing to ask.
func (p *plain) weigh(e page.Effect) (lines []string, free, nothing bool) {
	if !e.Try || e.Do == nil {
		return nil, false, false
	}
	// The same command as a dry run: nothing is changed and nothing stands in the audit.
	try := *e.Do
	try.By, try.DryRun = p.opt.By(), true
	r, err := p.console.Do(p.ctx, try)
	switch {
	case err != nil:
		return nil, true, false
	case r.Nothing:
		return []string{r.Text + "."}, false, true
	}
	lines, free = page.Tried(e.Do, r, e.Free, p.view().Now)
	return lines, free, false
}

// do carries out a command and says what became of it: "Done: cancelled 3 jobs."
func (p *plain) do(c engine.Command) {
	c.By = p.opt.By()
	r, err := p.console.Do(p.ctx, c)
	// The engine's words are half sentences, so that a screen can put a sign before them.
	switch {
	case err != nil:
		p.say("Refused: " + page.Sentence(err) + ".")
	case r.Text != "":
		p.say("Done: " + r.Text + ".")
	default:
		p.say("Done.")
	}
	// A command that cannot be taken back leaves the one before it, which still can be.
	if err == nil && p.undo.Keep(r, time.Now()) {
		p.say("undo takes it back within " + human.Spoken(session.UndoFor) + ".")
	}
}
