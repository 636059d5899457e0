package block

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// ScopeName is what a bucket limits: app, match, timeline, match service.
func ScopeName(b engine.BucketRow) string {
	return cmp.Or(engine.MethodWord(b.Method), b.Kind) + human.If(b.Kind == "service", " service")
}

// downText says what is done about an endpoint that is down, how many calls wait for it, and since
// when it is down: "next try in 12 s, 40 wait, since 12:31:02".
func downText(v *page.View, b engine.BreakerRow) string {
	left := v.In(b.Next)
	text := b.Tried(human.If(left != part.None, left))
	text += human.If(b.Waiting > 0, ", "+page.Count(b.Waiting)+" wait")
	return text + ", since " + v.Clock(b.Since)
}

// breakerOf is the breaker that a row of page.KindBreaker stands for. The row was made from it, so
// there always is one.
func breakerOf(v *page.View, row engine.BucketRow) (b engine.BreakerRow) {
	for _, b = range v.Limits.Breakers {
		if b.Host == row.Host && b.Method == row.Method {
			break
		}
	}
	return b
}

// DownNeeds are the endpoints that are down, as lines of "needs you": a key opens the limits.
func DownNeeds(v *page.View) (out []page.Need) {
	for _, b := range v.Limits.Breakers {
		out = append(out, page.Need{
			ID: "down:" + b.Host + b.Method, Word: string(engine.StandDown),
			Text: engine.MethodWord(b.Method) + " DOWN, " + downText(v, b), Key: "{open}", Alone: true,
			Open: func(*page.View) page.Effect { s := page.ScreenLimits; return page.Effect{Go: &s} },
		})
	}
	return out
}

// BucketState is the word for how a bucket stands, and what there is to say besides. The gravest
// comes first: an endpoint that is down, an operator's order, then what Riot ordered.
func BucketState(v *page.View, b engine.BucketRow) (word, more string) {
	switch {
	case b.Kind == page.KindBreaker:
		return string(engine.StandDown), downText(v, breakerOf(v, b))
	case b.Frozen():
		return "FROZEN", frozenText(v, b)
	case b.Cap > 0:
		return "CAPPED", fmt.Sprintf("%d %%: %s", b.Cap, frozenText(v, b))
	case b.Blocked.After(v.Now):
		return "BACKING OFF", b.BlockedBy + ", " + v.In(b.Blocked)
	}
	return "OPEN", heldText(v, b)
}

// heldText says who waits at a bucket and until when.
func heldText(v *page.View, b engine.BucketRow) string {
	text := ""
	switch {
	case b.Waiting > 0 && b.Paces:
		text = "paces " + page.Count(b.Waiting) + " waiting"
	case b.Waiting > 0:
		text = page.Count(b.Waiting) + " wait"
	}
	if b.NextFree.After(v.Now) {
		text += human.If(text != "", ", ")
		text += "next in " + v.In(b.NextFree)
	}
	return text
}

// frozenText says why an operator froze or capped a window, and when that ends. The reason comes
// first: nothing else on the screen tells it.
func frozenText(v *page.View, b engine.BucketRow) string {
	text := human.Either(!b.Thaws.IsZero(), "until "+v.Clock(b.Thaws), v.Keyed("until {limits/pause} resumes"))
	if b.FreezeWhy != "" {
		text = b.FreezeWhy + ", " + text
	}
	return text
}

// shownBuckets picks the windows that matter most for n rows: all if they fit, else those in use,
// in their own order. If none is in use they are the first n.
func shownBuckets(all []engine.BucketRow, n int) []engine.BucketRow {
	if len(all) <= n {
		return all
	}
	var used []engine.BucketRow
	for _, b := range all {
		if b.Used > 0 || !b.Blocked.IsZero() || b.Kind == page.KindBreaker {
			used = append(used, b)
		}
	}
	if len(used) == 0 {
		used = all
	}
	return used[:min(len(used), max(n, 0))]
}

