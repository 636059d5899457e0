// Package plain is the console as lines: what changes is said in sentences, and the program's own
// commands are typed. It draws nothing, so that screen readers, dumb terminals and pipes can follow it.
package plain

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/session"
)

// usually is how long changes are gathered before they are said, unless told otherwise:
// long enough to fold what repeats, short enough to follow.
const usually = 2 * time.Second

// longestLine bounds what is typed in one line, in bytes. A longer one ends the input, as its end does.
const longestLine = 64 << 10

// Options of a console of lines.
type Options struct {
	session.Seat
	Every  time.Duration // how often it says what has changed; 0 = 2 s
	Faults []string      // sentences that are said first, of files that could not be used
	// Command carries out a command line of the program by a console. What it asks is answered by in.
	Command func(ctx context.Context, on engine.Console, args []string, in io.Reader, out io.Writer) error
}

// plain is one such console. One goroutine has all of it, that of [plain.loop]: what comes from the
// engine and from the input reaches it through channels.
type plain struct {
	console engine.Console
	opt     Options
	ctx     context.Context
	out     *bufio.Writer
	prompts bool // a person types: there is a prompt
	waiting bool // the prompt is the last thing written

	ascii bool // the terminal has 7 bits only
	rows  session.Rows
	news  news // what has changed since something was said
	undo  session.Undo
	lines <-chan string
	done  bool // quit was typed
}

// Run shows the console until the operator quits, the input ends or ctx does; all of them
// give nil. What is read from the input after the end of ctx is lost with it: a read of a
// terminal cannot be broken off.
func Run(ctx context.Context, console engine.Console, opt Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := newPlain(ctx, console, opt)
	updates := make(chan any)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		session.NewFeed(console, opt.Seat).Run(ctx, func(msg any) {
			select {
			case updates <- msg:
			case <-ctx.Done():
			}
		})
	}()
	p.lines = readLines(ctx, opt.in())
	err := p.loop(updates)
	// The feed has its own goroutine, which must not outlive the console that it belongs to.
	stop()
	<-ended
	return errors.Join(err, p.out.Flush())
}

// newPlain makes a console that says nothing yet.
func newPlain(ctx context.Context, console engine.Console, opt Options) *plain {
	var out io.Writer = os.Stdout
	if opt.Output != nil {
		out = opt.Output
	}
	// The options were checked; were they not, 7 bits suit every terminal.
	glyphs, err := themes.ChooseGlyphs(opt.Glyphs, opt.Env)
	if err != nil {
		glyphs = themes.Plain
	}
	p := &plain{
		console: console, opt: opt, ctx: ctx, out: bufio.NewWriter(out), prompts: isTerminal(opt.in()),
		ascii: themes.NewMono(glyphs).ASCII(),
	}
	p.rows.Data.Platform = opt.Platform
	return p
}

// in is where lines come from.
func (o Options) in() io.Reader {
	if o.Input != nil {
		return o.Input
	}
	return os.Stdin
}

// isTerminal reports whether a person types: a script wants no prompt in what it reads.
func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// readLines sends the lines of the input; the channel is closed at its end. Nobody waits for the
// goroutine, since a read of a terminal cannot be broken off: it ends with the next line.
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

// loop says what changes and carries out what is typed. Nothing is read before the engine has answered once. One that
// has no rows, as without its store, can be left; any other line waits for rows: a script's first one must find them.
func (p *plain) loop(updates <-chan any) error {
	every := p.opt.Every
	if every <= 0 {
		every = usually
	}
	var typed <-chan string  // nil until the engine has answered
	var early *string        // came before its rows
	var due <-chan time.Time // when the news are said; nil while there are none
	for !p.done {
		select {
		case <-p.ctx.Done():
			return p.sayNews()
		case msg := <-updates:
			p.applyUpdate(msg, time.Now())
			if _, ok := msg.(engine.Update); ok && early == nil {
				typed = p.lines
			}
			if p.rows.Data.Ready && early != nil {
				typed = p.lines
				p.line(*early)
				early = nil
				if err := p.out.Flush(); err != nil {
					return err
				}
			}
			// From the first change on, not from the last: what goes on changing is said all the same.
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
			if !p.rows.Data.Ready && !quits(strings.Trim(line, ": ")) {
				typed, early = nil, &line
				continue
			}
			// The line feed that ended the line has ended the prompt's row, too.
			p.waiting = false
			p.line(line)
			if err := p.out.Flush(); err != nil {
				return err
			}
		}
	}
	return p.sayNews()
}

