package overview

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
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
	late bool          // one of them has no room at its instant
}

// tiersOf sorts retries by their try, the highest first.
func tiersOf(jobs []engine.JobRow) (out []tier) {
	for i := range jobs {
		j := &jobs[i]
		n := slices.IndexFunc(out, func(t tier) bool { return t.try == j.Tries+1 })
		if n < 0 {
			n, out = len(out), append(out, tier{try: j.Tries + 1, wait: j.Delay, last: charts.LastTry(j)})
		}
		out[n].at, out[n].late = append(out[n].at, page.GoesAt(j)), out[n].late || j.LateBy != ""
	}
	slices.SortStableFunc(out, func(a, b tier) int { return cmp.Compare(b.try, a.try) })
	return out
}

// stackHead is how many cells of a tier stand before its line: its try, the wait, and how many.
const stackHead = 18

// stackBlock is the holding stack: the retries by their try on lines that lead down to now.
func stackBlock(v *page.View, w, h int) part.Section {
	jobs := v.TryingAgain()
	s := part.Section{Title: "HOLDING STACK", Note: human.Counted(len(jobs), "retry, by its try", "retries, by try"), Height: h}
	if len(jobs) == 0 {
		s.Note, s.Empty = "", cmp.Or(v.Waiting(), "no call is to be tried again")
		return s
	}
	tiers := tiersOf(jobs)
	says := stackText(v, jobs, w-2)
	shown := tiers[:page.Clamp(h-1-len(says), min(h, 1), len(tiers))]
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
	width := max(w-stackHead-3, 4)
	step := charts.AxisSteps[charts.StepAt(far/time.Duration(width-1))]
	c := part.NewChart(v.Theme, part.NewAxis(now, step, 0, width), len(shown)+1)
	l := part.NewLine(v.Theme, w)
	again := v.Theme.State("RETRYABLE")
	for y, t := range shown {
		c.Run(y, 0, width, themes.Tick, v.Theme.Glyphs.Waited)
		token := human.Either(t.last, themes.Err, again.Token)
		for _, at := range t.at {
			if at.IsZero() {
				continue
			}
			c.Sign(y, max(c.At(at), 0), token, again.Glyph)
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
	if h > len(shown)+len(says) {
		l.Reset(w, false)
		text := "+" + human.Dur(time.Duration(width)*step)
		s.Rows = append(s.Rows, l.To(stackHead+1).Put(themes.Figure, v.Theme.Glyphs.Up+" now").To(w-2-len(text)).Put(themes.Dim, text).String())
	}
	for _, text := range says {
		s.Rows = append(s.Rows, v.Row(w, part.Plain(" "), text))
	}
	return s
}

// stackText says of how many retries nobody knows when they leave; else how many leave later than they are due; both
// with why. Else it says when the next one leaves. What is longer than w stands in two rows.
func stackText(v *page.View, jobs []engine.JobRow, w int) (out []part.Cell) {
	stuck, late := map[string]int{}, map[string]int{}
	var first time.Time
	for i := range jobs {
		j := &jobs[i]
		q, _ := v.Queue(j.Queue)
		switch at := page.GoesAt(j); {
		case q.Paused: // the row of one in line may not say so
			stuck[q.Pause()]++
		case at.IsZero():
			stuck[human.Either(strings.HasPrefix(j.Reason(), engine.FarBack), othersFirst, page.BriefWhy(v, j.Reason()))]++
		case j.LateBy != "":
			if late[full(v, j.LateBy)]++; first.IsZero() || at.Before(first) {
				first = at
			}
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
		return []part.Cell{
			part.As(themes.Warn, page.Count(n)+" late: "+why),
			part.As(themes.Dim, "They leave from "+v.Clock(first)+" on."),
		}
	}
	next := slices.MinFunc(jobs, func(a, b engine.JobRow) int { return page.GoesAt(&a).Compare(page.GoesAt(&b)) })
	return []part.Cell{part.As(themes.Dim, "All on time; the next leaves "+charts.InText(v, page.GoesAt(&next))+".")}
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
	b, paced := v.Limits.Pacing()
	switch several := word == "" && !page.OneHost(v); {
	case strings.Contains(rest, "spread over the window") && several:
		return host + " spreads its calls"
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

// arrivalsBlock says who is done when: the syncs by what ends next, and the one that began last.
func (o *Screen) arrivalsBlock(v *page.View, w, h int) part.Section {
	src := o.syncing(v)
	s := part.Section{Title: "ARRIVALS", Note: charts.SyncsText(v)}
	if n := len(o.collections.Open(v.Now)); n > 0 {
		s.Note = page.Joined(v, s.Note, human.Counted(n, "collection", "collections"))
	}
	if len(src.Items) > 0 {
		s.Tail = "done"
	}
	name := page.Clamp(w/3, 8, 24)
	s = o.listed(v, paneAccounts, w, h, 1, src, s, func(l *part.Line, i, _ int) {
		a := &src.Items[i]
		l.Field(part.Plain(charts.PlayerName(a.RiotID)), name, part.Words).Gap(1)
		const clock = 10
		bar := max(l.Room()-clock-2, 4)
		if c := a.collection; c != nil {
			done := part.Plain(o.collections.DoneText(v, c))
			if word := v.CollectionWord(c); word != "RUNNING" {
				done = v.State(word)
			}
			if c.Players == 0 {
				l.NoBar(bar)
			} else {
				l.Bar(themes.Run, bar, float64(c.Done())/float64(c.Players))
			}
			l.Gap(1).Field(done, clock, part.Words)
			return
		}
		done := part.As(themes.Dim, part.None)
		if at := o.plan.EndOf(a.ID); at.After(v.Now) && a.Stand == "" {
			done = part.Plain("~" + human.Either(at.Sub(v.Now) < 12*time.Hour, v.Clock(at), engine.When(at, v.Now)))
		} else if word := v.SyncWord(a.AccountRow); word != "SYNCING" { // QUEUED, PAUSED
			done = v.State(word)
		} else if a.Phase != engine.PhaseMatches && a.Phase != "" {
			done = part.As(themes.Dim, block.StageName(a.Phase))
		}
		if share := arrived(&a.AccountRow); share >= 0 {
			l.Bar(themes.Run, bar, share)
		} else {
			l.NoBar(bar)
		}
		l.Gap(1).Field(done, clock, part.Words)
	})
	ended := func(who string, state part.Cell, at time.Time) {
		if len(s.Rows) < h {
			l := part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, who), name, part.Words).Gap(1)
			s.Rows = append(s.Rows, l.Field(state, 13, part.Words).Put(themes.Dim, v.Ago(at)).String())
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
