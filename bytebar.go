package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/farsight-console/farsight/storage"
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

const (
	barCells = 24
	barEvery = 200 * time.Millisecond
)

func newByteBar(out cli.Out, what string) *byteBar {
	b := &byteBar{what: what, ascii: out.ASCII, began: time.Now()}
	if !out.JSON && term.IsTerminal(int(os.Stderr.Fd())) {
		b.w = os.Stderr
	}
	return b
}

func (b *byteBar) show(done, total int64) {
	b.line(done, total, fmt.Sprintf("%s of %s", mib(done), mib(total)))
}

func (b *byteBar) archive(p storage.ArchiveProgress) {
	if p.Done == 0 || b.what != p.Month {
		b.what, b.began = p.Month, time.Now() // each month has its own bar and its own pace
	}
	b.line(int64(p.Done), int64(p.Total), fmt.Sprintf("%d of %d payloads, %s -> %s", p.Done, p.Total, mib(p.Before), mib(p.After)))
}

func (b *byteBar) line(done, total int64, text string) {
	if b.w == nil || total <= 0 || done < total && time.Since(b.drawn) < barEvery {
		return
	}
	b.drawn = time.Now()
	full, empty := "█", "░"
	if b.ascii {
		full, empty = "#", "."
	}
	n := int(barCells * done / total)
	_, _ = fmt.Fprintf(b.w, "\r\x1b[K%s %s%s %s%s", b.what, strings.Repeat(full, n), strings.Repeat(empty, barCells-n), text, b.left(done, total))
}

// left says how long it will go on at the pace so far, once there is one.
func (b *byteBar) left(done, total int64) string {
	spent := time.Since(b.began)
	if done <= 0 || done >= total || spent < time.Second {
		return ""
	}
	return ", " + ageOf(time.Duration(float64(spent)*float64(total-done)/float64(done))) + " left"
}

// end clears the line.
func (b *byteBar) end() {
	if b.w != nil && !b.drawn.IsZero() {
		_, _ = fmt.Fprint(b.w, "\r\x1b[K")
	}
}
