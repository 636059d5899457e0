package rec

import "time"

// Shape is how one kind of value is written.
type Shape[T any] struct {
	Format byte
	Fields func(c *Coder, v *T) // in their order
}

// The shapes that many tables have.
var (
	Numbers  = Shape[uint64]{Number, func(c *Coder, n *uint64) { c.Uint(n) }}
	Texts    = Shape[string]{Text, func(c *Coder, s *string) { c.Str(s) }}
	Instants = Shape[time.Time]{Time, func(c *Coder, at *time.Time) { c.Time(at) }}
	Blobs    = Shape[[]byte]{Blob, func(c *Coder, b *[]byte) { c.Bytes(b) }}
)
