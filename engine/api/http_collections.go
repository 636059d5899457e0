package api

import (
	"net/http"

	"github.com/farsight-console/farsight/engine"
)

// collectRequest says whose matches are collected, and which; the answer's collection is its name.
type collectRequest struct {
	engine.CollectAsk
	Reason string `json:"reason,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"` // says only what it would cost
}

// collections are the routes about collections.
func (p *Programs) collections() []Route {
	return []Route{
		look("/v1/collections", "Collections with how far they are, the newest first", p.collectionList),
		look("/v1/collections/{name}", "A collection with how far it is", p.collection),
		starting("/v1/collections", "Start a collection, join it, or change how much of it is wanted: 202 with its job",
			collectRequest{}, p.collect),
	}
}

// collectionList lists collections.
func (p *Programs) collectionList(r *Request) (engine.CollectionsAnswer, error) {
	return engine.Ask[engine.CollectionsAnswer](r.Context(), p.opt.Console, engine.CollectionsQuery{})
}

// collection is the one that an address names.
func (p *Programs) collection(r *Request) (row engine.CollectionRow, err error) {
	a, err := engine.Ask[engine.CollectionsAnswer](r.Context(), p.opt.Console, engine.CollectionsQuery{Name: r.PathValue("name")})
	if err != nil {
		return row, err
	}
	return a.Collections[0], nil
}

// collect starts a collection.
func (p *Programs) collect(w http.ResponseWriter, r *Request) error {
	var in collectRequest
	if err := readInto(r, &in); err != nil {
		return err
	}
	return p.start(w, r, engine.Command{Op: engine.OpCollect, Collect: &in.CollectAsk, Reason: in.Reason, DryRun: in.DryRun})
}
