// Package lists is the kit of lists: a pane with a cursor, a table that can be filtered, sorted,
// marked and narrowed to some columns, and a screen that is one list, declared over a catalogue of
// columns.
package lists
