package control

import (
	"context"

	"github.com/farsight-console/farsight/engine"
)

// listReports gives the reports of one page of accounts.
func (f finder) listReports(ctx context.Context, q engine.ReportsQuery) (page engine.ReportsPage, err error) {
	accounts, err := f.store.Accounts(ctx, engine.AccountsQuery{Page: q.Page, Text: q.Text})
	if err != nil {
		return page, err
	}
	page = engine.ReportsPage{Reports: []engine.ReportRow{}, Next: accounts.Next}
	for _, a := range accounts.Accounts {
		r, err := f.store.Report(ctx, a.ID)
		if err != nil {
			return page, err
		}
		// An account that was never synced to its end has none.
		if r == nil {
			continue
		}
		row := r.Row()
		row.RiotID, row.Platform, row.Closed = a.RiotID, a.Platform, a.Closed
		page.Reports = append(page.Reports, row)
	}
	return page, nil
}
