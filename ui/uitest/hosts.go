package uitest

import (
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// hostNames are what Busy calls, and what an engine of several regions calls besides.
var hostNames = []string{"asia", "kr", "europe", "euw1", "americas", "na1"}

// Hosts is Busy with limits of so many hosts, 1 to 6.
func Hosts(n int) Scene {
	s := Busy()
	s.Name = fmt.Sprintf("hosts%d", n)
	limits := *s.Update.Limits
	known := func(host string) bool { return slices.Contains(hostNames[:n], host) }
	limits.Hosts = slices.DeleteFunc(slices.Clone(limits.Hosts), func(h engine.LimitHost) bool { return !known(h.Host) })
	limits.Buckets = slices.DeleteFunc(slices.Clone(limits.Buckets), func(b engine.BucketRow) bool { return !known(b.Host) })
	for i, host := range hostNames[:n] {
		if i < 3 { // Busy has them
			continue
		}
		limits.Hosts = append(limits.Hosts, engine.LimitHost{Host: host, Learnt: at(time.Duration(i) * 7 * time.Minute)})
		limits.Buckets = append(limits.Buckets,
			bucket(host, "", "app", time.Second, i, 20, 600*time.Millisecond),
			bucket(host, "", "app", 2*time.Minute, 12*i, 100, time.Duration(19*i)*time.Second),
			bucket(host, "league-v4.entries", "method", time.Minute, 7*i, 270, time.Duration(8*i)*time.Second))
	}
	s.Update.Limits = &limits
	Foresee(&s.Update)
	return s
}
