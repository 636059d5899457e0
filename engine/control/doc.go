// Package control is the Console of one process: Run supervises the engine's
// parts, Do has one function per command, Find one per query, and Watch is the
// hub's. A Browse console does the same on a data directory that no engine
// works on: everything can be read and nothing changed. The console has three methods and little state
// of its own, what [Control] tells in the engine's one row. What an operation does is told by
// engine/operation's table, what a query answers by finder.find; both kinds of console share the finder
// and differ in what [live] adds to its answers.
//
// Begin to read with run.go, how the parts start and stop, then find.go. What the package must not do:
// judge. Whether a job may run is the backend's answer, when it will be is engine/forecast's, and this
// package joins the two.
package control
