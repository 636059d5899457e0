// Package charts draws time: the axis that the charts of a screen share, what was called and will be,
// a job's tries, the hours of a week. It also says in words why a job waits and when it goes, since
// words and charts are of the same numbers.
package charts
