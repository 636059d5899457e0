package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/safe"
)

// listing is one list command: where its pages come from and which rows fit.
type listing[T any] struct {
	schema *filter.Schema[T]
	filter string // in the console's filter language; "" = every row
	page   func(after string) (rows []T, next string, err error)
}

// rows reads every page and keeps what fits. As JSON each row is printed as it
// comes, so that a list of any length takes no memory; then none is given back.
// Errors: engine.ErrInvalid for a filter that cannot be used, and those of the
// console.
func (l listing[T]) rows(o Out) ([]T, error) {
	var kept []T
	err := l.each(func(page []T) error {
		if o.JSON {
			return lines(o, page)
		}
		kept = append(kept, page...)
		return nil
	})
	return kept, err
}

// each gives the rows that fit to use, page by page.
func (l listing[T]) each(use func([]T) error) error {
	fit, err := filter.Parse(l.filter, l.schema)
	if err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	for after := ""; ; {
		page, next, err := l.page(after)
		if err != nil {
			return err
		}
		now := time.Now()
		page = slices.DeleteFunc(page, func(row T) bool { return !fit.Match(&row, now) })
		if err := use(page); err != nil || next == "" {
			return err
		}
		after = next
	}
}

// say prints a sentence in the place of an empty table.
func (o Out) say(text string) error {
	_, err := fmt.Fprintln(o.W, o.clean(text))
	return err
}

// nothing says that a filter fits no row, and what else could be asked for.
func (o Out) nothing(filter, more string) error {
	return o.say(sentence("nothing fits "+safe.Cut(filter, mostEcho), more))
}

// mostEcho cells of what somebody typed are shown again.
const mostEcho = 60

func sentence(what, more string) string {
	if more == "" {
		return what
	}
	return what + ": " + more
}

func jobPages(ctx context.Context, c engine.Console, q engine.JobsQuery) func(string) ([]engine.JobRow, string, error) {
	q.Limit = pageSize
	return func(after string) ([]engine.JobRow, string, error) {
		q.After = after
		p, err := ask[engine.JobsPage](ctx, c, q)
		return p.Jobs, p.Next, err
	}
}

func accountPages(ctx context.Context, c engine.Console) func(string) ([]engine.AccountRow, string, error) {
	return func(after string) ([]engine.AccountRow, string, error) {
		p, err := ask[engine.AccountsPage](ctx, c, engine.AccountsQuery{Page: engine.Page{After: after, Limit: pageSize}})
		return p.Accounts, p.Next, err
	}
}

// matchPages also counts what is hidden, over all pages.
func matchPages(ctx context.Context, c engine.Console, q engine.MatchesQuery, hidden *int) func(string) ([]engine.MatchRow, string, error) {
	q.Limit = pageSize
	return func(after string) ([]engine.MatchRow, string, error) {
		q.After = after
		p, err := ask[engine.MatchesPage](ctx, c, q)
		*hidden += p.Hidden
		return p.Matches, p.Next, err
	}
}

// part is the filter of the short lists: a text that one of the names holds, in
// either case.
func part(text string, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(strings.ToLower(n), strings.ToLower(text)) })
}

// splitAccount takes a Riot ID off the head of a filter. Names hold spaces, tags do
// not; a filter of the language has its first operator before any #.
func splitAccount(text string) (account, rest string) {
	name, after, ok := strings.Cut(text, "#")
	if !ok || strings.ContainsAny(name, `:<>=~"/`) {
		return "", text
	}
	tag, rest, _ := strings.Cut(after, " ")
	return name + "#" + tag, strings.TrimSpace(rest)
}
