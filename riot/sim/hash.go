package sim

import "math/bits"

// hash is a keyed hash under construction: start(seed).str("match").str(id). Everything that the
// simulator invents comes from one of these, so it depends on its key alone and never on the order in
// which it was asked for.
type hash uint64

func start(seed uint64) hash { return hash(seed ^ 0x8f1bbcdc5a827999).num(0x243f6a8885a308d3) }

func (h hash) num(n uint64) hash { return hash(mix(uint64(h) ^ mix(n+0x9e3779b97f4a7c15))) }

func (h hash) str(s string) hash {
	v := uint64(14695981039346656037) // FNV-1a, then mixed: short strings, no collisions to fear
	for i := 0; i < len(s); i++ {
		v = (v ^ uint64(s[i])) * 1099511628211
	}
	return h.num(v)
}

// below is a number in [0, n).
func (h hash) below(n int) int {
	hi, _ := bits.Mul64(mix(uint64(h)), uint64(n))
	return int(hi)
}

// unit is a number in [0, 1).
func (h hash) unit() float64 { return float64(mix(uint64(h))>>11) / (1 << 53) }

// stream is a generator of its own for one thing that needs many numbers.
func (h hash) stream() *rng { return &rng{mix(uint64(h))} }

// mix is the finalizer of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// rng is SplitMix64, seeded by one keyed hash and used for one thing only.
type rng struct{ s uint64 }

func (r *rng) next() uint64 {
	r.s += 0x9e3779b97f4a7c15
	return mix(r.s)
}

func (r *rng) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// between is a number in [lo, hi], evenly.
func (r *rng) between(lo, hi int) int { return lo + r.below(hi-lo+1) }

// low is a number in [lo, hi], small ones more often: most counts of a game are.
func (r *rng) low(lo, hi int) int {
	u := r.unit()
	return lo + int(u*u*float64(hi-lo)+0.5)
}

func (r *rng) unit() float64 { return float64(r.next()>>11) / (1 << 53) }

func (r *rng) chance(percent int) bool { return r.below(100) < percent }