// applyUpdate folds an update in and notes what it has changed. Nothing is told of the first snapshot but how
// everything stands: see greet.
func (p *plain) applyUpdate(msg any, now time.Time) {
	switch msg := msg.(type) {
	// It is told again each time that the engine is looked for, every few seconds.
	case session.Lost:
		if p.rows.Data.Lost.IsZero() {
			p.news.add("lost", "", now, cmp.Or(msg.Why, "the engine has gone")+", trying again every few seconds")
		}
		p.rows.Data.Lost = now
	// Both are known only before the update is folded in.
	case engine.Update:
		back := !p.rows.Data.Lost.IsZero()
		first := !p.rows.Data.Ready
		if !first {
			p.compare(msg, now)
		} else if msg.Engine != nil { // it has no rows yet, and says why
			p.compareEngine(*msg.Engine, now)
		}
		p.rows.Apply(msg, now)
		if first && p.rows.Data.Ready {
			p.greet()
		} else if back {
			p.news.add("lost", "", now, "the engine is there again")
		}
	}
}

// greet says how everything stands, once, after what was wrong with the files of the user.
func (p *plain) greet() {
	p.news = news{} // it is in how everything stands
	for _, fault := range p.opt.Faults {
		p.printLines(fault)
	}
	p.printLines(p.statusLines()...)
	p.printLines("Changes are told as they come. Type a command of farsight, such as jobs; help lists them, quit leaves.")
	p.prompt()
	_ = p.out.Flush() // a fault of the output comes back with the next one
}

// printLines writes lines, cleaned: a terminal is an exit. What fails is found by the next Flush.
func (p *plain) printLines(lines ...string) {
	// The prompt is overwritten, and comes again below what is said.
	if p.waiting && len(lines) > 0 {
		_, _ = p.out.WriteString("\r")
		p.waiting = false
	}
	for _, line := range lines {
		line = safe.Text(line)
		if p.ascii {
			line = safe.ASCII(line)
		}
		_, _ = p.out.WriteString(line + "\n")
	}
}

// prompt asks for a line, once: what is said meanwhile is written over it, and it is asked again.
func (p *plain) prompt() {
	if !p.prompts || p.waiting {
		return
	}
	_, _ = p.out.WriteString("> ")
	p.waiting = true
}

// sayNews says what was gathered, what repeats folded. Errors: those of the output, also of what was said
// before.
func (p *plain) sayNews() error {
	if !p.news.empty() {
		p.printLines(p.news.drain(p.opt.Location())...)
		p.prompt()
	}
	return p.out.Flush()
}

// clock is an instant in the console's zone.
func (p *plain) clock(at time.Time, form string) string { return at.In(p.opt.Location()).Format(form) }

// quits reports whether a word ends the console; exit and q are what people type to leave.
func quits(word string) bool {
	word = strings.ToLower(word)
	return word == "quit" || word == "exit" || word == "q"
}

