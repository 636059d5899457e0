package columns

import (
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
)

type report = engine.ReportRow

// Reports is what a command tells of a play-time report.
//
//	ACCOUNT         PLATFORM  PLAYED   MATCHES  MISSING          BUSIEST    ZONE
//	Blue Heron#KR1  kr        412.5 h  879      3 (1 cancelled)  Wed 21:00  Asia/Seoul
var Reports = catalogue(filter.Options{Free: []string{"account", "platform"}},
	prose("account", "Riot ID: Name#TAG", func(r *report) string { return r.RiotID }),
	name("platform", "euw1, kr", func(r *report) string { return r.Platform }),
	shown[report]("played").line("", table.Number, 0).prints(func(r *report) string { return PlayedFor(r.Minutes) }).
		value(func(r *report) any { return r.Minutes }).
		sort(func(a, b *report) int { return int(a.Minutes - b.Minutes) }),
	number("matches", "counted in it", func(r *report) int { return r.Matches }),
	number("missing", "could not be had, or were cancelled", func(r *report) int { return r.Missing }).prints(missing),
	shown[report]("busiest").prints(busiest).value(func(r *report) any {
		if r.Minutes <= 0 {
			return nil
		}
		return busiest(r)
	}),
	prose("zone", "whose hours they are", func(r *report) string { return r.Zone }),
	past("built", "", func(r *report) time.Time { return r.Built }).
		prints(func(r *report) string { return human.Stamp(r.Built) }),
	past("first", "its first game", func(r *report) time.Time { return r.First }),
	past("last", "its last game", func(r *report) time.Time { return r.Last }),
)

// ReportLines are the columns that a command prints unless it is asked for others.
var ReportLines = Reports.Pick("account platform played matches missing busiest zone built")

// missing is how many matches a report lacks, and how many of them were cancelled.
func missing(r *report) string {
	text := human.Count(int64(r.Missing))
	if r.Cancelled > 0 {
		text += " (" + human.Count(int64(r.Cancelled)) + " cancelled)"
	}
	return text
}

// busiest is the hour of the week with the most minutes: Wed 21:00. It is of the report's own zone, whatever
// that of the reader.
func busiest(r *report) string {
	if r.Minutes <= 0 {
		return "-"
	}
	return fmt.Sprintf("%s %02d:00", DayName(r.Day), r.Hour)
}

// DayName is a row of a report as people call it; row 0 is Monday.
func DayName(row int) string { return time.Weekday((row + 1) % 7).String()[:3] }

// PlayedFor is a time in a narrow column: minutes, then hours.
func PlayedFor(minutes float64) string {
	switch {
	case minutes <= 0:
		return "-"
	case minutes < 100:
		return fmt.Sprintf("%.0f min", minutes)
	}
	return human.Hours(minutes)
}

// Ranks is what a command tells of where an account stood in a ranked queue.
//
//	AT                   QUEUE            RANK     POINTS  WINS  LOSSES  WON
//	2026-11-20 03:00:12  RANKED_SOLO_5x5  GOLD II  41      60    40      60 %
var Ranks = catalogue(filter.Options{Free: []string{"queue", "rank"}},
	past("at", "", func(r *standing) time.Time { return r.At }).
		prints(func(r *standing) string { return human.Stamp(r.At) }),
	name("queue", "RANKED_SOLO_5x5", func(r *standing) string { return r.Queue }),
	prose("rank", "GOLD II", rankWords),
	name("tier", "", func(r *standing) string { return r.Tier }),
	name("division", "", func(r *standing) string { return r.Division }),
	number("points", "", func(r *standing) int { return r.Points }),
	number("wins", "", func(r *standing) int { return r.Wins }),
	number("losses", "", func(r *standing) int { return r.Losses }),
	shown[standing]("won").line("", table.Number, 0).
		prints(func(r *standing) string { return WinRate(r.Wins, r.Losses) }),
	name("platform", "", func(r *standing) string { return r.Platform }),
	name("riot_id", "as received", func(r *standing) string { return r.RiotID }),
)

// RankLines are the columns that a command prints unless it is asked for others.
var RankLines = Ranks.Pick("at queue rank points wins losses won")

// rankWords is a rank as the game names it: GOLD II. "unranked" is an answer, too, and not a missing
// one.
func rankWords(r *standing) string {
	if r.Unranked {
		return "unranked"
	}
	return strings.TrimSpace(r.Tier + " " + r.Division)
}

// WinRate is the share of games won; "-" when none was played.
func WinRate(wins, losses int) string {
	if wins+losses == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(wins)/float64(wins+losses))
}
