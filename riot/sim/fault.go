package sim

import (
	"fmt"
	"path"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"

	"github.com/farsight-console/farsight/riot/route"
)

// Kind is a way in which a call goes wrong.
type Kind string

// The kinds of fault. Those of a 429 carry the X-Rate-Limit-Type that Riot would send, or none.
const (
	LimitApp     Kind = "429-application"
	LimitMethod  Kind = "429-method"
	LimitService Kind = "429-service"
	LimitPlain   Kind = "429-none" // an underlying service, Cloudflare or a shard: no type

	Status         Kind = "status" // Fault.Status with Fault.Body
	BadRequest     Kind = "400"
	Unauthorized   Kind = "401" // the key is not known
	Forbidden      Kind = "403" // the key has expired
	ForbiddenHTML  Kind = "403-html"
	Firewall       Kind = "firewall"       // 403-html, on every URL that has a PUUID
	Undecryptable  Kind = "400-decrypting" // "Exception decrypting" of a PUUID that is right
	NotFound       Kind = "404"
	ServerError    Kind = "500"
	BadGateway     Kind = "502" // with an HTML body
	Unavailable    Kind = "503"
	GatewayTimeout Kind = "504"

	Hang     Kind = "hang"     // no answer until the client gives up
	Reset    Kind = "reset"    // the connection breaks after the request was counted
	Truncate Kind = "truncate" // the body ends half way
	Trickle  Kind = "trickle"  // the body comes in small pieces, Delay apart
	Slow     Kind = "slow"     // Delay before an answer that is right

	// The answer is right and its connection kept, but nobody reads it any more: Delay later it is closed.
	IdleClose   Kind = "idle-close"
	IdleTimeout Kind = "408" // the same, and told by a 408 that nobody asked for

	Bomb        Kind = "bomb"         // 32 MiB of JSON in 32 KB of gzip
	Oversized   Kind = "oversized"    // 9 MiB of JSON
	BadGzip     Kind = "bad-gzip"     // says gzip, is not
	HTML200     Kind = "html-200"     // a web page
	NotJSON     Kind = "not-json"     // JSON that breaks off
	EmptyObject Kind = "empty-object" // {}
	EmptyList   Kind = "empty-list"   // []
	Null        Kind = "null"         //
	WrongID     Kind = "wrong-id"     // a match, but another one

	// Lists of match ids; IDs says of how many.
	ListShort        Kind = "list-short"         // a page has its first IDs only; half of them
	ListEnds         Kind = "list-ends"          // nothing after the newest IDs is listed; half of all
	ListLate         Kind = "list-late"          // the newest IDs are not listed; 10
	ListHoles        Kind = "list-holes"         // one in IDs, by hash, is not listed; 10
	ListSkips        Kind = "list-skips"         // IDs between the first page and the next are in neither; 3
	ListIgnoresTimes Kind = "list-ignores-times" // startTime and endTime have no effect
	ListIgnoresStart Kind = "list-ignores-start" // each page is the first
	ListEndless      Kind = "list-endless"       // each page is full, of ids that no match has
	ListOddIDs       Kind = "list-odd-ids"       // a page also has an id of another form, and one of no platform
	DuplicateIDs     Kind = "duplicate-ids"      // a page repeats an id, and the last IDs of the page before; 3

	AppLimits    Kind = "limits-application" // X-App-Rate-Limit is Limits, whatever is enforced
	MethodLimits Kind = "limits-method"      // X-Method-Rate-Limit is

	ShiftIDs  Kind = "shift-ids"  // three games end just before the call, which pushes older ones to the next page
	NoHeaders Kind = "no-headers" // no rate limit headers
	SkewDate  Kind = "skew-date"  // Date is Delay off
	Foreign   Kind = "foreign"    // somebody else uses the key for Burn calls; the call itself goes on
)

