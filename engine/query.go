package engine

import (
	"context"
	"iter"
)

// Query is one of the query types below.
type Query interface{ query() }

// Answer is the answer type that belongs to the query's type.
type Answer any

// Page asks for part of a list.
type Page struct {
	After string `json:"after,omitempty"` // cursor of the page before; "" = the first
	Limit int    `json:"limit,omitempty"` // 0 = 100, at most 500
}

// EachAccount iterates the accounts that a query fits, over all pages; it ends with the
// first error.
func EachAccount(ctx context.Context, find func(context.Context, AccountsQuery) (AccountsPage, error),
	q AccountsQuery) iter.Seq2[AccountRow, error] {
	return func(yield func(AccountRow, error) bool) {
		for more := true; more; more = q.After != "" {
			page, err := find(ctx, q)
			if err != nil {
				yield(AccountRow{}, err)
				return
			}
			for _, row := range page.Accounts {
				if !yield(row, nil) {
					return
				}
			}
			q.After = page.Next
		}
	}
}
