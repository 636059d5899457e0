package columns

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// When says a cron expression in words where they are simpler: "each day at 03:00".
func When(expr string) string { return cmp.Or(cronWords(expr), expr) }

// cronDays are the days of the week as cron counts them; 7 is Sunday again.
var cronDays = [8]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// cronWords says the usual cron expressions in words: "each day at 03:00". It is
// "" for those that are no simpler in words.
// A cron expression has five fields: minute, hour, day of the month, month, day of the week, such
// as "0 3 * * *". Days of the month and months are never told in words.
func cronWords(expr string) string {
	if every, ok := strings.CutPrefix(expr, "@every "); ok {
		return "every " + every
	}
	f := strings.Fields(expr)
	if len(f) != 5 || f[2] != "*" || f[3] != "*" {
		return ""
	}
	minute, atMinute := cronNumber(f[0], 59)
	hour, atHour := cronNumber(f[1], 23)
	day, onDay := cronNumber(f[4], 7)
	every, stepped := strings.CutPrefix(f[1], "*/")
	switch clock := fmt.Sprintf("%02d:%02d", hour, minute); {
	// A list or a range of days is no simpler in words.
	case f[4] != "*" && !(onDay && atMinute && atHour):
		return ""
	case onDay:
		return "each " + cronDays[day] + " at " + clock
	case atMinute && atHour:
		return "each day at " + clock
	case atMinute && (f[1] == "*" || every == "1"):
		return "each hour at " + clock[2:]
	case atMinute && stepped:
		return "every " + every + " hours at " + clock[2:]
	case f[1] == "*" && strings.HasPrefix(f[0], "*/"):
		return "every " + f[0][len("*/"):] + " minutes"
	}
	return ""
}

// cronNumber reads one number of a cron expression, at most most.
// A star, a list or a step is no number.
func cronNumber(text string, most int) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n <= most
}
