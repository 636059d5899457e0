package jobs

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// TestAClassListsNoOther that failed with the same words elsewhere.
func TestAClassListsNoOther(t *testing.T) {
	said := func(method string) string { return "riot: " + method + " on europe: status 503: Service unavailable" }
	r := engine.ClassRow{ErrorClass: engine.ErrorClass{Class: "5xx", Host: "europe", Method: "match-v5.match", Shape: engine.Shape(said("match-v5.match"))},
		Error: said("match-v5.match")}
	p := OfClass("", r).(*Screen)
	for method, want := range map[string]bool{"match-v5.match": true, "match-v5.timeline": false} {
		if got := p.subset.has(&engine.JobRow{Job: engine.Job{Class: "5xx", LastError: said(method)}}); got != want {
			t.Errorf("%s: %v", method, got)
		}
	}
}
