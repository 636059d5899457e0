// Package crash names the instants at which a test may end the process.
package crash

import "sync/atomic"

var hook atomic.Pointer[func(name string)]

// Point marks an instant between two steps that a crash may separate. In production it does nothing.
func Point(name string) {
	if h := hook.Load(); h != nil {
		(*h)(name)
	}
}

// Arm makes every Point call f with its name, until disarm is called. For tests only.
func Arm(f func(name string)) (disarm func()) {
	hook.Store(&f)
	return func() { hook.Store(nil) }
}
