package commit

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// fullDisk takes nothing before it has room, and knows what was written.
type fullDisk struct {
	room    bool
	kept    int // how often room can be made
	written []string
	group   []string
}

func (d *fullDisk) Try(fn func(engine.Tx) error) (bool, error) { return true, Call(fn, nil) }
func (d *fullDisk) Bytes() int                                 { return 0 }
func (d *fullDisk) Rollback()                                  {}

func (d *fullDisk) Commit() error {
	if !d.room {
		return errors.Join(disk.ErrDiskFull, syscall.ENOSPC)
	}
	d.written = append(d.written, d.group...)
	return nil
}

// A full disk makes room for a group that has an order, and writes its orders alone.
func TestB17d_OnlyOrdersMakeRoom(t *testing.T) {
	for _, c := range []struct {
		name    string
		kept    int
		ops     []string // in one group; those of an operator end with "!"
		written []string
	}{
		{"the engine's own", 1, []string{"outcome", "claim"}, nil},
		{"an order", 1, []string{"cancel!"}, []string{"cancel!"}},
		{"a group of both", 1, []string{"outcome", "cancel!", "claim", "pause!"}, []string{"cancel!", "pause!"}},
		{"nothing is kept", 0, []string{"outcome", "cancel!"}, nil},
		{"an order that was refused", 1, []string{"outcome", "refused!"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &fullDisk{kept: c.kept}
				w := New(func() (Group, error) { d.group = nil; return d, nil }, func(error) bool {
					d.kept--
					d.room = d.kept >= 0
					return d.room
				})
				answers := map[string]chan error{}
				for _, op := range c.ops {
					ctx, answer := context.Background(), make(chan error, 1)
					answers[op] = answer
					if op[len(op)-1] == '!' {
						ctx = engine.AsOrder(ctx)
					}
					go func() {
						answer <- w.Write(ctx, func(engine.Tx) error {
							if op == "refused!" {
								return engine.ErrRefused
							}
							d.group = append(d.group, op)
							return nil
						})
					}()
					synctest.Wait()
				}
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				go func() { _ = w.Serve(ctx, time.Hour, func() error { return nil }) }()
				for op, answer := range answers {
					err := <-answer
					want := disk.ErrDiskFull
					switch {
					case slices.Contains(c.written, op):
						want = nil
					case op == "refused!":
						want = engine.ErrRefused
					}
					if !errors.Is(err, want) {
						t.Errorf("%s: %v, not %v", op, err, want)
					}
				}
				if !slices.Equal(d.written, c.written) {
					t.Errorf("written: %q, not %q", d.written, c.written)
				}
			})
		})
	}
}
