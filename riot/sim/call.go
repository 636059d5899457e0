package sim

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/world"
)

// call is one request on its way through the simulator, with what the log will tell of it.
type call struct {
	Call
	verb   string // GET
	key    string // the API key
	params map[string]string
	query  url.Values
	gzip   bool   // the client takes gzip
	start  string // of a page of ids
	thing  string // what is asked for: method, id and page. Attempts are counted per thing

	project *world.Project
	who     world.Person                          // of the PUUID parameter
	known   bool                                  // the PUUID belongs to the key's project
	list    func(idQuery, []*world.Game) []string // what a fault makes of a page of ids; nil: the page that was asked for
	limits  [2]string                             // what a fault makes of the headers of limits, in the order of scopes
	refused bool                                  // by a limit
	kind    Kind                                  // of the fault that struck
}

// scopes are those whose windows count c: the key's on the host, then the method's there.
func (c *call) scopes() [2]scope { return [2]scope{{c.key, c.Host, ""}, {c.key, c.Host, c.Method}} }

// newCall finds out which host and method a request means: by the Host header
// ({routing}.api.riotgames.com) or by the first segment of the path (/{routing}/riot/…).
func newCall(r *http.Request, host string) *call {
	c := &call{verb: r.Method, key: r.Header.Get("X-Riot-Token")}
	c.gzip = strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
	path := r.URL.EscapedPath()
	// "europe.api.riotgames.com", of a client whose connections lead here.
	label, _, dotted := strings.Cut(host, ".api.")
	if dotted && route.Serves(label) {
		c.Host = label
	} else {
		// "/europe/lol/match/v5/…", of a client that was given an address of ours.
		first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		c.Host, path = first, "/"+rest
	}
	// What can be read of a broken query counts.
	c.query = r.URL.Query()
	if method, params, ok := route.Recognise(path); ok && serves(c.Host, method) {
		c.Method, c.params = method, params
	}
	return c
}

// serves reports whether a host has a method at all; elsewhere the path is unknown there.
func serves(host string, m route.Method) bool {
	if !route.Serves(host) {
		return false
	}
	region := route.Platform(host).Region() == ""
	switch m.Routing() {
	// lol-status is not offered on tw2; account-v1 not in sea.
	case route.ToPlatform:
		return !region && (m != route.Status || host != "tw2")
	case route.ToAccount:
		return region && host != string(route.Sea)
	}
	return region
}

// scope is what a rate limit belongs to: a key on a host, and a method of it unless that is empty.
type scope struct {
	key, host string
	method    route.Method
}
