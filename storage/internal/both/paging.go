package both

import (
	"fmt"

	"github.com/farsight-console/farsight/engine"
)

const (
	defaultPage = 100
	// MaxPage is the largest page that is given.
	MaxPage = 500
)

// PageSize is how many rows a page has at most.
func PageSize(p engine.Page) int {
	if p.Limit <= 0 {
		return defaultPage
	}
	return min(p.Limit, MaxPage)
}

// BadPage refuses an After that is no page's Next.
func BadPage(after string) error {
	return fmt.Errorf("%w: after=%q is no place in this list: give the next that the page before ended with, or none to begin", engine.ErrInvalid, after)
}

// BadCursor refuses what is no cursor of a feed, and says why.
func BadCursor(s, format string, args ...any) error {
	return engine.Problemf(engine.ErrInvalid, "take the cursor of the last line of an export, or leave it out to begin anew",
		"cursor %q %s", s, fmt.Sprintf(format, args...))
}
