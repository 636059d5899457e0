package page

import (
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
)

// BriefWhy is a limiter's reason in the words of a list: without the host, where there
// is only one, and the version of the method.
func BriefWhy(v *View, why string) string {
	if brief, ok := engine.OutageWithout(why); ok && OneHost(v) {
		return brief
	}
	scope, rest, _ := strings.Cut(why, " ")
	name, host, named := strings.Cut(scope, ":")
	if !named || !hasHost(v, host) {
		return why
	}
	name = columns.Versionless(name) + human.If(!OneHost(v), ":"+host)
	switch used, how, _ := strings.Cut(rest, ", "); {
	case strings.HasPrefix(rest, frozenBy):
		rest = "frozen: " + strings.TrimSuffix(strings.TrimPrefix(rest, frozenBy), ")")
	case how == "" && strings.Count(used, "/") == 1 && !strings.Contains(used, " "):
		rest = used + " used"
	case how == "spread over the window":
		rest = used + ", paced"
	}
	return name + " " + rest
}

// frozenBy begins the limiter's reason if an operator froze the window and said why: "frozen by an
// operator (deploy of the site)".
const frozenBy = "frozen by an operator ("

// BriefBucket is a window's name in the words of a list: app 100/120s.
func BriefBucket(v *View, name string) string {
	kind, rest, ok := strings.Cut(name, ":")
	host, window, spaced := strings.Cut(rest, " ")
	if !ok || !spaced || !OneHost(v) || !hasHost(v, host) {
		return name
	}
	return columns.Versionless(kind) + " " + window
}

// BriefTarget is a call's target without the sign that its PUUID was cut, where more
// follows: a narrow column cuts it once more, and one sign says enough.
func BriefTarget(target string) string { return strings.Replace(target, "… +", " +", 1) }

// FailedCall reports whether a call went wrong. A 429 did not: the limits are told on their own.
func FailedCall(c *engine.CallRow) bool { return c.Status != 200 && c.Status != 429 }
