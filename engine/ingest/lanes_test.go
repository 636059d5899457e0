package ingest

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
)

func TestLaneOf(t *testing.T) {
	sync := func(platform string, known bool) engine.Job {
		return engine.Job{Kind: KindSync, Args: encode(syncArgs{Platform: platform, Known: known})}
	}
	phase := func(j engine.Job, phase, group int) engine.Job {
		j.Phase, j.Group = phase, group
		return j
	}
	match := func(id string, more bool) engine.Job {
		return engine.Job{Kind: KindMatch, Key: matchKey(id), Args: encode(fetchArgs{Match: id, More: more})}
	}
	for name, c := range map[string]struct {
		job  engine.Job
		want string
	}{
		"resolve":            {sync("euw1", false), "europe/account-v1.by-riot-id"},
		"resolve by PUUID":   {sync("oc1", true), "asia/account-v1.by-puuid"},
		"list":               {phase(sync("oc1", true), 1, 0), "sea/match-v5.ids"},
		"report":             {phase(sync("euw1", true), 9, 1), ""},
		"end":                {phase(sync("euw1", true), 10, 2), ""},
		"match":              {match("KR_7", false), "asia/match-v5.match"},
		"match and timeline": {match("PH2_7", true), "sea/match-v5.match+"},
		"timeline":           {engine.Job{Kind: KindTimeline, Key: timelineKey("NA1_7")}, "americas/match-v5.timeline"},
		"unknown platform":   {match("XX1_7", false), ""},
		"broken arguments":   {engine.Job{Kind: KindSync, Args: []byte("{")}, ""},
		"another kind":       {engine.Job{Kind: "alert.call"}, ""},
	} {
		if got := LaneOf.Name(c.job); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestS4_4_UnknownArgumentsAreRefused(t *testing.T) {
	for _, args := range []string{`{"match":"EUW1_1","colour":1}`, `{"match":"EUW1_1"}{}`, `{"match":1}`, ``, `null x`} {
		if _, err := decode[fetchArgs](engine.Job{Kind: KindMatch, ID: "7", Args: []byte(args)}); err == nil {
			t.Errorf("%s was taken", args)
		}
	}
}
