package api

import (
	"fmt"
	"strconv"

	"github.com/farsight-console/farsight/engine"
)

// feeds are the routes that give lists page by page.
func (p *Programs) feeds() []Route {
	return []Route{
		look("/v1/matches", "The ordered feed of matches: each once, at the place of its latest change",
			p.feed(engine.FeedMatches), paramFilter, paramAfter, paramLimit),
		look("/v1/matches/participants", "The ordered feed of participants",
			p.feed(engine.FeedParticipants), paramAfter, paramLimit),
		look("/v1/matches/{name}/{tag}", "The matches of an account, newest first",
			p.matches, Param{"all", "true: also those that cannot be had"}, paramAfter, paramLimit),
	}
}

// pageOf reads where a list goes on, and how many rows of it are wanted; 0 = as the console likes.
func pageOf(r *Request) (page engine.Page, err error) {
	page.After = r.URL.Query().Get("after")
	page.Limit, err = number(r, "limit", 1, maxPage, fmt.Sprintf("use 1 to %d", maxPage), "%q is no number of rows")
	return page, err
}

// feed answers with a page of a durable order: whoever keeps its Next misses no row that changes later.
func (p *Programs) feed(kind engine.FeedKind) func(*Request) (engine.FeedPage, error) {
	return func(r *Request) (out engine.FeedPage, err error) {
		page, err := pageOf(r)
		if err != nil {
			return out, err
		}
		out, err = engine.Ask[engine.FeedPage](r.Context(), p.opt.Console, engine.FeedQuery{Page: page, Kind: kind, Filter: r.URL.Query().Get("filter")})
		// A program that iterates must not meet null.
		if out.Rows == nil {
			out.Rows = []engine.FeedRow{}
		}
		return out, err
	}
}

// matches lists the matches of an account. all brings those along that could not be had.
func (p *Programs) matches(r *Request) (out engine.MatchesPage, err error) {
	q := engine.MatchesQuery{Account: riotID(r)}
	if q.Page, err = pageOf(r); err != nil {
		return out, err
	}
	if text := r.URL.Query().Get("all"); text != "" {
		if q.All, err = strconv.ParseBool(text); err != nil {
			return out, engine.Problemf(engine.ErrInvalid, "use true or false", "all is %q", text)
		}
	}
	out, err = engine.Ask[engine.MatchesPage](r.Context(), p.opt.Console, q)
	if out.Matches == nil {
		out.Matches = []engine.MatchRow{}
	}
	return out, err
}
