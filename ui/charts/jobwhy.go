package charts

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Told is why a job does not run, in sentences, each of which may be "".
//
//	3rd in line of its queue. It goes in 4.2 s.                    Lead, Text
//	Its 2nd try was due at 12:31:02, 12 s ago.                     Late
//	r would not make it faster.                                    Act
type Told struct {
	Lead, Text string
	Late       string // stands behind it as a warning
	Act        string
}

// whyJob says why a job does not run and until when.
func whyJob(v *page.View, j *engine.JobRow) Told {
	switch {
	case j.State == engine.Running:
		return whyRuns(v, j)
	case j.State.Terminal():
		return whyEnded(v, j)
	case j.Stand != "" || j.State == engine.Pending:
		return Told{Lead: page.Capital(page.BriefWhy(v, j.Reason())) + ".", Text: endsText(v, j), Act: whatStands(v, j)}
	case j.State == engine.Retryable:
		return whyBacksOff(v, j)
	case j.State == engine.Available:
		return whyInLine(v, j)
	}
	text := "It goes on " + InText(v, j.ReasonEnds()) + "."
	text += human.If(j.Hold != engine.HoldNone, " It was sent back through no fault of its own: that cost no try.")
	return Told{Lead: page.Capital(page.BriefWhy(v, j.Reason())) + ".", Text: text, Act: "A retry lets it go at once."}
}

// What is shown stands for a second: of what comes within nowWithin no more is told. AtOnce is how near a time is that
// is now.
const (
	nowWithin = time.Second
	AtOnce    = 50 * time.Millisecond
)

// InText is a time until: in 41 s, within a second, or now.
func InText(v *page.View, at time.Time) string {
	switch {
	case at.IsZero():
		return "at a time that nobody knows"
	case at.Sub(v.Beat()) < AtOnce:
		return "now"
	case at.Sub(v.Beat()) < nowWithin:
		return "within a second"
	}
	return "in " + Soon(v, at)
}

// Within is "<1 s" or "now" of what comes within nowWithin; "" = it comes later.
func Within(v *page.View, at time.Time) string {
	left := at.Sub(v.Beat())
	return human.If(left < nowWithin, human.Either(left < AtOnce, "now", "<1 s"))
}

// Soon is the time that is left from the present second on. It has tenths below ten seconds, as
// places in a line are that near to each other.
func Soon(v *page.View, at time.Time) string {
	left := at.Sub(v.Beat())
	if left >= 10*time.Second {
		return v.In(at)
	}
	v.Ticks = true
	return strconv.FormatFloat(max(left, 0).Seconds(), 'f', 1, 64) + " s"
}

// endsText says when what holds a job back ends; "" = nobody knows, or it has ended.
func endsText(v *page.View, j *engine.JobRow) string {
	ends := j.ReasonEnds()
	switch {
	case j.Until.IsZero() || !ends.After(v.Now):
		return ""
	case j.Asked():
		return "One call asks " + InText(v, ends) + " whether it is over; until then nothing is sent."
	}
	return "That ends " + InText(v, ends) + "."
}

// whatStands says what an operator can do where something holds the job back before any limit: a
// paused queue, an endpoint that is down, or other jobs that it waits for.
func whatStands(v *page.View, j *engine.JobRow) string {
	switch {
	case j.State == engine.Pending:
		return "It goes on by itself when they are settled, and needs no try of its own."
	case j.Stand == engine.StandPaused:
		return v.Keyed("{pause} resumes the queue; a retry would not make it faster.")
	case j.Why == engine.KeyRefused:
		return v.Keyed("{key} gives another key; a retry would not make it faster.")
	case strings.Contains(j.Why, " frozen by "):
		return v.Keyed("{limits} shows it, and {limits/pause} there resumes it; a retry would not make it faster.")
	}
	return "A retry would not make it faster."
}

// whyRuns tells of a job that runs: for how long, and whether its call waits for a permit.
func whyRuns(v *page.View, j *engine.JobRow) Told {
	t := Told{Lead: "Its " + human.Ordinal(j.Tries) + " try runs", Text: "for " + v.Age(j.Started) + "."}
	// 0 = the worker is not known.
	if j.Worker > 0 {
		t.Text = "for " + v.Age(j.Started) + ", in the hands of worker " + strconv.Itoa(j.Worker) + "."
	}
	// The limiter knows the jobs whose calls wait for a permit, each with its reason.
	for _, w := range v.Limits.Waiting {
		if w.Job == j.ID {
			t.Text += " It waits for a permit: " + page.BriefWhy(v, w.Reason) + "."
		}
	}
	t.Act = "A cancel gives its call up and throws the answer away."
	return t
}

