// Package pg is the store on PostgreSQL, for engines that outgrow one machine: it keeps what
// package storage keeps in a directory, behind the same interfaces.
//
// # Transactions
//
// A write is one transaction at READ COMMITTED in which every row that is read is locked: who
// decides by a row decides by what it will be until the commit. When the database cannot go on
// with two of them at once it ends one, which runs again. What needs no answer is not sent by
// itself: it goes with the next question, or before the commit, so that a move of a job is four
// round trips and not twelve.
//
// The first error of the database in a transaction is kept, and Write returns it whatever the
// function says that was given to it. What the domain must expect, such as a key that is taken,
// is therefore asked for and never tried.
//
// Each leaves a token in the same transaction, so that one whose commit was not answered is known
// to be committed or not as soon as the database can be asked. A question whose connection is lost
// before its first answer is asked again.
//
// # Who works on it
//
// Anybody may read. An engine holds the schema: a lock of a session of its own, which the server
// frees with the session.
//
// # Rows
//
// A table is declared once, beside what reads and writes it, by its key and a struct: a column for
// each field, which are named where their names differ. The statements follow from it, and how a
// value stands in its column from the value's type, for both ways.
package pg
