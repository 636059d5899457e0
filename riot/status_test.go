package riot

import (
	"context"
	"errors"

	"github.com/farsight-console/farsight/riot/route"
)

// Status asks lol-status for a platform: a call that costs nothing else.
func (c *Client) Status(ctx context.Context, p route.Platform) (id string, err error) {
	return get(ctx, c, request{host: string(p), method: route.Status, target: string(p)}, func(raw []byte) (string, error) {
		s, id := scanner{buf: raw}, ""
		s.members(member{"id", &id})
		return whole(id, s.end(), id != "", errors.New("names no platform"))
	})
}
