package columns

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

type (
	timeline = engine.TimelineRow
	seat     = engine.SeatRow
	standing = engine.RankRow
)

// What is only exported. Scripts depend on the names: a column may be added at the end,
// none may change or go.
var (
	// They have no catalogue: nothing shows or filters such rows.
	TimelineExport = List[timeline]{
		name("status", "", func(r *timeline) string { return r.Status }).always(),
		number("attempts", "", func(r *timeline) int { return r.Attempts }),
		past("fetched_at", "", func(r *timeline) time.Time { return r.FetchedAt }),
		past("last_attempt_at", "", func(r *timeline) time.Time { return r.LastAttemptAt }),
		name("last_class", "", func(r *timeline) string { return r.LastClass }),
		prose("last_error", "", func(r *timeline) string { return r.LastError }),
	}
	// SeatExport has a row for each player or bot of a match; team_id is 100 or 200, 0 in modes without teams.
	SeatExport = List[seat]{
		number("index", "", func(r *seat) int { return r.Index }),
		name("puuid", "", func(r *seat) string { return r.PUUID }).always(),
		name("riot_id", "", func(r *seat) string { return r.RiotID }).always(),
		name("champion", "", func(r *seat) string { return r.Champion }).always(),
		number("team_id", "", func(r *seat) int { return r.Team }),
		shown[seat]("won").value(func(r *seat) any { return r.Won }),
		number("kills", "", func(r *seat) int { return r.Kills }),
		number("deaths", "", func(r *seat) int { return r.Deaths }),
		number("assists", "", func(r *seat) int { return r.Assists }),
	}
	// RankExport has a row for each change: unranked ones have neither tier nor division ("PLATINUM", "III").
	RankExport = List[standing]{
		name("riot_id", "", func(r *standing) string { return r.RiotID }).always(),
		name("platform", "", func(r *standing) string { return r.Platform }).always(),
		name("queue", "", func(r *standing) string { return r.Queue }).always(),
		past("at", "", func(r *standing) time.Time { return r.At }),
		shown[standing]("unranked").value(func(r *standing) any { return r.Unranked }),
		name("tier", "", func(r *standing) string { return r.Tier }),
		name("division", "", func(r *standing) string { return r.Division }),
		number("points", "", func(r *standing) int { return r.Points }),
		number("wins", "", func(r *standing) int { return r.Wins }),
		number("losses", "", func(r *standing) int { return r.Losses }),
	}
)
