package part

import (
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// None is what stands where there is no value.
const None = human.None

// Of writes progress: 134/879, and 134/? when the total is not known yet.
func Of(done, total int64) string {
	if total <= 0 {
		return human.Count(done) + "/?"
	}
	return human.Count(done) + "/" + human.Count(total)
}

// Clock writes an instant as briefly as now allows: 12:31:02 today, 20 Nov
// 23:41 this year, 01 Oct 2024 before. Both are shown in now's zone.
func Clock(at, now time.Time) string {
	if at.IsZero() {
		return None
	}
	at = at.In(now.Location())
	switch {
	case at.Year() != now.Year():
		return at.Format("02 Jan 2006")
	case at.YearDay() != now.YearDay():
		return at.Format("02 Jan 15:04")
	}
	return at.Format("15:04:05")
}
