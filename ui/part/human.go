package part

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// None is what stands where there is no value.
const None = human.None

// Bytes writes a size: 1,204 B, 41 KB, 3.1 MB; a KB is 1,000 bytes.
func Bytes(n int64) string {
	v := float64(max(n, 0))
	switch {
	case v < 1e4:
		return human.Count(int64(v)) + " B"
	case v < 1e6:
		return strconv.Itoa(int(v/1e3)) + " KB"
	case v < 1e9:
		return fmt.Sprintf("%.1f MB", math.Floor(v/1e5)/10)
	}
	return fmt.Sprintf("%.1f GB", math.Floor(v/1e8)/10)
}

// Percent writes a share: 15 %. Only all is 100 %, only nothing 0 %.
func Percent(ratio float64) string {
	switch {
	case math.IsNaN(ratio):
		return None
	case ratio <= 0:
		return "0 %"
	case ratio < 0.01:
		return "<1 %"
	case ratio < 1:
		return strconv.Itoa(min(int(math.Round(ratio*100)), 99)) + " %"
	}
	return strconv.Itoa(int(math.Round(math.Min(ratio, 9.99)*100))) + " %"
}

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
