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
	const name = "network"
	if !d.Network {
		d.say(Fine, name, "", "not looked at; --network does, with one call")
		return
	}
	base, err := url.Parse(strings.ReplaceAll(d.BaseURL, "{routing}", string(route.Europe)))
	if d.BaseURL == "" || err != nil || base.Host == "" {
		d.say(Fault, name, "set RIOT_BASE_URL", "there is no usable base URL")
		return
	}
	began := time.Now()
	if err := riot.Knock(ctx, base); err != nil {
		d.say(Fault, name, "check the network, the name server, a proxy or a firewall", "%s cannot be reached: %v", base.Host, err)
		return
	}
	d.say(Fine, name, "", "%s answers after %d ms", base.Host, time.Since(began).Milliseconds())
	if !d.Key.missing() {
		d.call(ctx)
	}
}

// driftOfNote is how far the server's clock may be from ours: its Date header has
// whole seconds, and a call takes its time.
const driftOfNote = 5 * time.Second

// call makes one call with the key: is it let in, and what does the server's clock
// show?
func (d *doctor) call(ctx context.Context) {
	const name = "test call"
	ctx, cancel := context.WithTimeout(ctx, reachPatience)
	defer cancel()
	var seen riot.Call
	client, err := riot.New(riot.Options{
		Keys: d.Key.Keys, Limiter: riot.LimitedBy(limit.New(limit.Options{})), BaseURL: d.BaseURL, Timeout: d.Timeout,
		UserAgent: "farsight/" + d.Version, OnCall: func(c riot.Call) { seen = c },
	})
	if err != nil {
		d.say(Fault, name, "", "%v", err)
		return
	}
	defer client.CloseIdle()
	err = client.Probe(ctx, route.Europe, "")
	e, told := errors.AsType[*riot.Error](err)
	switch {
	case err == nil:
		d.say(Fine, name, "", "the key is let in%s", learnt(seen))
	case told && e.Reason.Denied():
		d.say(Fault, name, "get a new key at https://developer.riotgames.com", "Riot refuses the key from %s", d.Key.From)
	default:
		d.say(Fault, name, "try again in a while", "the call failed: %v", err)
	}
	if offset := seen.Date.Sub(d.now); !seen.Date.IsZero() && offset.Abs() > driftOfNote+reachPatience {
		d.say(Warning, "clock offset", "set the clock by a time server", "the server's clock is %s off this one", offset.Round(time.Second))
	} else if !seen.Date.IsZero() {
		d.say(Fine, "clock offset", "", "the server's clock agrees, within %s", driftOfNote)
	}
}

// learnt names the limits that the answer told.
func learnt(c riot.Call) string {
	if c.AppLimit == "" {
		return ""
	}
	return fmt.Sprintf("; its limits are %s calls:seconds", c.AppLimit)
}
