package overview

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// tier are the jobs that hold for the same try, the nearest first.
type tier struct {
	try  int
	wait time.Duration // the policy's before that try; 0 = not known
	last bool          // the job is given up if it fails
	at   []time.Time   // when each goes; zero = nobody knows
}

// tiersOf sorts retries by their try, the highest first.
func tiersOf(jobs []engine.JobRow) (out []tier) {
	for i := range jobs {
		j := &jobs[i]
		n := slices.IndexFunc(out, func(t tier) bool { return t.try == j.Tries+1 })
		if n < 0 {
			n, out = len(out), append(out, tier{try: j.Tries + 1, wait: j.Delay, last: charts.LastTry(j)})
		}
		out[n].at = append(out[n].at, page.GoesAt(j))
	}
	sort.Slice(out, func(a, b int) bool { return out[a].try > out[b].try })
	return out
}

// stackHead is how many cells of a tier stand before its line: its try, the wait, and how many.
const stackHead = 18

// nextHead is the same where a single line is of all tries: the next retry, until when, and its try.
const nextHead = 28

// stackBlock is the holding stack: the retries by their try on lines that lead down to now, or on two rows all of them on
// one, with the next by its name.
func stackBlock(v *page.View, w, h int) part.Section {
	jobs := v.TryingAgain()
	s := part.Section{Title: "HOLDING STACK", Height: h}
	if len(jobs) == 0 {
		s.Empty = cmp.Or(v.Waiting(), "no call is to be tried again")
		return s
	}
	next := slices.MinFunc(jobs, func(a, b engine.JobRow) int { return columns.ZeroLast(block.LeavesAt(v, &a), block.LeavesAt(v, &b)) })
	goes, name := block.LeavesAt(v, &next), leaving(v, &next, false, 0).target
	tiers, flat := tiersOf(jobs), h <= 2
	s.Note = human.Counted(len(jobs), "retry", "retries") + human.Either(flat, ", next first", ", by try")
	shown, head := tiers, nextHead
	says := stackText(v, jobs, human.Either(flat, 2*w, w-2)) // one row is cut
	if !flat {
		if !goes.IsZero() && len(says) == 1 {
			says = append(says, part.As(themes.Dim, "Next: "+name+" "+charts.InText(v, goes)+"."))
		}
		head, shown = stackHead, tiers[:page.Clamp(h-1-len(says), min(h, 1), len(tiers))]
	}
	more := 0
	for _, t := range tiers[len(shown):] {
		more += len(t.at)
	}
	s.Tail = human.If(more > 0, page.Count(more)+" more")
	now, _ := charts.ChartNow(v)
	far := time.Minute
	for _, t := range shown {
		for _, at := range t.at {
			far = max(far, at.Sub(now))
		}
	}
	width := max(w-head-3, 4)
	step := charts.AxisSteps[charts.StepAt(far/time.Duration(width-1))]
	c := part.NewChart(v.Theme, part.NewAxis(now, step, 0, width), len(shown)+1)
	l := part.NewLine(v.Theme, w)
	again := v.Theme.State("RETRYABLE")
	for i, t := range shown {
		y := human.Either(flat, 0, i)
		c.Run(i, 0, width, themes.Tick, v.Theme.Glyphs.Waited)
		token := human.Either(t.last, themes.Err, again.Token)
		for _, at := range t.at {
			if at.IsZero() {
				continue
			}
			c.Sign(y, max(c.At(at), 0), token, again.Glyph)
		}
		if flat {
			continue
		}
		wait := "last"
		if !t.last {
			wait = "+" + human.Age(t.wait)
		}
		l.Reset(w, false)
		l.Gap(1).Put(themes.Text, "try "+strconv.Itoa(t.try)).Gap(1).Field(part.As(themes.Dim, wait), 6, part.Words)
		l.To(stackHead-4).Field(part.As(themes.Figure, page.Count(len(t.at))), 4, part.Number)
		s.Rows = append(s.Rows, c.Row(l.To(stackHead+1), y).String())
	}
	if flat {
		left := part.None
		if !goes.IsZero() {
			left = charts.Soon(v, goes)
		}
		l.Reset(w, false)
		l.Gap(1).Field(part.As(themes.Text, name), 15, part.ID).Gap(1).Field(part.As(themes.Figure, left), 5, part.Number)
		l.Gap(1).Put(themes.Dim, "try "+strconv.Itoa(next.Tries+1))
		s.Rows = append(s.Rows, c.Row(l.To(head+1), 0).String())
	} else if h > len(shown)+len(says) {
		l.Reset(w, false)
		text := "+" + human.Dur(time.Duration(width)*step)
		s.Rows = append(s.Rows, l.To(stackHead+1).Put(themes.Figure, v.Theme.Glyphs.Up+" now").To(w-2-len(text)).Put(themes.Dim, text).String())
	}
	for _, text := range says {
		l.Reset(w, false)
		s.Rows = append(s.Rows, l.Gap(1).Field(text, w-2, part.Words).String())
	}
	return s
}

