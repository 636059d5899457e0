package both

import (
	"fmt"
	"strconv"

	"github.com/farsight-console/farsight/engine"
)

const (
	defaultPage = 100
	// MaxPage is the largest page that is given.
	MaxPage = 500
)

// PageSize is how many rows a page has at most. 0 and less ask for the usual number, too many for
// the most.
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

// OneEntry is the page of a command that was asked for by its number.
func OneEntry(a engine.AuditEntry, err error) (page engine.AuditPage, _ error) {
	if err == nil {
		page.Entries = []engine.AuditEntry{a}
	}
	return page, err
}

// AuditCursor reads the number that a page of commands begins below; 0 = at the newest.
func AuditCursor(after string) (before uint64, err error) {
	if after == "" {
		return 0, nil
	}
	if before, err = strconv.ParseUint(after, 10, 63); err != nil {
		err = fmt.Errorf("audit: %w: %q is no cursor", engine.ErrInvalid, after)
	}
	return before, err
}

// BadCursor refuses what is no cursor of a feed, and says why.
func BadCursor(s, format string, args ...any) error {
	return engine.Problemf(engine.ErrInvalid,
		"take the cursor of the last line of an export, or leave it out to begin anew",
		"cursor %q %s", s, fmt.Sprintf(format, args...))
}
