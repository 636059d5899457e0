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
	c, wrong := parseSync(arg)
	if wrong != "" {
		p.say("Nothing was done: " + wrong + ".")
		return
	}
	p.do(c)
}

// plainQueue is a command on a queue.
func plainQueue(op engine.Op) func(p *plain, arg string) {
	return func(p *plain, arg string) {
		if p.refused() {
			return
		}
		if _, ok := p.rows.data.Queue(engine.Queue(arg)); !ok {
			var names []string
			for _, q := range p.rows.data.Queues {
				names = append(names, string(q.Name))
			}
			p.say("Name a queue: " + strings.Join(names, ", ") + ".")
			return
		}
		p.do(engine.Command{Op: op, Queue: engine.Queue(arg)})
	}
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

func (p *plain) takeBack(string) {
	if p.refused() {
		return
	}
	if p.undo.audit == 0 || time.Now().After(p.undo.until) {
		p.say("There is nothing to undo: a cancel, a pause or a new time can be taken back within 10 seconds.")
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
	all := e.DoAll
	if e.Do != nil {
		all = append(all, *e.Do)
	}
	if len(all) == 0 {
		return
	}
	if e.Confirm == nil {
		for _, c := range all {
			p.do(c)
		}
		return
	}
	p.say(e.Confirm.Question)
	p.say(e.Confirm.Lines...)
	p.say("Type yes to " + e.Confirm.Yes + ", anything else leaves it.")
	p.next = func(answer string) {
		if !strings.EqualFold(answer, "yes") {
			p.say("Nothing was done.")
			return
		}
		for _, c := range all {
			p.do(c)
		}
	}
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
