package api

import (
	"context"
	"net/http"
	"time"
)

// defaultBeat is how often a silent stream says that the engine lives.
const defaultBeat = 10 * time.Second

// goodbye is how long a WebSocket's client may take to read what is on its way when the
// engine stops, and again to answer that it does. [Server.Serve] waits for both.
const goodbye = time.Second

// endKey leads to the context that ends when the server shall stop: requests under
// way go on, streams end.
type endKey struct{}

// untilEnd is a request's context that ends with the server, too: requests under way
// may finish, streams may not.
func untilEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	end, ok := ctx.Value(endKey{}).(context.Context)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(end, cancel)
	return ctx, func() { stop(); cancel() }
}

// passOn asks a proxy not to hold a stream back: nginx does as this header says.
func passOn(w http.ResponseWriter) { w.Header().Set("X-Accel-Buffering", "no") }
