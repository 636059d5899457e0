package traffic

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/limit"
)

// killed is a store as a kill left it: the counts of a second ago, and what has ended since.
type killed struct {
	state
	blob []byte
	at   time.Time
}

func (k *killed) LoadState(_ context.Context, name string) ([]byte, error) {
	if name != LimiterState {
		return nil, nil
	}
	return k.blob, nil
}

func (k *killed) Recent(_ context.Context, owner string, _ int) ([]engine.Attempt, error) {
	if owner != "c1" {
		return nil, nil
	}
	return []engine.Attempt{{Start: k.at.Add(400 * time.Millisecond), Status: 200}, {Start: k.at.Add(200 * time.Millisecond), Status: 200},
		{Start: k.at.Add(-time.Second), Status: 200}}, nil
}

// What a collection has called since the counts were saved is counted after a kill, on each of its hosts; what is older
// is in the counts.
func TestL1c_CallsOfACollectionCountAfterAKill(t *testing.T) {
	at := time.Now().Add(-time.Second)
	blob, err := json.Marshal(limit.State{Stamp: at.UnixMilli(), Scopes: []limit.ScopeState{
		{Host: "asia", Limits: "100:120", Known: true, Calls: []limit.Cell{{N: 7}}}, {Host: "europe", Limits: "100:120", Known: true}}})
	if err != nil {
		t.Fatal(err)
	}
	limiter := limit.New(limit.Options{})
	l := New(Options{Store: &killed{blob: blob, at: time.UnixMilli(at.UnixMilli())}, Limiter: limiter, Lanes: laneOfMatch,
		Collections: func(context.Context) ([]engine.CollectionRow, error) {
			c := engine.Collection{ID: "c1", CollectAsk: engine.CollectAsk{Platforms: []string{"kr"}}}
			return []engine.CollectionRow{{Collection: c}}, nil
		}})
	if err := l.Restore(t.Context(), false, func(func(engine.Job, error) bool) {}); err != nil {
		t.Fatal(err)
	}
	used := map[string]int{}
	for _, h := range limiter.Snapshot().Hosts {
		for _, scope := range h.Scopes {
			for _, b := range scope.Buckets {
				used[scope.Host] += b.Used()
			}
		}
	}
	if used["asia"] != 9 || used["europe"] != 0 {
		t.Errorf("counted %v, want 9 calls to asia and none to europe", used)
	}
}
