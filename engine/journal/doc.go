// Package journal keeps the newest records of the engine's log where a console
// can page through them: a ring in memory, fed with the very lines that go into
// the file, and the end of that file for whoever looks without an engine.
//
// It is given lines without keys and never sees one; text is as it was logged,
// and cleaned at the exits.
//
// A [Ring] is what an engine has, and many goroutines write it; a [Tail] reads a file for one. Both are
// bounded, whatever is logged: old records fall out, and one record is cut by [Decode].
package journal
