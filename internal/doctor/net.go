package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// reachPatience bounds the call.
const reachPatience = 10 * time.Second

// network connects to one of Riot's hosts without a key, and makes one call if
// there is a key. It happens only when it was asked for.
func (d *doctor) network(ctx context.Context) {
	if !d.Network {
		d.addLine(Unseen, "--network does, with one call", "nobody has called Riot")
		return
	}
	// One host stands for all: they have one certificate and one way.
	base, err := url.Parse(strings.ReplaceAll(d.BaseURL, "{routing}", string(route.Europe)))
	if d.BaseURL == "" || err != nil || base.Host == "" {
		d.addLine(Fault, "set RIOT_BASE_URL", "there is no usable base URL")
		return
	}
	// Without a key: whether the host answers at all is another question than whether the key is let
	// in.
	began := time.Now()
	if err := riot.Knock(ctx, base); err != nil {
		d.addLine(Fault, "check the network, the name server, a proxy or a firewall", "%s cannot be reached: %v", base.Host, err)
		return
	}
	d.addLine(Fine, "", "%s answers after %d ms", base.Host, time.Since(began).Milliseconds())
	switch {
	case d.Engine != nil:
		d.name = "test call"
		d.addLine(Unseen, "`farsight key test` lets the engine ask Riot about its key", "the engine makes the calls")
	case !d.Key.missing():
		d.call(ctx)
	}
}

// driftOfNote is how far the server's clock may be from ours: its Date header has
// whole seconds, and a call takes its time.
const driftOfNote = 5 * time.Second

// call makes one call with the key: is it let in, and what does the server's clock
// show?
func (d *doctor) call(ctx context.Context) {
	d.name = "test call"
	// Whatever timeout is configured for calls: somebody waits for the diagnosis.
	ctx, cancel := context.WithTimeout(ctx, reachPatience)
	defer cancel()
	// The headers of the answer, whatever its status: they have the limits and the server's clock.
	var seen riot.Call
	client, err := riot.New(riot.Options{
		Keys: d.Key.Keys, Limiter: riot.LimitedBy(limit.New(limit.Options{})), BaseURL: d.BaseURL, Timeout: d.Timeout,
		UserAgent: "farsight/" + d.Version, OnCall: func(c riot.Call) { seen = c },
	})
	if err != nil {
		d.addLine(Fault, "", "%v", err)
		return
	}
	defer client.CloseIdle()
	err = client.Probe(ctx, route.Europe, "")
	e, told := errors.AsType[*riot.Error](err)
	switch {
	case err == nil:
		d.addLine(Fine, "", "the key is let in%s", learnt(seen))
	// A refusal is an answer: the network is fine, and the next thing to do is another.
	case told && e.Reason.Denied():
		d.addLine(Fault, "get a new key at https://developer.riotgames.com", "Riot refuses the key from %s", d.Key.From)
	default:
		d.addLine(Fault, "try again in a while", "the call failed: %v", err)
	}
	d.name = "clock offset"
	// d.now was taken before all checks, of which some may have taken seconds.
	if offset := seen.Date.Sub(d.now); !seen.Date.IsZero() && offset.Abs() > driftOfNote+reachPatience {
		d.addLine(Warning, "set the clock by a time server", "the server's clock is %s off this one", offset.Round(time.Second))
	} else if !seen.Date.IsZero() {
		d.addLine(Fine, "", "the server's clock agrees, within %s", driftOfNote)
	}
}

// learnt names the limits that the answer told.
func learnt(c riot.Call) string {
	if c.AppLimit == "" {
		return ""
	}
	return fmt.Sprintf("; its limits are %s calls:seconds", c.AppLimit)
}
