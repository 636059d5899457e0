// Package control is the Console of one process: Run supervises the engine's
// parts, Do has one function per command, Find one per query, and Watch is the
// hub's. A Browse console does the same on a data directory that no engine
// works on: everything can be read and nothing changed.
package control