// whyEnded tells of a job that has ended: with what, and which key opens it again.
func whyEnded(v *page.View, j *engine.JobRow) Told {
	switch j.State {
	case engine.Completed:
		return Told{Lead: "It was done", Text: v.Ago(j.Finished) + ", after " + human.Counted(j.Tries, "try", "tries") + "."}
	case engine.Cancelled:
		return Told{
			Lead: "It was cancelled",
			Text: v.Ago(j.Finished) + ": " + cmp.Or(j.LastError, "by an operator") + ".",
			Act:  v.Keyed("{retry} starts it again."),
		}
	}
	// What it ended with is its last error, or the class of that where the text was not kept.
	t := Told{
		Lead: page.Capital(columns.InShort(cmp.Or(j.LastError, string(j.Class)))) + ".",
		Act:  v.Keyed("{retry} tries it again from the beginning."),
	}
	switch {
	case j.MaxAttempts > 0 && j.Tries >= j.MaxAttempts:
		t.Text = "All " + strconv.Itoa(j.Tries) + " tries were used; it was given up " + v.Ago(j.Finished) + "."
	default:
		t.Text = "That answer is final: it was given up " + v.Ago(j.Finished) + ", and no other try follows by itself."
	}
	return t
}

// whyInLine tells of a job that waits for its turn: its place, and when it goes.
func whyInLine(v *page.View, j *engine.JobRow) Told {
	t := Told{Lead: page.Capital(page.BriefWhy(v, j.Reason())) + "."}
	switch {
	case j.Why == engine.StartsNow:
		t.Lead = "It was taken by a worker." // as long as the other: what follows stands still
	case j.Place > 0:
		t.Lead = human.Ordinal(j.Place) + " in line of its queue." // there are others that wait for the same calls
	}
	hold, held := v.HeldBy(j.Line)
	behind := []engine.JobRow{*j}
	v.Hold(behind)
	j = &behind[0]
	// A job that goes later than the hold ends, or the window opens again, has its own time told.
	switch b, full := fullWindow(v, j); {
	case held && !j.Until.IsZero() && j.Until.Sub(hold.Blocked) < time.Second:
		t.Text = "It goes " + InText(v, j.Until) + ": a " + hold.BlockedBy + " holds these calls."
	case full && !j.Until.After(b.Reset):
		t.Text = "It goes when the " + human.Window(b.Window) + " window opens again" +
			human.If(b.Reset.Sub(v.Beat()) >= nowWithin, ", "+InText(v, b.Reset)) + ": all " + page.Count(b.Limit) + " calls of it are used."
	case j.Until.IsZero():
		t.Text = "When its turn comes is not known yet."
	case full && j.Place <= b.Limit: // soon after it
		t.Text = "It goes " + InText(v, j.Until) + ": all " + page.Count(b.Limit) + " calls of the " + human.Window(b.Window) + " window are used."
	default:
		t.Text = spreadText(v, j) + "."
	}
	// A retry that has come due and stands in line is late, though nothing is wrong.
	if j.InLineAgain() && !j.Due.IsZero() && v.Now.Sub(j.Due) >= time.Second {
		ago := human.Age(v.Beat().Sub(j.Due.Truncate(time.Second)))
		t.Late = "Its " + human.Ordinal(j.Tries+1) + " try was due at " + v.Clock(j.Due) + ", " + ago + " ago."
	}
	t.Act = v.Keyed("{retry} would not make it faster.")
	return t
}

// paceOf is the window that sets the pace of a job, which is one of its own host; false = none of that is known.
func paceOf(v *page.View, j *engine.JobRow) (engine.BucketRow, bool) {
	host, _ := page.LaneOf(j.Line)
	return v.Limits.Pacing(host)
}

// fullWindow is the window that sets the pace of a job, and whether it has no room left. full is false also
// when no limit is known.
func fullWindow(v *page.View, j *engine.JobRow) (b engine.BucketRow, full bool) {
	b, ok := paceOf(v, j)
	return b, ok && b.Limit > 0 && b.Counted(v.Now) >= b.Most() && b.Reset.After(v.Now)
}

// spreadText says when a job in line goes, and what sets the pace of its line. It gives the figures of that only
// for a place among the calls that are left of the window: what comes after it has a pace of its own.
func spreadText(v *page.View, j *engine.JobRow) string {
	b, ok := paceOf(v, j)
	left, rest := b.Most()-b.Counted(v.Now), b.Reset.Sub(v.Now)
	if !ok || left <= 0 || rest <= 0 {
		return "It goes " + InText(v, j.Until)
	}
	perSecond := float64(left) / rest.Seconds()
	// A hundred calls a second and more are no pace that anybody would notice.
	if perSecond >= 100 || j.Place > left {
		return "It goes " + InText(v, j.Until) + ", as soon as pacing allows"
	}
	return "Pacing spreads what is left of " + page.Count(b.Limit) + " per " + human.Window(b.Window) + ", " + pace(perSecond) +
		": it goes " + InText(v, j.Until)
}

// pace is a number of calls a second, or of calls a minute where it is less than one a second.
func pace(perSecond float64) string {
	if perSecond < 1 {
		return human.Counted(max(int(perSecond*60+0.5), 1), "call", "calls") + " a minute"
	}
	return human.Counted(int(perSecond+0.5), "call", "calls") + " a second"
}

