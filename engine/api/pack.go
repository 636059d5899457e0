package api

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"

	"github.com/farsight-console/farsight/engine"
)

// A frozen selection names each of its jobs, so that a command on a hundred thousand
// of them is larger than a body may be; packed it fits. What it unpacks to is bounded
// as well.
const (
	packFrom    = 256 << 10 // bytes from which on a client packs
	maxUnpacked = 16 << 20
	packed      = "gzip"
)

// pack makes a large body smaller; isPacked is false when it is small.
func pack(raw []byte) (body []byte, isPacked bool, err error) {
	if len(raw) < packFrom {
		return raw, false, nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(raw)
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, false, err
	}
	return b.Bytes(), true, nil
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
