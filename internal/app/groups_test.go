package app

import (
	"slices"
	"testing"
)

// Every command that is shown stands in one group, and the groups name no other.
func TestHelpGroupsHoldEveryCommand(t *testing.T) {
	root := newRoot()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var named, shown []string
	for _, g := range groups {
		named = append(named, g.commands...)
	}
	for _, c := range root.Commands() {
		if !c.Hidden {
			shown = append(shown, c.Name())
		}
	}
	slices.Sort(named)
	slices.Sort(shown)
	if !slices.Equal(named, shown) {
		t.Errorf("the groups hold %q\nthe commands are %q", named, shown)
	}
}