// whyBacksOff tells of a job that waits for its next try: how it failed, how the policy gave it its
// instant, and whether the limits have room for it then.
func whyBacksOff(v *page.View, j *engine.JobRow) Told {
	t := Told{Lead: page.Capital(columns.LastAnswer(&j.Job))}
	if at, ok := lastFailure(j); ok {
		t.Lead += " at " + v.Clock(at)
	}
	t.Lead += "."
	due := "it is due at " + v.Clock(j.Due)
	switch {
	case j.Delay <= 0:
		t.Text = page.Capital(due) + "."
	case j.InLineAgain():
		t.Text = stepText(j) + ", so it was due at " + v.Clock(j.Due) + "."
	default:
		t.Text = stepText(j) + ", so " + due + "."
	}
	t.Late = lateText(v, j)
	t.Act = IfAgain(v, j)
	return t
}

// stepText says where the delay comes from: "Step 2 of the policy: 10 s".
func stepText(j *engine.JobRow) string {
	return "Step " + strconv.Itoa(j.Tries) + " of the policy: " + human.Window(j.Delay)
}

// lateText says that the limits have no room at the instant of a retry, and until when; "" = they
// have, or it is less than a second later.
func lateText(v *page.View, j *engine.JobRow) string {
	late := LateBy(v, j)
	switch {
	case late <= 0 && j.LateBy == "":
		return ""
	case j.Starts.IsZero():
		return page.Capital(page.BriefWhy(v, j.LateBy)) + ": when it goes is not known."
	case late < time.Second:
		return ""
	}
	return "No room until " + v.Clock(j.Starts) + ": " + human.Age(late) + " late."
}

// LateBy is how much later than its instant a retry goes. If nobody knows when it goes, it is how
// much later it is already.
func LateBy(v *page.View, j *engine.JobRow) time.Duration {
	switch {
	case j.LateBy == "":
		return 0
	case j.Starts.IsZero():
		return max(v.Now.Sub(j.Due), 0)
	}
	return max(engine.Latest(j.Starts, v.Beat()).Sub(j.Due), 0)
}

// IfAgain says what follows if the next try fails, and each one after it does too: "If it fails
// again: 12:33:00 +2 min  then it is given up."; "" = the policy gives nothing to say.
func IfAgain(v *page.View, j *engine.JobRow) string {
	if LastTry(j) {
		return "If it fails again it is given up: this is its last try."
	}
	if len(j.Then) == 0 {
		return ""
	}
	var steps []string
	for i, at := range AgainAt(j) {
		steps = append(steps, v.Clock(at)+" +"+human.Window(j.Then[i]))
	}
	return "If it fails again: " + strings.Join(steps, "  then ") + "  then it is given up."
}

// lastFailure is when a job failed last; false = it is not known.
func lastFailure(j *engine.JobRow) (time.Time, bool) {
	if n := len(j.Failed); n > 0 {
		return j.Failed[n-1], true
	}
	return j.Started, !j.Started.IsZero()
}

// Rows are the sentences in rows of w cells: the lead bright, and what can be done dimmed below.
func (t Told) Rows(v *page.View, w int) []string {
	var rows []string
	put := func(cells ...part.Cell) {
		for _, row := range flowText(v, w-2, cells) {
			rows = append(rows, " "+row)
		}
	}
	put(part.As(themes.Figure, t.Lead), part.Plain(t.Text), part.As(themes.Warn, t.Late))
	put(part.As(themes.Dim, t.Act))
	return rows
}

// flowText breaks a text of several colours into rows of w cells between words.
func flowText(v *page.View, w int, cells []part.Cell) (rows []string) {
	l, used := part.NewLine(v.Theme, w), false
	for _, c := range cells {
		for word := range strings.FieldsSeq(c.Text) {
			width := safe.Width(safe.Text(word))
			if used && l.Room() < width+1 {
				rows = append(rows, l.String())
				l.Reset(w, false)
				used = false
			}
			if used {
				l.Gap(1)
			}
			l.Cells(part.As(c.Token, word))
			used = true
		}
	}
	if used {
		rows = append(rows, l.String())
	}
	return rows
}

// WhyOf is the section that says why a job does not run, see whyJob. It is the same on every screen
// that tells it: Jobs, Retries and the job's own. What the job is called stands in its row, and not here too: the first
// in line is another one each second.
func WhyOf(v *page.View, j *engine.JobRow, w int) part.Section {
	return part.Section{Title: "WHY", Note: "it " + stateVerb(j), Rows: whyJob(v, j).Rows(v, w)}
}

// stateVerb is what a job does. One in line is told with the calls that it waits for: "waits for match calls to europe".
func stateVerb(j *engine.JobRow) string {
	switch {
	case j.State == engine.Running:
		return "runs"
	case j.State.Terminal():
		return "has ended"
	}
	_, lane, ok := strings.Cut(j.Line, " ") // "full europe/match-v5.match"
	if !ok {
		return "waits"
	}
	host, method, _ := strings.Cut(lane, "/")
	if method == "" { // a step that may make no call
		return "waits"
	}
	return "waits for " + engine.CallsTo(host, strings.TrimSuffix(method, "+"))
}
