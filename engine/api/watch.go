package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// silence is how long a stream may say nothing, not even a beat, before its engine
// counts as gone: it hangs, or its machine sleeps.
const silence = 3 * defaultBeat

// Watch implements engine.Console: it ends when the connection does, and whoever
// watches connects anew by watching again. Frames are read as they come and merged
// until they are taken, so that a slow screen shows the present. Notes of actions
// that were made through this client are left out: their receipts have told.
func (c *Client) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		for gap := false; ; gap = true {
			if again := c.watchOnce(ctx, gap, yield); !again {
				return
			}
		}
	}
}

// watchOnce reads one stream. again is true when the reader fell so far behind that
// it is better served by a new one, which begins with a snapshot. It returns when the goroutine that
// reads has ended: the body is closed first, on which that one waits.
func (c *Client) watchOnce(ctx context.Context, gap bool, yield func(engine.Update) bool) (again bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := c.request(ctx, http.MethodGet, "/v1/watch", nil)
	if err != nil {
		return false
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return false
	}
	var reading sync.WaitGroup
	defer reading.Wait()
	defer resp.Body.Close()
	defer cancel()
	if resp.StatusCode != http.StatusOK {
		return false
	}
	// The stream is read as it comes, whatever yield takes: an engine cuts readers off that do not read.
	b := newBox()
	// What lay between the two streams is lost: the first update says so.
	b.rows.Add(engine.Update{Gap: gap})
	reading.Go(func() { b.close(c.read(resp.Body, cancel, b)) })
	for {
		u, err := b.next(ctx)
		if err != nil {
			return errors.Is(err, errBehind)
		}
		if !yield(u) {
			return false
		}
	}
}

// errOrder says that frames are missing: the stream cannot be trusted.
var errOrder = errors.New("frames are missing")

// read takes frames in until the stream ends, falls silent or gets out of order. A number that is
// missing means that something between the two has cut the stream and sewn it up again.
func (c *Client) read(body io.Reader, cancel func(), b *box) error {
	// The stream beats every defaultBeat, so that three in a row are missing.
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	lines := bufio.NewReaderSize(body, 64<<10)
	for n := uint64(1); ; n++ {
		raw, err := line(lines)
		if err != nil {
			return err
		}
		quiet.Reset(silence)
		var f frame
		if err := json.Unmarshal(raw, &f); err != nil {
			return err
		}
		if f.N != n {
			return fmt.Errorf("%w: %d came after %d", errOrder, f.N, n-1)
		}
		if err := c.takeFrame(f, b); err != nil {
			return err
		}
	}
}

// takeFrame takes one frame in. An engine that was replaced by one of another protocol is found out by
// its hello.
func (c *Client) takeFrame(f frame, b *box) error {
	if f.Hello != nil {
		if f.Hello.Protocol != Protocol {
			return fmt.Errorf("protocol %d", f.Hello.Protocol)
		}
		c.you.Store(&f.Hello.You)
	}
	if f.Update == nil {
		return nil
	}
	if you := c.you.Load(); you != nil {
		f.Update.Notes = without(f.Update.Notes, *you)
	}
	return b.merge(*f.Update)
}

// without leaves out the notes of one's own commands.
func without(notes []engine.Note, by engine.Actor) []engine.Note {
	var kept []engine.Note
	for _, n := range notes {
		if n.By != by {
			kept = append(kept, n)
		}
	}
	return kept
}

// line reads one line, of bounded length. The slice is the reader's until the next line: whoever keeps
// it copies it.
func line(r *bufio.Reader) ([]byte, error) {
	var all []byte
	for {
		part, err := r.ReadSlice('\n')
		switch {
		case err == nil && all == nil:
			return part, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(all)+len(part) > maxAnswer:
			return nil, errors.New("a frame is too long")
		}
		all = append(all, part...)
		if err == nil {
			return all, nil
		}
	}
}
