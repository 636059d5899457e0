package ingest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// answering puts an answer of its own in the place of the simulator's, where it has one.
type answering struct {
	next http.RoundTripper
	lie  func(*http.Request) (status int, body string) // 0 = the simulator answers
}

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) {
	status, body := a.lie(req)
	if status == 0 {
		return a.next.RoundTrip(req)
	}
	return &http.Response{StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: req}, nil
}

func TestB9d_OnePageThatCannotBeDecryptedEndsNoSync(t *testing.T) {
	for name, at := range map[string]string{"first page": "start=0", "second page": "start=100"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s, lies := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 130)}}), 0
				r := start(t, s, func(set *setup) {
					set.transport = answering{s.RoundTripper(), func(req *http.Request) (int, string) {
						page := strings.HasSuffix(req.URL.Path, "/ids") &&
							(strings.Contains(req.URL.RawQuery, at) || at == "start=0" && !strings.Contains(req.URL.RawQuery, "start="))
						if lies == 1 || !page {
							return 0, ""
						}
						lies++
						return 400, `{"status":{"message":"Bad Request - Exception decrypting","status_code":400}}`
					}}
				})
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				row := r.settle("Ana#EUW", time.Hour)
				if row.Result != "completed" || row.Matches.Stored != 130 || lies != 1 {
					t.Errorf("after %d lies: %+v", lies, row)
				}
				if n := r.calls(route.AccountByRiotID) + r.calls(route.AccountByPUUID); n != 1 {
					t.Errorf("resolved with %d calls", n)
				}
			})
		})
	}
}
