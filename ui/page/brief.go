package page

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// BriefWhy is a limiter's reason in the words of a list: without the host, where there
// is only one, and the version of the method, with what the view's own window counts.
func BriefWhy(v *View, why string) string {
	if far, ok := strings.CutPrefix(why, engine.FarBack+": "); ok {
		return engine.FarBack + ": " + BriefWhy(v, far)
	}
	if brief, ok := engine.WithoutHost(why); ok && OneHost(v) {
		return brief
	}
	scope, rest, _ := strings.Cut(why, " ")
	name, host, named := strings.Cut(scope, ":")
	if !named || !hasHost(v, host) {
		return why
	}
	switch {
	case name != "app":
		name = human.Either(OneHost(v), engine.MethodWord(name)+" calls", engine.CallsTo(host, name))
	case !OneHost(v):
		name = host
	}
	used, how, _ := strings.Cut(rest, ", ")
	count, span := v.countIn(scope, used)
	switch {
	case strings.HasPrefix(rest, frozenBy):
		rest = "frozen: " + strings.TrimSuffix(strings.TrimPrefix(rest, frozenBy), ")")
	case how == "" && count != "":
		rest = count + " used" + span
	case how == "spread over the window":
		rest = cmp.Or(count, used) + span + ", paced"
	case count != "":
		rest = count + span + ", " + how
	}
	return name + " " + rest
}

// countIn is what a reason says that a limit counts, "92/100", by the window of the view: reasons are of different moments.
// Where our own count of any such span is what holds calls, it is that one, and span says so. "" = it says no count.
func (v *View) countIn(scope, used string) (count, span string) {
	_, most, ok := strings.Cut(used, "/")
	if _, err := strconv.Atoi(most); !ok || err != nil {
		return "", ""
	}
	for _, b := range v.Limits.Buckets {
		if cmp.Or(b.Method, b.Kind)+":"+b.Host != scope || strconv.Itoa(b.Most()) != most {
			continue
		}
		if b.CountsMore(v.Now) {
			return strconv.Itoa(b.Used) + "/" + most, " in any " + human.Window(b.Window)
		}
		return strconv.Itoa(b.Counted(v.Now)) + "/" + most, ""
	}
	return used, ""
}

// frozenBy begins the limiter's reason if an operator froze the window and said why: "frozen by an
// operator (deploy of the site)".
const frozenBy = "frozen by an operator ("

// BriefTarget is a call's target without the sign that its PUUID was cut, where more
// follows: a narrow column cuts it once more, and one sign says enough.
func BriefTarget(target string) string { return strings.Replace(target, "… +", " +", 1) }

// FailedCall reports whether a call went wrong. A 429 did not: the limits are told on their own.
func FailedCall(c *engine.CallRow) bool { return c.Status != 200 && c.Status != 429 }
