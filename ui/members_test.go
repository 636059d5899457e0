package ui

import (
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// A stranger sees who leads and since when, who would take over, what each member does, what is wrong
// with one, and how the lead came to whom.
func TestStranger_WhoLeadsAndWhoWorks(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("V")
		d.wants("MEMBERS 4", "● leads        803-51aa", "803-51aa on db-worker-2 has led for 27 s, in term 12; 1", "member stands by; 1 call waits for a member to make it",
			"after 4711-9f3c fell silent; 4 s without a leader", "its clock is 3 s behind", "another API key: makes no calls", "no sign of life for 31 s", "31 s ago")
		d.press("j", "j")
		d.wants("never leads, and shows you this", "-3.2 s to the database's")
		d.press("/")
		d.text("role:gone")
		d.press("enter")
		d.wants("4711-9f3c")
		d.lacks("5120-07be  ")
		d.press("esc", "esc")
		d.wants("Overview")
	})
}

// Where one process works alone the screen says what makes members, and what is on it goes on.
func TestMembersOfOneProcess(t *testing.T) {
	s := uitest.Busy()
	s.Members = engine.MembersPage{}
	bubble(t, func(t *testing.T) {
		d := open(t, s, 120, 40, testOptions())
		d.press("V")
		d.wants("so there are no members: with --store", "several processes share a database", "LIMITS")
		if text := d.screen(); strings.Contains(text, "ROLE") {
			t.Errorf("it has a list:\n%s", text)
		}
	})
}
