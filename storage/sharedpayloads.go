package storage

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// payloadStore is where payloads are: in files of the directory, or where all have them who share the store. What each does is
// said at payload.Store's.
type payloadStore interface {
	Put(ctx context.Context, match string, p league.Part, ref league.PayloadRef, body []byte) error
	Get(match string, p league.Part, ref league.PayloadRef) ([]byte, error)
	Raw(match string, p league.Part, ref league.PayloadRef) ([]byte, error)
	Find(ctx context.Context, match string, p league.Part) (ref league.PayloadRef, body []byte, ok bool, err error)
	Spoilt(match string) bool
	Months() ([]string, error)
	Weigh(month string) (bytes int64, err error)
	Drop(month string) error
	Erase(matches []string) (left []string, err error)
}

// Payload is what Riot answered, as it arrived, with whose it is.
type Payload struct {
	Match string
	Part  league.Part
	league.PayloadRef
	Body []byte
}

// carried are the payloads of a shared store. They are written and deleted at once, within the term, and not by the log: a
// payload that no state names costs room and no correctness.
type carried struct {
	*share
	doomed  *payload.Doomed
	written *disk.WriteTimes
	spoilt  sync.Map // matches of which somebody found one damaged, and nobody has put it anew
}

func (c *carried) Put(ctx context.Context, match string, p league.Part, ref league.PayloadRef, body []byte) error {
	if len(body) != ref.Size {
		return fmt.Errorf("%s of %s: %d bytes, its reference says %d: %w", p, match, len(body), ref.Size, engine.ErrInvalid)
	}
	r, err := c.leads()
	if err != nil {
		return err
	}
	defer c.doomed.Spare(match)()
	defer c.written.Add(time.Now())
	c.spoilt.Delete(match)
	return c.PutPayload(ctx, r.term, Payload{Match: match, Part: p, PayloadRef: ref, Body: body})
}

// Get proves a payload, and gives its JSON.
func (c *carried) Get(match string, p league.Part, ref league.PayloadRef) ([]byte, error) {
	return c.Raw(match, p, ref)
}

func (c *carried) Raw(match string, p league.Part, ref league.PayloadRef) (raw []byte, err error) {
	if ref.Dropped() {
		return nil, disk.ErrDropped
	}
	found, ok, err := c.Payload(context.Background(), match, p)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, engine.ErrNotFound
	}
	if raw, err = inJSON(ref, found); err != nil {
		c.spoilt.Store(match, true)
		return nil, &disk.ErrCorrupt{Bucket: payload.Dir, Key: []byte(match + "/" + string(p)), Err: err}
	}
	return raw, nil
}

// inJSON unpacks a payload, and proves that it is what a reference names.
func inJSON(ref league.PayloadRef, p Payload) ([]byte, error) {
	raw, err := payload.Raw(p.PayloadRef, p.Body, payload.Unknown)
	if err == nil {
		err = payload.Prove(ref, raw)
	}
	return raw, err
}

func (c *carried) Find(ctx context.Context, match string, p league.Part) (ref league.PayloadRef, body []byte, ok bool, err error) {
	if c.doomed.Has(match) {
		return ref, nil, false, nil
	}
	found, ok, err := c.Payload(ctx, match, p)
	return found.PayloadRef, found.Body, ok, err
}

func (c *carried) Spoilt(match string) bool {
	_, is := c.spoilt.Load(match)
	return is
}

func (c *carried) Months() (all []string, err error) {
	by, err := c.ByMonth(context.Background())
	for _, m := range by {
		all = append(all, m.Month)
	}
	return all, err
}

func (c *carried) Weigh(month string) (int64, error) {
	return c.MonthBytes(context.Background(), month)
}

// Drop and Erase delete within the term alone: what one has decided on who leads no more may be wanted again.
func (c *carried) Drop(month string) error {
	r, err := c.leads()
	if err == nil {
		err = c.DropPayloads(r.over, r.term, month)
	}
	return err
}

func (c *carried) Erase(matches []string) (left []string, err error) {
	r, err := c.leads()
	if err != nil {
		return nil, err
	}
	matches, release := c.doomed.Of(matches)
	defer release()
	return nil, c.ErasePayloads(r.over, r.term, matches)
}

// MonthSize is how many payloads a month has, and their bytes.
type MonthSize struct {
	Month    string
	Payloads int
	Bytes    int64
}
