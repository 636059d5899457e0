package page

import (
	"slices"

	"github.com/farsight-console/farsight/engine"
)

// HostsOf are the hosts that have windows, in their own order.
func HostsOf(v *View) (out []string) {
	for i := range v.Limits.Breakers {
		if host := v.Limits.Breakers[i].Host; !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	for i := range v.Limits.Buckets {
		if host := v.Limits.Buckets[i].Host; !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	return out
}

// OneHost reports whether the key is used on at most one host. Its name is left out of texts then:
// there is nothing to tell it from.
func OneHost(v *View) bool { return len(HostsOf(v)) <= 1 }

// KindBreaker is of rows that are no window: an endpoint that is down.
const KindBreaker = "breaker"

// LimitsOf are all that limits calls: what is down, then the windows.
func LimitsOf(v *View) []engine.BucketRow {
	rows := make([]engine.BucketRow, 0, len(v.Limits.Breakers)+len(v.Limits.Buckets))
	for _, b := range v.Limits.Breakers {
		rows = append(rows, engine.BucketRow{Host: b.Host, Method: b.Method, Kind: KindBreaker, Waiting: b.Waiting, NextFree: b.Next, Server: -1})
	}
	return append(rows, v.Limits.Buckets...)
}

// hasHost reports whether windows of a host are known.
func hasHost(v *View, host string) bool {
	for _, b := range v.Limits.Buckets {
		if b.Host == host {
			return true
		}
	}
	return false
}
