// Package part draws the pieces of the console: data + size + theme in,
// painted rows out. It knows nothing of jobs, accounts or limits.
//
// The law of this package: a function that is given a width returns rows of
// exactly that many cells, one given a height exactly that many rows, at any
// size, zero and negative included (no rows then). A row holds no control
// byte but SGR, begins and ends in plain text, and is 7-bit where the theme's
// glyphs are. Text handed in may be dirty: each part cleans what it draws.
//
// Rows are built with plain byte appends (Line); Frame joins them.
package part
