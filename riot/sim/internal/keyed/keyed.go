// Package keyed gives numbers that depend on a key alone: Start(seed).Str("match").Str(id). Everything that the
// simulator invents comes from one of these, so the order in which it was asked for changes nothing.
package keyed

import "math/bits"

// Hash is a keyed hash under construction.
type Hash uint64

// Start begins a hash.
func Start(seed uint64) Hash { return Hash(seed ^ 0x8f1bbcdc5a827999).Num(0x243f6a8885a308d3) }

// Num adds a number to the key.
func (h Hash) Num(n uint64) Hash { return Hash(Mix(uint64(h) ^ Mix(n+0x9e3779b97f4a7c15))) }

// Str adds a text to the key.
func (h Hash) Str(s string) Hash {
	v := uint64(14695981039346656037) // FNV-1a, then mixed: short strings, no collisions to fear
	for i := 0; i < len(s); i++ {
		v = (v ^ uint64(s[i])) * 1099511628211
	}
	return h.Num(v)
}

// Below is a number in [0, n).
func (h Hash) Below(n int) int {
	hi, _ := bits.Mul64(Mix(uint64(h)), uint64(n))
	return int(hi)
}

// Unit is a number in [0, 1).
func (h Hash) Unit() float64 { return float64(Mix(uint64(h))>>11) / (1 << 53) }

// Stream is a generator of its own for one thing that needs many numbers.
func (h Hash) Stream() *Stream { return &Stream{Mix(uint64(h))} }

// Mix is the finalizer of SplitMix64.
func Mix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// Stream is SplitMix64, seeded by one keyed hash and used for one thing only.
type Stream struct{ s uint64 }

// Next is the next number, over all 64 bits.
func (r *Stream) Next() uint64 {
	r.s += 0x9e3779b97f4a7c15
	return Mix(r.s)
}

// Below is a number in [0, n).
func (r *Stream) Below(n int) int {
	hi, _ := bits.Mul64(r.Next(), uint64(n))
	return int(hi)
}

// Between is a number in [lo, hi], evenly.
func (r *Stream) Between(lo, hi int) int { return lo + r.Below(hi-lo+1) }

// Low is a number in [lo, hi], small ones more often: most counts of a game are.
func (r *Stream) Low(lo, hi int) int {
	u := r.Unit()
	return lo + int(u*u*float64(hi-lo)+0.5)
}

// Unit is a number in [0, 1).
func (r *Stream) Unit() float64 { return float64(r.Next()>>11) / (1 << 53) }

// Chance is true in percent of the cases.
func (r *Stream) Chance(percent int) bool { return r.Below(100) < percent }
