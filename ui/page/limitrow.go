package page

import (
	"fmt"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// nearlyFull is the fill from which a window is worth a warning colour.
const nearlyFull = 0.8

// brief names a bucket (asia app, asia match.ids, kr summoner.by-puuid) without what
// the title says already: the host, where there is only one, and the version of the
// method.
func brief(v *View, b engine.BucketRow) string {
	name := columns.Versionless(or(b.Method, b.Kind))
	if b.Kind == "service" {
		name += " service"
	}
	if oneHost(v) {
		return name
	}
	return b.Host + " " + name
}

func oneHost(v *View) bool { return len(hostsOf(v)) <= 1 }

// kindBreaker is of rows that are no window: an endpoint that is down.
const kindBreaker = "breaker"

// limitsOf are all that limits calls: what is down, then the windows.
func limitsOf(v *View) []engine.BucketRow {
	rows := make([]engine.BucketRow, 0, len(v.Limits.Breakers)+len(v.Limits.Buckets))
	for _, b := range v.Limits.Breakers {
		rows = append(rows, engine.BucketRow{Host: b.Host, Method: b.Method, Kind: kindBreaker, Waiting: b.Waiting, NextFree: b.Next, Server: -1})
	}
	return append(rows, v.Limits.Buckets...)
}

// downText says what is done about an endpoint that is down, and since when it is.
func downText(v *View, b engine.BreakerRow) string {
	text := "tried now"
	if left := v.in(b.Next); left != part.None {
		text = "next try in " + left
	}
	if b.Waiting > 0 {
		text += ", " + count(b.Waiting) + " wait"
	}
	return text + ", since " + v.clock(b.Since)
}

// breakerOf is what a row of kindBreaker stands for.
func breakerOf(v *View, row engine.BucketRow) (b engine.BreakerRow) {
	for _, b = range v.Limits.Breakers {
		if b.Host == row.Host && b.Method == row.Method {
			break
		}
	}
	return b
}

// bucketState is the word of a bucket and what it says besides.
func bucketState(v *View, b engine.BucketRow) (word, more string) {
	switch {
	case b.Kind == kindBreaker:
		return string(engine.StandDown), downText(v, breakerOf(v, b))
	case b.Frozen():
		return "FROZEN", frozenText(v, b)
	case b.Cap > 0:
		return "CAPPED", fmt.Sprintf("%d %%: %s", b.Cap, frozenText(v, b))
	case b.Blocked.After(v.Now):
		return "BACKING OFF", b.BlockedBy + ", " + v.in(b.Blocked)
	case b.Limit > 0 && b.Used >= b.Limit:
		return "HELD", heldText(v, b)
	case ratio(b) >= nearlyFull:
		return "NEARLY FULL", heldText(v, b)
	}
	return "OPEN", heldText(v, b)
}

// heldText says who waits at a bucket and until when.
func heldText(v *View, b engine.BucketRow) string {
	text := ""
	switch {
	case b.Waiting > 0 && b.Paces:
		text = "paces " + count(b.Waiting) + " waiting"
	case b.Waiting > 0:
		text = count(b.Waiting) + " wait"
	}
	if b.NextFree.After(v.Now) {
		if text != "" {
			text += ", "
		}
		text += "next in " + v.in(b.NextFree)
	}
	return text
}

// frozenText says why there is an operator's order, and when it ends. The reason comes
// first: nothing else on the screen tells it.
func frozenText(v *View, b engine.BucketRow) string {
	text := v.keyed("until {limits/pause} resumes")
	if !b.Thaws.IsZero() {
		text = "until " + v.clock(b.Thaws)
	}
	if b.FreezeWhy != "" {
		text = b.FreezeWhy + ", " + text
	}
	return text
}

// fillCell is a bucket's bar.
func fillCell(v *View, b engine.BucketRow) part.Cell {
	if b.Limit <= 0 {
		return part.Cell{Text: part.None, Ratio: -1}
	}
	token := themes.Run
	switch {
	case b.Used >= b.Limit:
		token = themes.Err
	case ratio(b) >= nearlyFull:
		token = themes.Warn
	}
	return part.Cell{Text: strconv.Itoa(b.Used) + "/" + strconv.Itoa(b.Limit), Ratio: ratio(b), Token: token}
}

// serverCell is the server's count, and by how much it is above ours, or how old it is.
func serverCell(v *View, b engine.BucketRow) part.Cell {
	switch age := engine.OldReading(b.ServerAt.Truncate(time.Minute), v.Now.Truncate(time.Minute)); {
	case b.Server < 0:
		return part.As(themes.Dim, part.None)
	case age > 0:
		return part.As(themes.Dim, strconv.Itoa(b.Server)+", "+human.Ago(age))
	case b.Foreign > 0:
		return part.As(themes.Warn, fmt.Sprintf("%d (+%d)", b.Server, b.Foreign))
	default:
		return part.Plain(strconv.Itoa(b.Server))
	}
}

// limitHost names the host if all windows belong to one.
func limitHost(v *View) string {
	if hosts := hostsOf(v); len(hosts) == 1 {
		return hosts[0]
	}
	return ""
}

// shownBuckets picks the windows that matter most for n rows: all if they fit, else
// those in use, in their own order. Of an idle engine they are the first.
func shownBuckets(all []engine.BucketRow, n int) []engine.BucketRow {
	if len(all) <= n {
		return all
	}
	var used []engine.BucketRow
	for _, b := range all {
		if b.Used > 0 || !b.Blocked.IsZero() || b.Kind == kindBreaker {
			used = append(used, b)
		}
	}
	if len(used) == 0 {
		used = all
	}
	return used[:min(len(used), max(n, 0))]
}

// limitRows are the windows on the overview and the line below them.
func limitRows(v *View, w, h int) []string {
	rows := make([]string, 0, h)
	for _, b := range shownBuckets(limitsOf(v), h-1) {
		rows = append(rows, limitRow(v, b, w))
	}
	if len(rows) == 0 {
		return []string{v.row(w, part.As(themes.Dim, "   "+or(v.waiting(), "no limit is known yet: the first answer tells")))}
	}
	return append(rows, v.row(w, append([]part.Cell{part.Plain(" ")}, heldSummary(v)...)...))
}

// limitRow is a window on the overview: its reset stands at the right end.
func limitRow(v *View, b engine.BucketRow, w int) string {
	l := part.NewLine(v.Theme, w).Gap(1)
	name := clamp(w-34, 14, 22)
	l.Field(part.Plain(brief(v, b)), name, part.Words)
	if b.Kind == kindBreaker {
		word, text := bucketState(v, b)
		return l.Gap(2).Cells(v.state(word), part.As(themes.Dim, " "+text)).String()
	}
	l.Field(part.As(themes.Dim, human.Window(b.Window)), 6, part.Number).Gap(2)
	c := fillCell(v, b)
	bar := clamp(w-1-name-6-2-1-9-8, 4, 30)
	if c.Ratio < 0 {
		l.NoBar(bar)
	} else {
		l.Bar(c.Token, bar, c.Ratio)
	}
	l.Gap(1).Field(part.As(c.Token, c.Text), 9, part.Words)
	word, _ := bucketState(v, b)
	switch sign := v.Theme.State(word); {
	case b.Frozen() && b.Thaws.IsZero():
		l.Right(part.As(sign.Token, sign.Glyph+" "+word+" "))
	case b.Blocked.After(v.Now):
		l.Right(part.As(sign.Token, sign.Glyph+" "+v.in(b.Blocked)+" "))
	case b.Limit > 0:
		l.Right(part.Plain(v.in(b.Reset) + " "))
	}
	return l.String()
}

// waiting is how much waits for the limiter: calls for their permit, or the jobs
// behind them.
func waiting(v *View) int {
	n := len(v.Limits.Waiting)
	for _, b := range v.Limits.Buckets {
		n = max(n, b.Waiting)
	}
	return n
}

// heldSummary answers in one line how much waits, for what, and when that lets it go.
func heldSummary(v *View) []part.Cell {
	n := waiting(v)
	if n == 0 {
		return []part.Cell{part.As(themes.Dim, "nothing waits")}
	}
	return v.join(part.As(themes.Line, count(n)+" wait"), part.Plain(holds(v)))
}

// holds is what sets the pace of all that waits: a window that an operator froze, one
// that is full, the next permit, or else how many calls the tightest window lets through.
func holds(v *View) string {
	for _, b := range limitsOf(v) {
		if b.Kind == kindBreaker {
			return brief(v, b) + " down " + downText(v, breakerOf(v, b))
		}
	}
	if b, ok := frozenOne(v); ok {
		return brief(v, b) + " frozen: " + frozenText(v, b)
	}
	b, ok := v.Limits.Pacing()
	switch next := v.NextCalls(); {
	case !ok:
		return ""
	case next != "":
		return windowName(v, b) + shutWord(b) + ", " + next
	case len(v.Limits.Waiting) > 0:
		return windowName(v, b) + ", next call in " + v.in(v.Limits.Waiting[0].Until)
	}
	return brief(v, b) + " lets " + count(b.Limit) + " through per " + human.Window(b.Window)
}

// frozenOne is a bucket through which an operator lets nothing.
func frozenOne(v *View) (engine.BucketRow, bool) {
	for _, b := range v.Limits.Buckets {
		if b.Frozen() {
			return b, true
		}
	}
	return engine.BucketRow{}, false
}

// windowName names one window of a bucket: app 12 s.
func windowName(v *View, b engine.BucketRow) string {
	return brief(v, b) + " " + human.Window(b.Window)
}

// limitLine is all of it in one row, for small screens.
func limitLine(v *View, w int) string {
	l := part.NewLine(v.Theme, w).Gap(1)
	n := 0
	for _, b := range v.Limits.Buckets {
		if b.Kind != "app" || l.Room() < 40 || b.Used == 0 && n > 0 {
			continue
		}
		if n > 0 {
			l.Cells(v.sep())
		}
		c := fillCell(v, b)
		l.Cells(part.As(themes.Dim, limitName(v, b, n)+human.Tight(b.Window)+" ")).Bar(c.Token, 8, c.Ratio)
		l.Cells(part.As(c.Token, " "+c.Text))
		n++
	}
	if n == 0 {
		return l.Cells(part.As(themes.Dim, or(v.waiting(), "no limit is known yet"))).String()
	}
	l.Cells(v.sep(), part.As(themes.Dim, count(waiting(v))+" wait"))
	b, frozen := frozenOne(v)
	switch next := v.NextCalls(); {
	case len(v.Limits.Breakers) > 0:
		b := limitsOf(v)[0]
		l.Cells(part.Plain(", "+brief(v, b)+" "), v.state(string(engine.StandDown)), part.Plain(" "+downText(v, breakerOf(v, b))))
	case frozen:
		l.Cells(part.Plain(", frozen: " + frozenText(v, b)))
	case next != "":
		l.Cells(part.Plain(", " + next))
	default:
		if b, ok := v.Limits.Pacing(); ok && waiting(v) > 0 {
			l.Cells(part.As(themes.Dim, ", "+count(b.Limit)+" go per "+human.Window(b.Window)))
		}
	}
	return l.String()
}

// limitName is what a window of the one row is called in front of its span: its host
// where there are several, else what it is, once.
func limitName(v *View, b engine.BucketRow, n int) string {
	switch {
	case !oneHost(v):
		return b.Host + " "
	case n == 0:
		return b.Kind + " "
	}
	return ""
}

// shutWord is why a window lets nothing through: what it holds, or what Riot said.
func shutWord(b engine.BucketRow) string {
	if b.Limit > 0 && b.Used >= b.Limit {
		return " full"
	}
	return " shut"
}
