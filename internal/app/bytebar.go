package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/storage/keep"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/cli"
)

// byteBar shows on a terminal how far a long file operation is, and when it
// ends. Elsewhere, and with --json, it shows nothing.
type byteBar struct {
	w     io.Writer
	what  string
	ascii bool
	began time.Time
	drawn time.Time
}

// Cells of the bar, and the pause between two drawings: faster is not seen, and over a slow line it
// would be what the operation waits for.
const (
	barCells = 24
	barEvery = 200 * time.Millisecond
)

// newByteBar is a bar on standard error, so that standard output has the report alone. what names the
// operation in front of it.
func newByteBar(out cli.Out, what string) *byteBar {
	b := &byteBar{what: what, ascii: out.ASCII, began: time.Now()}
	if !out.JSON && term.IsTerminal(int(os.Stderr.Fd())) {
		b.w = os.Stderr
	}
	return b
}

// show draws how many bytes of how many are done: "backup ████░░░ 1.2 GB of 4.0 GB, 30s left".
func (b *byteBar) show(done, total int64) {
	b.line(done, total, fmt.Sprintf("%s of %s", human.Bytes(done), human.Bytes(total)))
}

// step shows one step of several, each with a bar of its own, by what it goes through.
func (b *byteBar) step(what string, done, total int64) {
	if b.what != what {
		b.what, b.began = what, time.Now()
	}
	b.line(done, total, fmt.Sprintf("%d of %d", done, total))
}

// archive draws how far the month is that is being packed.
func (b *byteBar) archive(p keep.ArchiveProgress) {
	if p.Done == 0 || b.what != p.Month {
		b.what, b.began = p.Month, time.Now() // each month has its own bar and its own pace
	}
	b.line(int64(p.Done), int64(p.Total), fmt.Sprintf("%d of %d payloads, %s -> %s", p.Done, p.Total, human.Bytes(p.Before), human.Bytes(p.After)))
}

// line draws the bar anew over the one before it. The last step is always drawn, whatever the pause, or
// the bar would end at 97 %.
func (b *byteBar) line(done, total int64, text string) {
	if b.w == nil || total <= 0 || done < total && time.Since(b.drawn) < barEvery {
		return
	}
	b.drawn = time.Now()
	bar := themes.GlyphsOf(b.ascii).Bar(int(barCells*done/total), barCells)
	// How long it will go on at the pace so far; that of the first second says too little.
	if spent := time.Since(b.began); 0 < done && done < total && spent >= time.Second {
		text += ", " + human.Age(time.Duration(float64(spent)*float64(total-done)/float64(done))) + " left"
	}
	_, _ = fmt.Fprintf(b.w, "\r\x1b[K%s %s %s", b.what, bar, text)
}

// follow shows how far the engine is with the backup that this process is about to ask
// it for, until arrived is called. Where nobody sees a bar nothing is asked.
func (b *byteBar) follow(ctx context.Context, c *api.Client) (arrived func()) {
	if b.w == nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		for {
			if !await.Pause(ctx, barEvery) {
				b.end()
				return
			}
			// Of the engine's clock: the bar may have been asked for later than the backup began.
			for _, run := range found[engine.UpkeepAnswer](ctx, c, engine.UpkeepQuery{}).Running {
				if c.Is(run.By) {
					b.began = run.Began
					b.show(run.Done, run.Total)
					break
				}
			}
		}
	})
	return func() {
		stop()
		following.Wait()
	}
}

// end clears the line.
func (b *byteBar) end() {
	if b.w != nil && !b.drawn.IsZero() {
		_, _ = fmt.Fprint(b.w, "\r\x1b[K")
	}
}