// limitsBeside are the windows of a host, and of each other one the one that is fullest:
// their rows are as narrow as those of the host.
func limitsBeside(v *page.View, host string) (out []engine.BucketRow) {
	at := map[string]int{}
	for _, b := range page.LimitsOf(v) {
		i, seen := at[b.Host]
		switch {
		case b.Host == host || b.Kind == page.KindBreaker:
			out = append(out, b)
		case !seen:
			at[b.Host] = len(out)
			out = append(out, b)
		case v.Ratio(b) > v.Ratio(out[i]):
			out[i] = b
		}
	}
	return out
}

// limitName is what a bucket is called below a title that names a host. A window of that host is
// called by what it limits; of another host there is one row only, and it is called by the host.
func limitName(b engine.BucketRow, host string) string {
	switch {
	case b.Host == host:
		return ScopeName(b)
	case b.Kind == page.KindBreaker:
		return b.Host + " " + ScopeName(b)
	}
	return b.Host
}

// barredLimit is from how many cells on the row of a window has a bar. In a narrower one the
// window's name would be cut to a sign or two.
const barredLimit = 37

// limitRow is the row of a window on the overview: "app   2 min ██████░░  83/100  41 s". The time
// until it resets stands at the right end, or until its backing off ends; a sign of its state where
// an operator froze it without an end.
func limitRow(v *page.View, b engine.BucketRow, w int, host string) string {
	const window, figures, reset = 6, 10, 6
	bar := human.Either(w < barredLimit, 0, page.Clamp(w-33, 5, 12))
	l := part.NewLine(v.Theme, w).Gap(1)
	if b.Kind == page.KindBreaker {
		word, text := BucketState(v, b)
		l.Cells(part.Plain(limitName(b, host)+" "), v.State(word)).Gap(1)
		return l.Cells(part.As(themes.Dim, cmp.Or(part.Clause(text, l.Room()-1), part.Clause(strings.TrimPrefix(text, "next "), l.Room()-1), text))).String()
	}
	word, _ := BucketState(v, b)
	sign := v.Theme.State(word)
	if name := w - 2 - window - 1 - bar - figures - reset; b.Limit > 0 {
		span := human.Window(b.Window)
		l.Field(part.Plain(limitName(b, host)), name+window-1-len(span), part.Words).Gap(1).Put(themes.Dim, span).Gap(1)
		l.Bar(themes.Run, bar, v.Ratio(b))
		l.Field(part.Plain(BriefCount(b.Counted(v.Now))+"/"+BriefCount(b.Limit)), figures, part.Number)
	} else { // it has no window: its word stands in that place
		l.Field(part.Plain(limitName(b, host)), name+window, part.Words).Gap(1)
		l.Field(part.As(sign.Token, strings.ToLower(word)), bar+figures, part.Number)
	}
	switch {
	case b.StaysFrozen():
		l.Right(part.As(sign.Token, sign.Glyph+" "))
	case b.Blocked.After(v.Now):
		l.Right(part.As(sign.Token, v.In(b.Blocked)+" "))
	case b.Limit > 0:
		l.Right(part.As(themes.Dim, v.In(b.Reset)+" "))
	}
	return l.String()
}

// BriefCount is the limit of a window in few cells: 2k of 2000. Only round hundreds are written
// like that, so that no figure loses what it says.
func BriefCount(n int) string {
	if n >= 1000 && n%100 == 0 {
		return strconv.FormatFloat(float64(n)/1000, 'g', 3, 64) + "k"
	}
	return strconv.Itoa(n)
}

// LimitsBlock are the windows of a host, then the fullest one of each other host, in h rows. The
// last row says how many there are besides, if they do not fit.
func LimitsBlock(v *page.View, host string, w, h int) part.Section {
	s := part.Section{Title: "LIMITS", Note: host, Tail: "resets", Height: h}
	all := limitsBeside(v, host)
	shown := shownBuckets(all, h)
	for i, b := range shown {
		if more := len(all) - i; i == h-1 && more > 1 && h > 1 {
			s.Rows = append(s.Rows, v.Row(w, part.As(themes.Dim, " "+page.Count(more)+" more  "),
				part.As(themes.Accent, v.Keyed("{limits}")), part.As(themes.Dim, " shows them")))
			break
		}
		s.Rows = append(s.Rows, limitRow(v, b, w, host))
	}
	if len(all) == 0 {
		s.Tail, s.Empty = "", cmp.Or(v.Waiting(), "not known yet: the first answer tells")
	}
	return s
}
