package sim

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Scopes of a window, as X-Rate-Limit-Type names them.
const (
	scopeApp    = "application"
	scopeMethod = "method"
)

// window counts calls against one limit. Refused calls count too, as they do at Riot
// (developer-relations#697: 113 of 100).
type window struct {
	limit Limit
	rule  WindowRule
	opens time.Time // of the current fixed window
	own   int
	alien int     // calls of somebody else who uses the key
	log   []stamp // sliding rule only, oldest first
}

// stamp is some calls at an instant, of a sliding window.
type stamp struct {
	at    time.Time
	n     int
	alien bool
}

// add counts n calls at now.
func (w *window) add(now time.Time, n int, alien bool) {
	w.expire(now)
	// The first call after a window has ended opens the next one.
	if w.own+w.alien == 0 && w.rule == FixedLazy {
		w.opens = now
	}
	if w.rule == Sliding {
		w.log = append(w.log, stamp{now, n, alien})
	}
	if alien {
		w.alien += n
		return
	}
	w.own += n
}

// expire forgets what is over at now, by the rule: a lazy window begins with the first call after the last one
// ended, a wall-aligned one at each full span of the clock, a sliding one loses each call a span after it.
func (w *window) expire(now time.Time) {
	switch w.rule {
	case Sliding:
		w.slide(now)
	case WallAligned:
		// Of the zero time, not of the day: 100:120 begins at every even minute.
		if start := now.Truncate(w.limit.Per); start.After(w.opens) {
			w.opens, w.own, w.alien = start, 0, 0
		}
	default:
		if now.Sub(w.opens) >= w.limit.Per {
			w.own, w.alien = 0, 0
		}
	}
}

// slide takes the calls out that are a span ago.
func (w *window) slide(now time.Time) {
	gone := 0
	for gone < len(w.log) && now.Sub(w.log[gone].at) >= w.limit.Per {
		w.count(w.log[gone])
		gone++
	}
	w.log = w.log[gone:]
}

func (w *window) count(s stamp) {
	if s.alien {
		w.alien -= s.n
		return
	}
	w.own -= s.n
}

func (w *window) used() int      { return w.own + w.alien }
func (w *window) over() bool     { return w.used() > w.limit.N }
func (w *window) violated() bool { return w.own > w.limit.N }

// frees is how long after now the window has room again.
func (w *window) frees(now time.Time) time.Duration {
	if w.rule != Sliding {
		return w.opens.Add(w.limit.Per).Sub(now)
	}
	// The oldest calls leave first: the one whose end makes room says when.
	left := w.used()
	for _, s := range w.log {
		if left -= s.n; left < w.limit.N {
			return s.at.Add(w.limit.Per).Sub(now)
		}
	}
	return 0
}

// windows are the buckets of one scope: a key on a host, or a method of it.
type windows []*window

func newWindows(limits []Limit, rule WindowRule) windows {
	ws := make(windows, len(limits))
	for i, l := range limits {
		ws[i] = &window{limit: l, rule: rule}
	}
	return ws
}

func (ws windows) add(now time.Time, n int, alien bool) {
	for _, w := range ws {
		w.add(now, n, alien)
	}
}

// worst is the window over its limit that takes longest to free; nil when none is over.
func (ws windows) worst(now time.Time) *window {
	var worst *window
	for _, w := range ws {
		// Retry-After must outlast all that are over, or the next call would break another one.
		if w.over() && (worst == nil || w.frees(now) > worst.frees(now)) {
			worst = w
		}
	}
	return worst
}

func (ws windows) violated() bool {
	for _, w := range ws {
		if w.violated() {
			return true
		}
	}
	return false
}

// headers are the values of the limit header and the count header. Riot does not keep the order of the
// entries, so a client must match them by their seconds; reversed gives the other order.
func (ws windows) headers(reversed bool) (limits, counts string) {
	l, c := make([]string, len(ws)), make([]string, len(ws))
	for i, w := range ws {
		// As they are listed, or from the end.
		at := i
		if reversed {
			at = len(ws) - 1 - i
		}
		l[at] = w.limit.String()
		c[at] = strconv.Itoa(w.used()) + ":" + strconv.Itoa(w.limit.seconds())
	}
	return strings.Join(l, ","), strings.Join(c, ",")
}

// weigh notes what the windows made of the call, which counts in them already.
func (c *call) weigh(app, method windows) {
	_, c.AppCount = app.headers(false)
	_, c.MethodCount = method.headers(false)
	var decides *window
	for i, w := range slices.Concat(app, method) {
		// By how much: the longest of all windows that the client itself has broken.
		if w.violated() {
			c.Early = max(c.Early, w.frees(c.At))
		}
		if decides == nil || w.decides(decides, c.At) {
			decides = w
			c.Window = Use{Scope: scopeApp, Used: w.used(), Limit: w.limit.N, Per: w.limit.Per}
			if i >= len(app) {
				c.Window.Scope = scopeMethod
			}
		}
	}
}

// decides reports whether w rather than other decides on a call: it is over its limit for
// longer, or it is fuller. Of two alike it is the longer one.
func (w *window) decides(other *window, now time.Time) bool {
	if w.over() != other.over() {
		return w.over()
	}
	if w.over() {
		return w.frees(now) > other.frees(now)
	}
	mine, theirs := float64(w.used())/float64(w.limit.N), float64(other.used())/float64(other.limit.N)
	return mine > theirs || mine == theirs && w.limit.Per > other.limit.Per
}
