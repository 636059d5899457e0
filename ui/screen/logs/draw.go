package logs

import (
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Draw implements Page.
// The log has the whole screen but where it is short: then the record under the cursor stands below
// it, and on a wide screen beside the last calls.
func (p *Screen) Draw(v *page.View) []string {
	p.refresh(v)
	p.Height = max(v.H-1, 1)
	var above []part.Section
	w := v.Inner(v.W)
	if v.Tall != page.Short && v.Size != page.S {
		above = append(above, p.minutes(v, w))
		p.Height = max(p.Height-minuteRows-2, 1)
	}
	// How many rows must be left empty before something is put below the log.
	least := human.Either(v.Size == page.L, block.LeastFoot, leastRecord)
	below := !p.wrap && p.Height-p.listed() > least
	if below {
		p.Height = p.listed()
	}
	p.placeCursor()
	rows := make([]string, 0, v.H)
	if len(p.lines) == 0 {
		rows = append(rows, v.Row(w, part.As(themes.Dim, "   "+p.empty(v))))
	}
	l := part.NewLine(v.Theme, w)
	for i := p.topLine(v, l); i < len(p.lines) && len(rows) < p.Height; i++ {
		rows = append(rows, p.drawLine(v, l, i)...)
	}
	sections := append(above, part.Section{Head: p.header(v, w), Rows: rows})
	if !below {
		return v.Whole(sections...)
	}
	rows = v.Sections(0, 0, v.W, (minuteRows+2)*len(above)+1+p.Height, sections...)
	if v.Size == page.L {
		return block.Fill(v, rows, func(w, _ int) part.Section { return p.selected(v, w) })
	}
	record := p.selected(v, w)
	record.Height = recordRows
	rest := []part.Section{record}
	if left := v.H - len(rows) - record.Height - 3; left > block.CallRows+1 {
		rest = append(rest, block.CallsSection(v, v.Foot.Calls(v), w, block.CallRows, left-1-block.CallRows))
	}
	return append(append(rows, v.Row(v.W)), v.Sections(0, len(rows)+1, v.W, v.H-len(rows)-1, rest...)...)
}

// recordRows is what the record under the cursor takes below a short list, and leastRecord the
// room that it needs there.
const recordRows, leastRecord = 8, 6

// listed is how many rows the lines take, in steps: what is below a short log does not move
// with each record that comes.
// Steps of six rows.
func (p *Screen) listed() int { return (max(len(p.lines), 1) + 5) / 6 * 6 }

// selected is all of the record under the cursor.
// Of a fold it is the last record that it stands for.
func (p *Screen) selected(v *page.View, w int) part.Section {
	at, ok := p.line()
	if !ok {
		return part.Section{Title: "RECORD", Empty: "no record is selected"}
	}
	r := NewRecord(p.seen[at.at])
	return part.Section{Title: "RECORD", Note: strconv.FormatUint(r.Seq, 10), Tail: v.Keyed("{open} opens it"),
		Rows: block.FactRows(v, w, r.facts(v))}
}

// topLine is the first line on the screen. Wrapped records are taller than one
// row: it moves down until all of the selected one is in sight.
func (p *Screen) topLine(v *page.View, l *part.Line) int {
	top := p.Cur.Top()
	if !p.wrap {
		return top
	}
	// From the selected record upwards, as many as have room.
	rows := 0
	for i := p.Cur.At(); i >= top; i-- {
		if rows += len(p.drawLine(v, l, i)); rows > p.Height {
			return min(i+1, p.Cur.At())
		}
	}
	return top
}

// empty says why there is no line.
func (p *Screen) empty(v *page.View) string {
	switch {
	case !p.Have && p.Answer.Err != nil && len(p.records) == 0:
		return "the log could not be read: " + p.Answer.Told(v)
	case p.Loading() && len(p.records) == 0:
		return "loading the log…"
	case p.On() && len(p.records) > 0:
		return "0 of " + page.Count(len(p.records)) + " " + v.Theme.Glyphs.Sep + v.Keyed(" {back} clears ") + p.Used
	case p.level > 0:
		return "nothing at level " + block.LogLevels[p.level] + " and above " + v.Theme.Glyphs.Sep +
			v.Keyed(" {states} shows others")
	}
	return "nothing has been logged yet"
}

// header says what is shown.
// Such as "LOGS  FOLLOW  level≥info  /text:429  wrap off  time of day     3 of 18,240  ✓ 0 dropped".
func (p *Screen) header(v *page.View, w int) string {
	l := part.NewLine(v.Theme, w).Gap(1)
	l.Cells(part.As(themes.Figure, "LOGS")).Gap(2).Cells(p.mode(v)).Gap(2)
	l.Cells(part.Plain("level≥" + block.LogLevels[p.level]))
	if p.job != "" {
		l.Gap(2).Cells(part.As(themes.Accent, "job:"+p.name))
	}
	if told := p.Query.Told(); told != "" {
		l.Gap(2).Cells(part.As(themes.Accent, told))
	}
	if v.Size != page.S {
		l.Gap(2).Cells(part.As(themes.Dim, "wrap "+human.Either(p.wrap, "on", "off")+"  time "+human.Either(p.ago, "ago", "of day")))
	}
	right := []part.Cell{part.As(themes.Dim, p.counted()+"  ")}
	if why := p.Answer.Told(v); why != "" {
		right = append(right, part.As(themes.Warn, why+"  "))
	}
	right = append(right, dropped(v), part.Plain(" "))
	return l.Right(right...).String()
}

// mode says whether new records move the screen.
// Where they do not, it names the key that makes them do so.
func (p *Screen) mode(v *page.View) part.Cell {
	switch {
	case v.Frozen:
		return v.State("FROZEN")
	case p.off:
		return part.As(themes.Held, v.Keyed("{last row} follows"))
	}
	return part.As(themes.Run, "FOLLOW")
}

// counted is how many records are shown, of how many.
func (p *Screen) counted() string {
	shown, all := p.Fit()
	if shown == all {
		return human.Counted(all, "record", "records")
	}
	return page.Count(shown) + " of " + page.Count(all)
}

// dropped counts the records that the log file could not take. They are told,
// never hidden.
// A file that cannot keep up costs lines, and never a delay of the engine.
func dropped(v *page.View) part.Cell {
	n := v.Engine.LogDrops
	if n == 0 {
		sign := v.Theme.State("OK")
		return part.As(sign.Token, sign.Glyph+" 0 dropped")
	}
	sign := v.Theme.State("WARN")
	return part.As(sign.Token, sign.Glyph+" "+human.Count(int64(n))+" dropped")
}

// drawLine draws line i: one row, or several of a wrapped record.
func (p *Screen) drawLine(v *page.View, l *part.Line, i int) []string {
	line := p.lines[i]
	l.Reset(v.Inner(v.W), i == p.Cur.At())
	if i == p.Cur.At() {
		l.Glyph(themes.Focus, v.Theme.Glyphs.Cursor, 1)
	}
	if bad := v.Theme.State("FAILED"); line.more == 0 && i != p.Cur.At() && p.seen[line.at].Level == "error" {
		l.Glyph(bad.Token, bad.Glyph, 1)
	}
	l.To(1)
	if line.more > 0 {
		in := human.If(line.span >= 100*time.Millisecond, " in "+human.Dur(line.span))
		text := v.Theme.Glyphs.Ellipsis + " " + human.Counted(line.more, "similar line", "similar lines") + in +
			" folded " + v.Theme.Glyphs.Sep + v.Keyed(" {open} expands")
		return []string{l.To(15).Cells(part.As(themes.Dim, text)).String()}
	}
	r := &p.seen[line.at]
	p.prefix(v, l, r)
	if p.wrap {
		return p.wrapped(v, l, r)
	}
	if p.Pan > 0 {
		return []string{l.Cells(part.As(lineToken(r.Level), panned(r, p.Pan))).String()}
	}
	// A message gets a column, so that fields stand below each other; a longer one pushes them
	// right.
	message := human.Either(v.Size == page.L, 30, 22)
	text := part.As(lineToken(r.Level), r.Text)
	if v.Size == page.S || safe.Width(safe.Text(r.Text)) > message {
		l.Cells(text).Gap(2)
	} else {
		l.Field(text, message, part.Words).Gap(1)
	}
	return []string{l.Field(part.As(themes.Dim, page.Clocked(r.Told, r.At.In(v.Now.Location()))), max(l.Room()-1, 0), part.Words).String()}
}

// lineToken is the colour of what a record says. What is usual stays plain: it is most of the log.
func lineToken(level string) themes.Token {
	switch level {
	case "error":
		return themes.Err
	case "warn":
		return themes.Warn
	case "debug":
		return themes.Dim
	}
	return themes.Text
}

// prefix writes when, how grave, and where.
// A record of yesterday has its date; the milliseconds make room for it.
func (p *Screen) prefix(v *page.View, l *part.Line, r *columns.Record) {
	width := 12
	text := r.At.In(v.Now.Location()).Format("15:04:05.000")
	switch {
	case p.ago:
		width, text = 9, v.Ago(r.At)
	// 20 h and not 24: a record of the same hour yesterday must not look like one of now.
	case v.Now.Sub(r.At) > 20*time.Hour:
		text = v.Clock(r.At)
	case v.Size == page.S:
		width, text = 8, text[:8]
	}
	l.Field(part.As(themes.Dim, text), width, part.Words).Gap(1)
	l.Field(block.LevelSign(r.Level), 3, part.Words).Gap(1)
	if v.Size != page.S {
		l.Field(part.As(themes.Dim, r.Area), 8, part.Words).Gap(1)
	}
}

// wrapped draws a record on as many rows as it takes, up to half a screen.
func (p *Screen) wrapped(v *page.View, l *part.Line, r *columns.Record) []string {
	from := l.At()
	lines := part.Wrap(wholeText(r), max(l.Room()-1, 10))
	lines = lines[:min(len(lines), max(p.Height/2, 1))]
	token := lineToken(r.Level)
	rows := []string{l.Cells(part.As(token, lines[0])).String()}
	for _, text := range lines[1:] {
		l.Reset(v.Inner(v.W), false)
		rows = append(rows, l.To(from).Cells(part.As(token, text)).String())
	}
	return rows
}

// wholeText is the message with its fields, of a message that is far too long its beginning.
// The fields are told in full: panning and wrapping are for reading them.
func wholeText(r *columns.Record) string {
	text := r.Text
	if len(text) > block.MaxValue {
		text = text[:block.MaxValue]
	}
	return strings.TrimSpace(text + "  " + strings.Join(r.Pairs, " "))
}

// panStep is how many letters one step to the right goes on.
const panStep = 20

// panned is a record from as many steps to the right on.
// Letters are counted and not cells, so wide ones pan twice as far.
func panned(r *columns.Record, pan int) string {
	runes := []rune(safe.Text(wholeText(r)))
	return string(runes[min(pan*panStep, len(runes)):])
}

// Instant implements Timed: the record under the cursor.
func (p *Screen) Instant(v *page.View) (time.Time, bool) {
	r, ok := p.record(v)
	return r.At, ok
}

// ToInstant implements Timed.
// The first record stays when all of them came later. The log follows no more after that.
func (p *Screen) ToInstant(v *page.View, at time.Time) {
	p.refresh(v)
	n := len(p.lines)
	for n > 1 && p.seen[p.lines[n-1].at].At.After(at) {
		n--
	}
	p.off = true
	p.Cur.Go(p, n-1, p.Height)
}
