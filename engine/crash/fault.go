package crash

import "sync/atomic"

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
