package demo

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"
)

// One process serves, another one reads its counts; when the first has gone the other serves at the same
// address, with the same world.
func TestAnotherProcessServes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := NewWorld()
	w.Addr, w.Seed, w.Speed = l.Addr().String(), 7, 1
	first, second := New(Options{World: w}), New(Options{World: w})
	serve := func(d *Demo) func(context.Context, net.Listener) error {
		return func(ctx context.Context, l net.Listener) error {
			srv := &http.Server{Handler: d.Sim}
			defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
			return srv.Serve(l)
		}
	}
	ctx, end := context.WithCancel(t.Context())
	run := func(ctx context.Context, d *Demo, l net.Listener) chan struct{} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = d.Serve(ctx, l, serve(d))
		}()
		return done
	}
	until := func(serves bool) {
		for second.Host.serves.Load() != serves && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
	}
	ofFirst, endFirst := context.WithCancel(ctx)
	firstDone, secondDone := run(ofFirst, first, l), run(ctx, second, nil)
	until(false)
	res, err := second.Host.calls.Get("http://" + w.Addr + "/lol/status")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	st, err := second.Host.Ask(ctx)
	if err != nil || second.Host.serves.Load() || st.Calls != first.Sim.Stats().Calls {
		t.Errorf("the second one reads %+v, %v", st, err)
	}
	for second.Host.Stats().Calls != st.Calls && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	endFirst()
	<-firstDone
	until(true)
	if st := second.Host.Stats(); st.Calls != 0 {
		t.Errorf("its own counts are %+v", st)
	}
	who := second.Sim.Players()[0].RiotID
	if a, b := first.Sim.MatchIDs(who), second.Sim.MatchIDs(who); len(a) == 0 || a[0] != b[0] {
		t.Error("it has another world")
	}
	end()
	<-secondDone
}
