package app

import (
	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine/operation"
)

// group is a part of the list of commands: what somebody looks for together.
type group struct {
	title    string
	commands []string
}

// groups is the order of `farsight --help`. A test holds it against the tree.
var groups = []group{
	{"Start", []string{"demo", "sync", "serve", "attach", "sim"}},
	{"Accounts", []string{"track", "untrack", "trigger", "freshness", "reresolve"}},
	{"See", []string{"status", "queues", "jobs", "retries", "accounts", "matches", "limits", "members", "reports", "weekly", "ranks", "schedules"}},
	{"Find out why", []string{"alerts", "logs", "audit", "forensics", "metrics", "joblog", "doctor", "bundle"}},
	{"Act", append(tableCommands(), "freeze", "undo", "silence", "pager", "call")},
	{"Data", []string{"export", "check", "backup", "restore", "compact", "migrate", "prune", "forget", "reset"}},
	{"Setup", []string{"config", "version", "completion", "help"}},
}

// tableCommands are the commands that are made from the table of operations.
func tableCommands() (names []string) {
	for _, o := range operation.Commands() {
		names = append(names, string(o.Op))
	}
	return names
}

// arrange puts the commands of root into their groups. Cobra makes completion and
// help by itself, when it runs.
func arrange(root *cobra.Command) {
	of := map[string]string{}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, name := range g.commands {
			of[name] = g.title
		}
	}
	for _, c := range root.Commands() {
		c.GroupID = of[c.Name()]
	}
	root.SetCompletionCommandGroupID(of["completion"])
	root.SetHelpCommandGroupID(of["help"])
}
