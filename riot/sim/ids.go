package sim

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/riot/sim/internal/world"
)

// indexed is how many games Riot lists at most.
const indexed = 1000

// idQuery holds the parameters of a list of match ids.
type idQuery struct {
	start, count, queue int
	kind                string
	from, to            time.Time
}

// matchIDs lists an account's games, which may have grown since the simulator began.
func (s *Sim) matchIDs(c *call) *answer {
	q, problem := parseIDQuery(c.query)
	if problem != "" {
		return statusAnswer(400, "Bad request - "+problem)
	}
	if c.who.Stranger || string(s.world.Platform(c.who).Region()) != c.Host {
		return textAnswer(200, "[]") // the wrong region is no error (developer-relations#1070)
	}
	page := idQuery.page
	if c.list != nil {
		page = c.list
	}
	ids, err := json.Marshal(page(q, s.world.History(s.world.Known(c.who), time.Since(s.began))))
	if err != nil {
		panic(err) // strings
	}
	return textAnswer(200, string(ids))
}

// parseIDQuery reads the parameters; unknown names are ignored, as Riot does (developer-relations#545).
func parseIDQuery(values url.Values) (q idQuery, problem string) {
	q = idQuery{count: 20, queue: -1, kind: values.Get("type")}
	var from, to int
	for _, f := range []struct {
		name string
		into *int
	}{{"start", &q.start}, {"count", &q.count}, {"queue", &q.queue}, {"startTime", &from}, {"endTime", &to}} {
		v := values.Get(f.name)
		if v == "" {
			continue
		}
		n, err := strconv.Atoi(v)
		// Riot's own words, as far as they are recorded: clients show them to people.
		if err != nil || n < 0 {
			return q, fmt.Sprintf("Query parameter '%s' must be a positive number. Invalid value '%s' given.", f.name, v)
		}
		*f.into = n
	}
	if q.count > 100 {
		return q, fmt.Sprintf("Query parameter 'count' must have a maximum value of 100. Invalid value '%d' given.", q.count)
	}
	if q.kind != "" && !slices.Contains([]string{"ranked", "normal", "tourney", "tutorial"}, q.kind) {
		return q, fmt.Sprintf("Query parameter 'type' must be one of ranked, normal, tourney, tutorial. Invalid value '%s' given.", q.kind)
	}
	if from > 0 {
		q.from = time.Unix(int64(from), 0)
	}
	if to > 0 {
		q.to = time.Unix(int64(to), 0)
	}
	return q, ""
}

// choose are the games that fit, newest first, out of the newest thousand.
func (q idQuery) choose(games []*world.Game) []*world.Game {
	var out []*world.Game
	// Filters are applied to the newest thousand: older games of a rare queue are not found, as at Riot.
	for _, g := range games[:min(len(games), indexed)] {
		if q.fits(g) {
			out = append(out, g)
		}
	}
	return out
}

// fits reports whether a game is of the list. One whose payload tells no time is left out of a list with a start.
func (q idQuery) fits(g *world.Game) bool {
	switch {
	case q.queue >= 0 && g.Queue != q.queue, q.kind != "" && world.TypeOf[g.Queue] != q.kind:
		return false
	case !q.from.IsZero() && (g.Timeless || g.At.Before(q.from)):
		return false
	}
	return q.to.IsZero() || !g.At.After(q.to)
}

// page is the page that was asked for, out of all games.
func (q idQuery) page(games []*world.Game) []string {
	games = q.choose(games)
	// A page behind the end is empty, and no error.
	from := min(q.start, len(games))
	to := min(from+q.count, len(games))
	ids := make([]string, 0, to-from+2)
	for _, g := range games[from:to] {
		ids = append(ids, g.ID)
	}
	return ids
}
