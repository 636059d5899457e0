package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// nearlyFull is the fill from which a window is worth a warning colour.
const nearlyFull = 0.8

// scope names a bucket: asia app, asia match.ids, kr summoner.by-puuid.
func scope(b engine.BucketRow) string {
	name := versionless(or(b.Method, b.Kind))
	if b.Kind == "service" {
		name += " service"
	}
	return b.Host + " " + name
}

// brief is scope without what the title says already: the host, where there is
// only one, and the version of the method.
func brief(v *View, b engine.BucketRow) string {
	name := versionless(or(b.Method, b.Kind))
	if b.Kind == "service" {
		name += " service"
	}
	if oneHost(v) {
		return name
	}
	return b.Host + " " + name
}

// versionless takes the version out of a method's name: match-v5.ids is match.ids.
func versionless(method string) string {
	at := strings.Index(method, "-v")
	if at < 0 {
		return method
	}
	rest := strings.TrimLeft(method[at+2:], "0123456789")
	return method[:at] + rest
}

func oneHost(v *View) bool {
	for _, b := range v.Limits.Buckets {
		if b.Host != v.Limits.Buckets[0].Host {
			return false
		}
	}
	return true
}

// bucketState is the word of a bucket and what it says besides.
func bucketState(v *View, b engine.BucketRow) (word, more string) {
	switch {
	case frozen(b):
		return "FROZEN", frozenText(v, b)
	case b.Cap > 0:
		return "CAPPED", fmt.Sprintf("at %d %%, %s", b.Cap, frozenText(v, b))
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
	if b.Waiting > 0 {
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

// frozen reports whether an operator lets nothing through.
func frozen(b engine.BucketRow) bool { return b.BlockedBy == blockedFrozen }

const blockedFrozen = "frozen"

// frozenText says when an operator's order ends, and why there is one.
func frozenText(v *View, b engine.BucketRow) string {
	text := "until p resumes"
	if !b.Thaws.IsZero() {
		text = "until " + v.clock(b.Thaws)
	}
	if b.FreezeWhy != "" {
		text += ": " + b.FreezeWhy
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

// serverCell is the server's count, and by how much it is above ours.
func serverCell(b engine.BucketRow) part.Cell {
	switch {
	case b.Server < 0:
		return part.As(themes.Dim, part.None)
	case b.Foreign > 0:
		return part.As(themes.Warn, fmt.Sprintf("%d (+%d)", b.Server, b.Foreign))
	default:
		return part.Plain(strconv.Itoa(b.Server))
	}
}

// limitTitle names the host if all windows belong to one.
func limitTitle(v *View) string {
	if len(v.Limits.Buckets) == 0 || !oneHost(v) {
		return "Limits"
	}
	return "Limits (" + v.Limits.Buckets[0].Host + ")"
}

// shownBuckets picks the windows that matter most for n rows: all if they fit,
// else those in use, in their own order.
func shownBuckets(all []engine.BucketRow, n int) []engine.BucketRow {
	if len(all) <= n {
		return all
	}
	var used []engine.BucketRow
	for _, b := range all {
		if b.Used > 0 || !b.Blocked.IsZero() {
			used = append(used, b)
		}
	}
	return used[:min(len(used), max(n, 0))]
}

// limitRows are the windows on the overview and the line below them.
func limitRows(v *View, w, h int) []string {
	rows := make([]string, 0, h)
	for _, b := range shownBuckets(v.Limits.Buckets, h-1) {
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
	name := clamp(w-38, 14, 22)
	l.Field(part.Plain(brief(v, b)), name, part.Words)
	l.Field(part.As(themes.Dim, window(b.Window)), 6, part.Number).Gap(2)
	c := fillCell(v, b)
	bar := clamp(w-1-name-6-2-1-9-10, 4, 30)
	if c.Ratio < 0 {
		l.NoBar(bar)
	} else {
		l.Bar(c.Token, bar, c.Ratio)
	}
	l.Gap(1).Field(part.As(c.Token, c.Text), 9, part.Words)
	word, _ := bucketState(v, b)
	switch sign := v.Theme.State(word); {
	case frozen(b) && b.Thaws.IsZero():
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

// heldSummary says how many calls wait and when the next may go.
func heldSummary(v *View) []part.Cell {
	text := "nothing waits"
	if n := waiting(v); n > 0 {
		text = count(n) + " wait"
	}
	if len(v.Limits.Waiting) > 0 {
		text += ", next call in " + v.in(v.Limits.Waiting[0].Until)
	}
	return []part.Cell{part.As(themes.Dim, text)}
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
		l.Cells(part.As(themes.Dim, b.Host+" "+tight(b.Window)+" ")).Bar(c.Token, 8, c.Ratio)
		l.Cells(part.As(c.Token, " "+c.Text))
		n++
	}
	if n == 0 {
		return l.Cells(part.As(themes.Dim, or(v.waiting(), "no limit is known yet"))).String()
	}
	return l.Cells(v.sep(), part.As(themes.Dim, count(waiting(v))+" wait")).String()
}
