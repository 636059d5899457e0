package api

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/farsight-console/farsight/engine"
)

// Parameters that several routes have.
var (
	paramAfter    = Param{"after", "cursor: goes on behind it"}
	paramLimit    = Param{"limit", fmt.Sprintf("rows, 1 to %d; %d unless told", engine.LargestPage, engine.UsualPage)}
	paramPlatform = Param{"platform", "of the account, such as euw1"}
	paramIfRev    = Param{"if_rev", "revision of the job that was seen; another one is refused"}
	paramFilter   = Param{"filter", "in the filter language of `farsight help filter`; it may leave a page short, or empty with a next"}
	paramReason   = Param{"reason", "for the audit"}
)

// readInto reads a body that may be left out.
func readInto(r *Request, into any) error {
	if len(r.Body) == 0 {
		return nil
	}
	if err := strict(r.Body, into); err != nil {
		return unreadable("request", err)
	}
	return nil
}

// number reads a parameter that is a whole number from least to most; 0 where it is left out. fault says
// what is wrong with the text that stands there instead.
func number(r *Request, name string, least, most int, do, fault string) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, engine.Problemf(engine.ErrInvalid, do, fault, text)
	}
	return n, nil
}

// States of an engine that is ill, so that to start it again may help, and of one that cannot work now.
var (
	ill     = []engine.EngineState{engine.EngineBroken}
	unready = append(ill, engine.EngineOpening, engine.EngineStopping, engine.EngineNoKey)
)

// A frozen selection names each of its jobs, so that a command on a hundred thousand
// of them is larger than a body may be; packed it fits. What it unpacks to is bounded
// as well.
const (
	packFrom    = 256 << 10 // bytes from which on a client packs
	maxUnpacked = 16 << 20
	packed      = "gzip"
)

// pack is a body as gzip.
func pack(raw []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(raw) // a buffer takes all
	_ = z.Close()
	return b.Bytes()
}

// unpack reads a body of an encoding; "" = as it is. One byte more than the bound is read, to tell a
// body that has its size from one that is cut.
func unpack(r io.Reader, enc string) ([]byte, error) {
	switch enc {
	case "", "identity":
		return io.ReadAll(r)
	case packed:
	default:
		return nil, faultf(http.StatusUnsupportedMediaType, engine.ErrInvalid, "use gzip, or none",
			"the body's encoding is %q", enc)
	}
	// r is bounded by what may come over the wire, which says nothing of what it unpacks to.
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, engine.Problemf(engine.ErrInvalid, "", "the body is no gzip")
	}
	body, err := io.ReadAll(io.LimitReader(z, maxUnpacked+1))
	if err == nil && len(body) > maxUnpacked {
		return nil, faultf(http.StatusRequestEntityTooLarge, engine.ErrInvalid, "send it in parts",
			"the body unpacks to more than %d bytes", maxUnpacked)
	}
	return body, err
}
