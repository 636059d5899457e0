// Package crash names the instants at which a test may end the process. A build that nobody arms pays one
// atomic load per instant, and has no switch by which it could be armed from outside.
package crash

import "sync/atomic"

var hook atomic.Pointer[func(name string)]

// Point marks an instant between two steps that a crash may separate. In production it does nothing.
// Names are literals and unique: a test reads them from the source and ends a process at each.
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

var faults atomic.Pointer[func(op string) error]

// Fault is what the disk answers to an operation before it is tried: nil, unless a test says otherwise.
// What it gives stands for the disk's own error, such as syscall.ENOSPC, and the operation is not carried
// out.
func Fault(op string) error {
	if f := faults.Load(); f != nil {
		return (*f)(op)
	}
	return nil
}

// ArmFaults makes every Fault ask f, until disarm is called. For tests only.
func ArmFaults(f func(op string) error) (disarm func()) {
	faults.Store(&f)
	return func() { faults.Store(nil) }
}