// Fault is one entry of the fault plan. The zero Match means every call. As JSON, durations are written "2m30s".
type Fault struct {
	Name  string `json:"name,omitzero"`
	Match Match  `json:"match"`
	Kind  Kind   `json:"kind"`
	// RetryAfter is the header of a 429 or another error as it is sent, so it may be absurd; empty means no header.
	RetryAfter string        `json:"retry_after,omitzero"`
	Status     int           `json:"status,omitzero"` // of kind Status
	Body       string        `json:"body,omitzero"`   // of kind Status, or instead of the usual body
	Delay      time.Duration `json:"delay,omitzero"`
	Burn       int           `json:"burn,omitzero"` // of kind Foreign
	IDs        int           `json:"ids,omitzero"`  // of a lie about lists; 0 is what the kind says
	// Limits is the header of AppLimits and MethodLimits as it is sent, so it may be absurd; "none" leaves it out.
	Limits string `json:"limits,omitzero"`
	// Count ends the fault after this many hits; 0 means never. With it the outcome depends on the order
	// of calls; Match.Attempts and Match.Rate do not have that effect.
	Count int `json:"count,omitzero"`
	// After and Until bound the fault in time since it was injected; both are divided by Options.Speed.
	// Zero Until means for good.
	After time.Duration `json:"after,omitzero"`
	Until time.Duration `json:"until,omitzero"`
}

// Match chooses calls.
type Match struct {
	Method route.Method `json:"method,omitempty"` // empty: every method
	Host   string       `json:"host,omitempty"`   // glob over the routing value
	ID     string       `json:"id,omitempty"`     // glob over match id or Riot ID
	Start  string       `json:"start,omitempty"`  // glob over the start of a page of match ids
	// Attempt is the n-th call for the same thing, from 1; 0 means each. Attempts is the first n of them.
	Attempt  int `json:"attempt,omitempty"`
	Attempts int `json:"attempts,omitempty"`
	// Rate is the share of things that are hit, 0 to 1; 0 means all. The choice is by a hash of the fault's
	// name and the thing: the same things each time, all their attempts (see Attempts). With Each it is
	// by (thing, attempt).
	Rate float64 `json:"rate,omitempty"`
	Each bool    `json:"each,omitempty"`
}

// ActiveFault is a fault of the plan and how often it struck.
type ActiveFault struct {
	Fault Fault `json:"fault"`
	Hits  int   `json:"hits"`
}

// known are the kinds that have an effect. Any other does not exist. The table of effects fills it in: what a fault is
// can be read without how it strikes.
var known = map[Kind]bool{}

func (f Fault) check() error {
	// Only the form of the patterns is of interest here.
	_, err1 := path.Match(f.Match.ID, "x")
	_, err2 := path.Match(f.Match.Host, "x")
	_, err3 := path.Match(f.Match.Start, "x")
	_, ofLimits := limitLies[f.Kind]
	switch {
	case !known[f.Kind]:
		return fmt.Errorf("fault %q: unknown kind %q", f.Name, f.Kind)
	case err1 != nil || err2 != nil || err3 != nil:
		return fmt.Errorf("fault %q: the pattern for id, host or start is broken: use * and ? as in file names", f.Name)
	case f.Match.Method != "" && f.Match.Method.Template() == "":
		return fmt.Errorf("fault %q: no such method: %q", f.Name, f.Match.Method)
	case !(f.Match.Rate >= 0 && f.Match.Rate <= 1): // NaN is neither
		return fmt.Errorf("fault %q: rate %g is not between 0 and 1", f.Name, f.Match.Rate)
	case f.IDs < 0:
		return fmt.Errorf("fault %q: ids %d is below 0", f.Name, f.IDs)
	case ofLimits && f.Limits == "":
		return fmt.Errorf("fault %q: say which limits are told, such as limits=0:1 or limits=none", f.Name)
	case f.Kind == Status && (f.Status < 200 || f.Status > 599):
		return fmt.Errorf("fault %q: status %d is not between 200 and 599", f.Name, f.Status)
	}
	return nil
}

// asText writes and reads durations as Go prints them. What it does not know it refuses: a mistyped bound would make a
// fault of every call.
var asText = json.JoinOptions(v1.DefaultOptionsV1(), json.RejectUnknownMembers(true),
	json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, d time.Duration) error {
		return e.WriteToken(jsontext.String(d.String()))
	})),
	json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, into *time.Duration) error {
		token, err := d.ReadToken()
		if err == nil {
			*into, err = parseSpan(token.String())
		}
		return err
	})))

func parseSpan(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil && text != "" {
		return 0, fmt.Errorf("%q is not a duration: write one such as 30s or 2m", text)
	}
	return d, nil
}

// plainFault is a Fault without its methods, which would call themselves.
type plainFault Fault

// MarshalJSON writes f as /sim/faults shows it.
func (f Fault) MarshalJSON() ([]byte, error) { return json.Marshal(plainFault(f), asText) }

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Fault) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, (*plainFault)(f), asText)
}
