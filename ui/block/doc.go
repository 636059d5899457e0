// Package block draws what several screens show: the limits of a host, the end of the log, groups
// of jobs, counters, what an account has played, and the foot of a large screen.
//
// A block takes a view, a width and often a height, and gives painted rows or a section. It knows
// rows of the engine and the parts, and no screen.
package block
