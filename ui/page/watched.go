package page

// AccountHolder is a page on which an account may be selected, so that it can be
// watched.
type AccountHolder interface {
	// SelectedAccount is its id; "" = none.
	SelectedAccount(v *View) string
}
