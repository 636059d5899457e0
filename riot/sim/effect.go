package sim

import (
	"bytes"
	"strings"
	"sync"
)

// effect applies a fault to the answer that a call would have got.
type effect func(s *Sim, f *Fault, c *call, normal func() *answer) *answer

const (
	textHTML   = "text/html; charset=UTF-8"
	decrypting = "Bad Request - Exception decrypting "
	timedOut   = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
	badGateway = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>cloudflare</center></body></html>\n"
	blocked    = "<!DOCTYPE html>\n<html><head><title>Attention Required! | Cloudflare</title></head><body><h1>Sorry, you have been blocked</h1></body></html>\n"
)

// effects holds every kind of fault.
var effects = map[Kind]effect{
	LimitApp:     limited("application"),
	LimitMethod:  limited("method"),
	LimitService: limited("service"),
	LimitPlain:   limited(""),

	Status:        func(_ *Sim, f *Fault, _ *call, _ func() *answer) *answer { return textAnswer(f.Status, f.Body) },
	BadRequest:    problem(400, "Bad Request"),
	Unauthorized:  withoutHeaders(problem(401, "Unknown apikey")),
	Forbidden:     withoutHeaders(problem(403, "Forbidden")),
	ForbiddenHTML: withoutHeaders(webPage(403, blocked)),
	Firewall:      withoutHeaders(webPage(403, blocked)),
	Undecryptable: func(_ *Sim, _ *Fault, c *call, _ func() *answer) *answer {
		return statusAnswer(400, decrypting+c.params["puuid"])
	},
	NotFound:       problem(404, "Data not found - match file not found"),
	ServerError:    problem(500, "Internal server error"),
	BadGateway:     withoutHeaders(webPage(502, badGateway)),
	Unavailable:    problem(503, "Service unavailable"),
	GatewayTimeout: problem(504, "Gateway timeout"),

	Hang:     after(func(a *answer, _ *Fault) { a.transfer = silent }),
	Reset:    after(func(a *answer, _ *Fault) { a.transfer = broken }),
	Truncate: after(func(a *answer, _ *Fault) { a.transfer = cut }),
	Trickle:  after(func(a *answer, f *Fault) { a.transfer, a.pause = drip, f.Delay }),
	Slow:     after(func(a *answer, f *Fault) { a.delay = f.Delay }),

	IdleClose:   after(func(a *answer, f *Fault) { a.closes, a.pause = true, f.Delay }),
	IdleTimeout: after(func(a *answer, f *Fault) { a.closes, a.pause, a.farewell = true, f.Delay, timedOut }),

	Bomb:      after(func(a *answer, _ *Fault) { a.body, a.gz = nil, bomb() }),
	Oversized: after(func(a *answer, _ *Fault) { a.gz, a.body = nil, oversized() }),
	BadGzip: after(func(a *answer, _ *Fault) {
		a.body, a.gz = []byte("{}"), []byte("\x1f\x8b\x08\x00 this is no deflate stream")
	}),
	HTML200:     webPage(200, "<!DOCTYPE html>\n<html><body>Just a moment...</body></html>\n"),
	NotJSON:     jsonBody(`{"metadata":{"dataVersion":"2","matchId":`),
	EmptyObject: jsonBody(`{}`),
	EmptyList:   jsonBody(`[]`),
	Null:        jsonBody(`null`),
	WrongID:     wrongID,

	ShiftIDs: func(s *Sim, _ *Fault, c *call, normal func() *answer) *answer {
		if a := s.world.Known(c.who); c.known && a != nil {
			s.world.PlayOn(a, 3)
		}
		return normal()
	},
	// What they change is in the headers, which are written last.
	AppLimits:    after(func(*answer, *Fault) {}),
	MethodLimits: after(func(*answer, *Fault) {}),

	NoHeaders: after(func(a *answer, _ *Fault) { a.noHeaders = true }),
	SkewDate:  after(func(a *answer, f *Fault) { a.skew = f.Delay }),
	Foreign: func(s *Sim, f *Fault, c *call, normal func() *answer) *answer {
		s.Foreign(c.key, c.Host, f.Burn)
		return normal()
	},
}

func init() {
	for kind, l := range lies {
		effects[kind] = lying(l)
	}
	for kind := range effects {
		known[kind] = true
	}
}

// limited is a 429 of the plan's, by the type in X-Rate-Limit-Type: application, method, service, or "" for
// one without it, as Riot's services send them.
func limited(kind string) effect {
	return func(_ *Sim, f *Fault, _ *call, _ func() *answer) *answer {
		a := statusAnswer(429, "Rate limit exceeded")
		a.limitType, a.retryAfter = kind, f.RetryAfter
		return a
	}
}

// problem is an error in Riot's form, or with the body that the fault names.
func problem(status int, message string) effect {
	return func(_ *Sim, f *Fault, _ *call, _ func() *answer) *answer {
		// A client that reads messages is tried with others.
		a := statusAnswer(status, message)
		if f.Body != "" {
			a = textAnswer(status, f.Body)
		}
		a.retryAfter = f.RetryAfter
		return a
	}
}

// webPage is an answer that is not Riot's own: of a proxy or of what guards its edge.
func webPage(status int, html string) effect {
	return func(_ *Sim, _ *Fault, _ *call, _ func() *answer) *answer {
		return &answer{status: status, body: []byte(html), header: map[string]string{"Content-Type": textHTML}}
	}
}

// withoutHeaders takes the rate limit headers off: such an answer never reached the limiter.
func withoutHeaders(e effect) effect {
	return func(s *Sim, f *Fault, c *call, normal func() *answer) *answer {
		a := e(s, f, c, normal)
		a.noHeaders = true
		return a
	}
}

// jsonBody is a 200 with a body that is not what was asked for.
func jsonBody(body string) effect {
	return func(*Sim, *Fault, *call, func() *answer) *answer { return textAnswer(200, body) }
}

// after changes the answer that the call would have got.
func after(change func(*answer, *Fault)) effect {
	return func(_ *Sim, f *Fault, _ *call, normal func() *answer) *answer {
		a := normal()
		change(a, f)
		return a
	}
}

// wrongID answers with a neighbour's id in place of the one that was asked for.
func wrongID(_ *Sim, _ *Fault, c *call, normal func() *answer) *answer {
	// Only the id is another: the body is whole and valid, so that nothing but a comparison finds out.
	a := normal()
	raw := a.plain()
	// EUW1_6789620807 becomes EUW1_6789620808.
	other := strings.Clone(c.ID)
	if at := len(other) - 1; at >= 0 {
		other = other[:at] + string('0'+(other[at]-'0'+1)%10)
	}
	a.gz, a.body = nil, bytes.ReplaceAll(raw, []byte(`"`+c.ID+`"`), []byte(`"`+other+`"`))
	return a
}

// bomb is a small gzip stream of a huge, valid JSON document.
var bomb = sync.OnceValue(func() []byte {
	// A thousand to one: what a client that inflates without a bound would hold in memory.
	return compress(padded(32 << 20))
})

var oversized = sync.OnceValue(func() []byte { return padded(9 << 20) })

// padded is valid JSON of about size bytes.
func padded(size int) []byte {
	b := append(make([]byte, 0, size+32), `{"metadata":{},"info":"`...)
	b = append(b, bytes.Repeat([]byte("a"), size)...)
	return append(b, `"}`...)
}
