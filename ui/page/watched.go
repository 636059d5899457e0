package page

import (
	"cmp"

	"github.com/farsight-console/farsight/engine"
)

// AccountHolder is a page on which an account may be selected, so that it can be
// watched.
type AccountHolder interface {
	// SelectedAccount is its id; "" = none.
	SelectedAccount(v *View) string
}

// SelectedAccount implements AccountHolder.
func (p *Accounts) SelectedAccount(v *View) string {
	p.refresh(v)
	row, _ := p.selected()
	return row.ID
}

// SelectedAccount implements AccountHolder.
func (p *Account) SelectedAccount(*View) string { return p.id }

// SelectedAccount implements AccountHolder: a sync under way.
func (o *overviewPage) SelectedAccount(v *View) string {
	if o.focus != paneAccounts {
		return ""
	}
	row, _ := selected(&o.panes[paneAccounts], o.syncing(v))
	return row.ID
}

// SelectedAccount implements AccountHolder.
func (p *Reports) SelectedAccount(v *View) string { return p.id(v) }

// SelectedAccount implements AccountHolder: whose matches are listed.
func (p *matchPage) SelectedAccount(*View) string { return p.account }

// BlockedBy says what sets the pace of an open run: a pause, a full limit, or its
// turn; "" = nothing that is known.
func BlockedBy(v *View, a engine.AccountRow, e engine.ETA) string {
	if q, ok := v.Queue(a.Queue); ok && q.Paused {
		return q.Pause()
	}
	if a.Status == engine.SyncPending {
		return waitsFor(v, a)
	}
	return cmp.Or(e.Why, e.Bucket)
}
