package ui

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
)

// plainEvery is how long changes are gathered before they are said, unless told
// otherwise: long enough to fold what repeats, short enough to follow.
const plainEvery = 2 * time.Second

// longestLine bounds a command line of the plain console.
const longestLine = 64 << 10

// plain is the console as lines: one sentence per change, and a prompt for the
// palette's commands. It draws nothing, so that screen readers, dumb terminals and
// pipes can follow it.
type plain struct {
	console engine.Console
	opt     Options
	ctx     context.Context
	out     *bufio.Writer
	prompts bool // a person types: there is a prompt
	waiting bool // the prompt is the last thing written

	theme *themes.Theme
	rows  rows
	news  news
	undo  undo
	next  func(answer string) // takes the next line instead of the commands
	done  bool
}

// Plain shows the console as lines until the operator quits, the input ends or
// ctx does; all of them give nil. What is read from the input after its end of
// ctx is lost with it: a read of a terminal cannot be broken off.
func Plain(ctx context.Context, console engine.Console, opt Options) error {
	if err := opt.Validate(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := newPlain(ctx, console, opt)
	updates := make(chan tea.Msg)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		newSession(console, opt).run(ctx, func(msg tea.Msg) {
			select {
			case updates <- msg:
			case <-ctx.Done():
			}
		})
	}()
	err := p.loop(updates, readLines(ctx, opt.input()))
	stop()
	<-ended
	return errors.Join(err, p.out.Flush())
}

func newPlain(ctx context.Context, console engine.Console, opt Options) *plain {
	var out io.Writer = os.Stdout
	if opt.Output != nil {
		out = opt.Output
	}
	glyphs, err := themes.ChooseGlyphs(opt.Glyphs, opt.getenv)
	if err != nil {
		glyphs = themes.Plain // the options were checked
	}
	p := &plain{
		console: console, opt: opt, ctx: ctx, out: bufio.NewWriter(out), prompts: isTerminal(opt.input()),
		theme: themes.NewMono(glyphs), news: newNews(),
	}
	p.rows.data.Platform = opt.Platform
	return p
}

func (o Options) input() io.Reader {
	if o.Input != nil {
		return o.Input
	}
	return os.Stdin
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// readLines sends the lines of the input; the channel is closed at its end.
func readLines(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		s := bufio.NewScanner(in)
		s.Buffer(nil, longestLine)
		for s.Scan() {
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// loop says what changes and carries out what is typed. Nothing is read before
// the engine has answered once: a script's first line must find rows.
func (p *plain) loop(updates <-chan tea.Msg, lines <-chan string) error {
	every := p.opt.PlainEvery
	if every <= 0 {
		every = plainEvery
	}
	var typed <-chan string
	var due <-chan time.Time
	for !p.done {
		select {
		case <-p.ctx.Done():
			return p.sayNews()
		case msg := <-updates:
			p.take(msg, time.Now())
			if p.rows.data.Ready && typed == nil {
				typed = lines
			}
			if due == nil && !p.news.empty() {
				due = time.After(every)
			}
		case <-due:
			due = nil
			if err := p.sayNews(); err != nil {
				return err
			}
		case line, ok := <-typed:
			if !ok {
				return p.sayNews()
			}
			p.waiting = false
			p.line(line)
			if err := p.out.Flush(); err != nil {
				return err
			}
		}
	}
	return p.sayNews()
}

// take folds an update in and notes what it has changed.
func (p *plain) take(msg tea.Msg, now time.Time) {
	switch msg := msg.(type) {
	case lost:
		if p.rows.data.Lost.IsZero() {
			p.news.add("lost", "", now, or(msg.why, "the engine has gone")+", trying again every few seconds")
		}
		p.rows.data.Lost = now
	case updated:
		back := !p.rows.data.Lost.IsZero()
		first := !p.rows.data.Ready
		if !first {
			p.compare(msg.Update, now)
		}
		p.rows.apply(msg.Update, now)
		if first && p.rows.data.Ready {
			p.greet()
		} else if back {
			p.news.add("lost", "", now, "the engine is there again")
		}
	}
}

// greet says how everything stands, once.
func (p *plain) greet() {
	for _, fault := range p.opt.Mine.Faults {
		p.say(fault)
	}
	p.say(p.statusLines()...)
	p.say("Changes are told as they come. Type help for the commands, quit to leave.")
	p.prompt()
	_ = p.out.Flush() // a fault of the output comes back with the next one
}

// say writes lines, cleaned: a terminal is an exit.
func (p *plain) say(lines ...string) {
	if p.waiting && len(lines) > 0 {
		_, _ = p.out.WriteString("\r") // over the prompt
		p.waiting = false
	}
	for _, line := range lines {
		line = safe.Text(line)
		if p.theme.ASCII() {
			line = safe.ASCII(line)
		}
		_, _ = p.out.WriteString(line + "\n")
	}
}

func (p *plain) prompt() {
	if !p.prompts || p.waiting {
		return
	}
	_, _ = p.out.WriteString("> ")
	p.waiting = true
}

// sayNews says what was gathered, what repeats folded.
func (p *plain) sayNews() error {
	if !p.news.empty() {
		p.say(p.news.take(p.opt.zone())...)
		p.prompt()
	}
	return p.out.Flush()
}

// view is what pages are given to make their rows of: a wide screen without
// colour, of which nothing is drawn.
func (p *plain) view() *page.View {
	return &page.View{
		Data: &p.rows.data, Live: &p.rows.data, Theme: p.theme, Now: time.Now().In(p.opt.zone()),
		Size: page.L, Tall: page.High, W: 200, H: 60,
	}
}

// line carries out what was typed.
func (p *plain) line(line string) {
	defer p.prompt()
	line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), ":"))
	if next := p.next; next != nil {
		p.next = nil
		next(line)
		return
	}
	if line == "" {
		return
	}
	name, arg, _ := strings.Cut(line, " ")
	c, ok := findPlain(strings.ToLower(name))
	if !ok {
		p.say("There is no command " + name + ". Did you mean " + strings.Join(nearPlain(name), ", ") + "? help lists all.")
		return
	}
	c.run(p, strings.TrimSpace(arg))
}