// stackText says of how many retries nobody knows when they leave; else how many leave later than they are due; both
// with why. What is longer than w stands in two rows.
func stackText(v *page.View, jobs []engine.JobRow, w int) (out []part.Cell) {
	stuck, late := map[string]int{}, map[string]int{}
	for i := range jobs {
		j := &jobs[i]
		q, _ := v.Queue(j.Queue)
		switch at := block.LeavesAt(v, j); {
		case q.Paused:
			stuck[q.Pause()]++
		case at.IsZero():
			stuck[human.Either(strings.HasPrefix(j.Reason(), engine.FarBack), othersFirst, page.BriefWhy(v, j.Reason()))]++
		case j.LateBy != "":
			late[full(v, j.LateBy)]++
		}
	}
	switch {
	case len(stuck) > 0:
		n, why := mostOf(stuck)
		wait := page.Count(n) + human.Either(n == 1, " waits", " wait")
		if some, reason, mixed := strings.Cut(why, " as "); mixed && len(stuck) > 1 {
			if one := wait + ", " + why; safe.Width(one) <= w {
				return []part.Cell{part.As(themes.Warn, one)}
			}
			return []part.Cell{part.As(themes.Warn, wait+", "+some+" of them as"), part.As(themes.Warn, reason)}
		}
		return []part.Cell{part.As(themes.Warn, wait+": "+why)}
	case len(late) > 0:
		n, why := mostOf(late)
		return []part.Cell{part.As(themes.Warn, page.Count(n)+" late: "+why)}
	}
	return []part.Cell{part.As(themes.Dim, "All on time.")}
}

// mostOf is how many were counted, and the reason of most of them, with of how many where that is not of all.
func mostOf(reasons map[string]int) (all int, why string) {
	for text, n := range reasons {
		if all += n; n > reasons[why] || n == reasons[why] && text < why {
			why = text
		}
	}
	if n := reasons[why]; n < all {
		return all, page.Count(n) + " as " + why
	}
	return all, why
}

// othersFirst is said of what waits behind others.
const othersFirst = "others leave first"

// full says why there is no room for a retry, in few words; of several hosts it names the one whose own limit it is.
func full(v *page.View, by string) string {
	if strings.HasSuffix(by, " in line") {
		return othersFirst
	}
	scope, rest, _ := strings.Cut(by, " ")
	name, host, named := strings.Cut(scope, ":")
	if !named {
		return page.BriefWhy(v, by)
	}
	word := human.If(name != "app", engine.MethodWord(name)+" ")
	b, paced := v.Limits.Pacing("")
	switch several := word == "" && !page.OneHost(v); {
	case strings.Contains(rest, "spread over the window") && several:
		return host + " is paced"
	case strings.Contains(rest, "spread over the window"):
		return word + "calls are spread"
	case strings.Contains(rest, " 429") && several:
		return "a 429 holds " + host
	case strings.Contains(rest, " 429"):
		return "a 429 holds " + word + "calls"
	case several:
		return host + " has no room"
	case word == "" && paced:
		return "the " + human.Window(b.Window) + " window is full"
	case strings.Contains(rest, "/"): // 100/100
		return "the " + word + "limit is full"
	}
	return page.BriefWhy(v, by)
}

