package api

import (
	"encoding/base64"
	"net/http"

	"github.com/farsight-console/farsight/engine"
)

// webSocketVersion is the only one there is (RFC 6455).
const webSocketVersion = "13"

// handshake says what is wrong with the request for a WebSocket, as a problem and with
// the headers that RFC 6455 wants beside it: the library would answer in plain text.
func handshake(w http.ResponseWriter, r *Request) error {
	const do = "let a WebSocket library make the request, or ask without Upgrade for server-sent events"
	switch key, err := base64.StdEncoding.DecodeString(r.Header.Get("Sec-WebSocket-Key")); {
	case !r.ProtoAtLeast(1, 1) || !hasToken(r.Header["Connection"], "upgrade"):
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		return faultf(http.StatusUpgradeRequired, engine.ErrInvalid, do, "the request has no Connection: Upgrade")
	case r.Header.Get("Sec-WebSocket-Version") != webSocketVersion:
		w.Header().Set("Sec-WebSocket-Version", webSocketVersion)
		return engine.Problemf(engine.ErrInvalid, do, "the WebSocket's version is %q, not %s",
			short(r.Header.Get("Sec-WebSocket-Version")), webSocketVersion)
	case err != nil || len(key) != 16:
		return engine.Problemf(engine.ErrInvalid, do, "Sec-WebSocket-Key holds no 16 bytes")
	}
	return nil
}
