package page

import (
	"slices"
)

// ListState is what an operator chose of a list: it is kept from one start to the
// next. Columns are named, so that it outlives a new column.
type ListState struct {
	Sort   string   `json:"sort,omitempty"` // column; "" = as it comes
	Down   bool     `json:"down,omitempty"`
	Hidden []string `json:"hidden,omitempty"`
	Shown  []string `json:"shown,omitempty"` // of those that are not unless asked for
	Wide   bool     `json:"wide,omitempty"`
}

// Plain reports whether nothing was chosen.
func (s ListState) Plain() bool {
	return s.Sort == "" && !s.Down && len(s.Hidden)+len(s.Shown) == 0 && !s.Wide
}

// Equal reports whether the same was chosen.
func (s ListState) Equal(other ListState) bool {
	return s.Sort == other.Sort && s.Down == other.Down && s.Wide == other.Wide && slices.Equal(s.Hidden, other.Hidden) && slices.Equal(s.Shown, other.Shown)
}

// Keeper is a page whose list is remembered.
type Keeper interface {
	State() ListState
	Restore(s ListState)
}