// arrived is the share of a sync's matches and timelines that is there; below 0 = nobody knows. While matches come, one
// timeline is expected of each, so that the bar never moves back.
func arrived(a *engine.AccountRow) float64 {
	total, done := a.Matches.Total, a.Matches.Done()
	switch {
	case total <= 0:
		return -1
	case !a.WantsTimelines:
	case a.Phase == engine.PhaseTimelines, a.Phase == engine.PhaseReport:
		total, done = total+max(a.Timelines.Total, 0), done+a.Timelines.Done()
	default:
		total, done = 2*total, done+a.Timelines.Done()
	}
	return float64(done) / float64(total)
}

// lastWord stands before the end of what is done last, where others between have no row.
const lastWord = "last "

// arrivalsBlock says who is done when: the syncs by what ends next, the one that began last, and the one that is done last.
func (o *Screen) arrivalsBlock(v *page.View, w, h int) part.Section {
	o.panes[paneAccounts].Height = max(h, 1)
	src := o.syncing(v)
	s := part.Section{Title: "ARRIVALS", Note: charts.SyncsText(v)}
	if n := len(o.collections.Open(v)); n > 0 {
		s.Note = page.Joined(v, s.Note, human.Counted(n, "collection", "collections"))
	}
	if len(src.Items) > 0 {
		s.Tail = "done"
	}
	name, clock := page.Clamp(w/3, 8, 24), 10
	if h > 1 && len(src.Items) > h && src.Items[h-1].last {
		clock += len(lastWord)
	}
	s = o.listed(v, paneAccounts, w, h, 1, src, s, func(l *part.Line, i, _ int) {
		a := &src.Items[i]
		l.Field(part.Plain(charts.PlayerName(a.RiotID)), name, part.Words).Gap(1)
		bar := max(l.Room()-clock-2, 4)
		word := "     "[:clock-10]
		if a.last {
			word = lastWord
		}
		if c := a.collection; c != nil {
			done := part.Plain(o.collections.DoneText(v, c))
			if state := v.CollectionWord(c); state != "RUNNING" {
				done = v.State(state)
			}
			if c.Players == 0 {
				l.NoBar(bar)
			} else {
				l.Bar(themes.Run, bar, float64(c.Done())/float64(c.Players))
			}
			l.Gap(1).Put(themes.Dim, word).Field(done, 10, part.Words)
			return
		}
		done := part.As(themes.Dim, part.None)
		if at := o.plan.EndOf(a.ID); at.After(v.Now) && a.Stand == "" {
			done = part.Plain(v.Around(at))
		} else if state := v.SyncWord(a.AccountRow); state != "SYNCING" { // QUEUED, PAUSED
			done = v.State(state)
		} else if a.Phase != engine.PhaseMatches && a.Phase != "" {
			done = part.As(themes.Dim, block.StageName(a.Phase))
		}
		if share := arrived(&a.AccountRow); share >= 0 {
			l.Bar(themes.Run, bar, share)
		} else {
			l.NoBar(bar)
		}
		l.Gap(1).Put(themes.Dim, word).Field(done, 10, part.Words)
	})
	ended := func(who string, state part.Cell, at time.Time) {
		if len(s.Rows) < h {
			l := part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, who), name, part.Words).Gap(1)
			s.Rows = append(s.Rows, l.Field(state, page.Clamp(l.Room()-12, safe.Width(state.Text), 12), part.Words).Gap(1).Put(themes.Dim, v.Ago(at)).String())
		}
	}
	for _, c := range o.collections.Rows() {
		if c.Result != "" {
			ended(c.Name, v.State(v.CollectionWord(&c)), c.Finished)
		}
	}
	if len(s.Rows) < h {
		rest := slices.Clone(v.Accounts[len(v.Syncing()):])
		slices.SortStableFunc(rest, func(a, b engine.AccountRow) int { return b.LastSync.Compare(a.LastSync) })
		for i := range rest[:min(len(rest), h-len(s.Rows))] {
			ended(charts.PlayerName(rest[i].RiotID), v.State(v.SyncWord(rest[i])), rest[i].LastSync)
		}
	}
	s.Empty = cmp.Or(v.Waiting(), v.Start("no account is known yet", "{sync} adds one"))
	return s
}
