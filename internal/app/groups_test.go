package app

import (
	"slices"
	"testing"
)

// Every command that is shown stands in one group of `farsight --help`, and every group has commands.
func TestHelpGroupsHoldEveryCommand(t *testing.T) {
	root := newRoot()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	empty := slices.Clone(groups)
	for _, c := range root.Commands() {
		if !c.Hidden && !slices.Contains(groups, c.GroupID) {
			t.Errorf("%s is in no group: %q", c.Name(), c.GroupID)
		}
		empty = slices.DeleteFunc(empty, func(title string) bool { return title == c.GroupID })
	}
	if len(empty) > 0 {
		t.Errorf("nothing is in the groups %q", empty)
	}
}