// line carries out what was typed: a command line of the program, without its name or with it, as receipts write it. A
// colon in front, as in the console of screens, may stay.
func (p *plain) line(line string) {
	defer p.prompt()
	args, err := words(strings.TrimPrefix(strings.TrimSpace(line), ":"))
	if len(args) > 0 && args[0] == "farsight" {
		args = args[1:]
	}
	switch {
	case err != nil:
	case len(args) == 0:
		return
	case quits(args[0]):
		p.done = true
	case strings.EqualFold(args[0], "chaos") && p.opt.Chaos != nil:
		p.chaos(strings.Join(args[1:], " "))
	default:
		args[0] = strings.ToLower(args[0]) // what stands behind it may be a name
		t := &talk{p: p}
		err = p.opt.Command(p.ctx, acting{p.console, p}, args, t, t)
		t.flush()
	}
	if err != nil {
		p.printLines(strings.TrimRight(page.Capital(page.Sentence(err)), ".") + ".")
	}
}

// words parts a line as a shell does: at spaces, but for what stands between quotes or behind a backslash.
func words(line string) (all []string, err error) {
	var word []rune
	begun, quote, plain := false, rune(0), false
	for _, r := range line {
		switch {
		case plain:
			word, plain = append(word, r), false
		case r == '\\' && quote != '\'':
			begun, plain = true, true
		case r == quote:
			quote = 0
		case quote != 0:
			word = append(word, r)
		case r == '\'' || r == '"':
			begun, quote = true, r
		case r != ' ' && r != '\t':
			word, begun = append(word, r), true
		case begun:
			all, word, begun = append(all, string(word)), nil, false
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote begins in this line and has no end")
	}
	if begun {
		all = append(all, string(word))
	}
	return all, nil
}

// acting is the console of what is typed: a command is given by who sits here, and refused where nothing can be changed.
type acting struct {
	engine.Console
	p *plain
}

// Do implements engine.Console.
func (a acting) Do(ctx context.Context, c engine.Command) (engine.Receipt, error) {
	if why := a.p.opt.Refuses(&a.p.rows.Data); why != "" {
		return engine.Receipt{}, errors.New("refused: " + why)
	}
	now, last := time.Now(), a.p.undo
	if c.Op == engine.OpUndo && c.Audit == 0 {
		// The engine would take back the last command of anybody.
		if !last.Open(now) {
			return engine.Receipt{}, errors.New("nothing of the last " + human.Spoken(session.UndoFor) +
				" was done here that could be taken back: name a command by its number, such as undo 31; audit lists them")
		}
		c.Audit = last.Take().Audit
		if !c.DryRun {
			a.p.undo = last
		}
	}
	c.By = a.p.opt.By()
	r, err := a.Console.Do(ctx, c)
	a.p.undo.Keep(r, now)
	return r, err
}

// talk is what a command says, and what it is answered: the next lines that are typed.
type talk struct {
	p        *plain
	said     []byte // of a line that has not ended
	answered []byte // that has not been read
}

// Write implements io.Writer.
func (t *talk) Write(text []byte) (int, error) {
	t.said = append(t.said, text...)
	for {
		line, rest, whole := bytes.Cut(t.said, []byte("\n"))
		if !whole {
			return len(text), nil
		}
		t.p.printLines(string(line))
		t.said = rest
	}
}

// flush says what has no line feed behind it: a question.
func (t *talk) flush() {
	if len(t.said) > 0 {
		t.p.printLines(string(t.said))
		t.said = nil
	}
}

// Read implements io.Reader.
func (t *talk) Read(to []byte) (int, error) {
	if len(t.answered) == 0 {
		t.flush()
		line, ok := t.p.answer()
		if !ok {
			return 0, io.EOF
		}
		t.answered = []byte(line + "\n")
	}
	n := copy(to, t.answered)
	t.answered = t.answered[n:]
	return n, nil
}

// answer waits for the line that answers what was asked; false = nobody will.
func (p *plain) answer() (string, bool) {
	p.prompt()
	_ = p.out.Flush() // a fault of the output comes back with the next one
	select {
	case line, ok := <-p.lines:
		p.waiting = false
		return line, ok
	case <-p.ctx.Done():
		return "", false
	}
}
