// Package charts draws time: the axis that the charts of a screen share, the calls that were made
// and those that will be, the tries of a job, the hours of a week.
//
// It also says in words why a job waits and when it goes: words and charts are made of the same
// numbers here, so that they cannot differ.
package charts
