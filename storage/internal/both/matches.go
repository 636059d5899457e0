package both

import (
	"crypto/sha256"
	"fmt"
	"math"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// Milli is t as a record holds it, so that times compare equal before and after they are stored.
func Milli(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}

// Facts are what a match's own record tells of it, without whose list it is in and who sat in it.
func Facts(m league.Match) engine.MatchRow {
	return engine.MatchRow{
		ID: m.ID, Status: m.Match.Status.String(), Timeline: m.Timeline.Status.String(), Attempts: m.Match.Attempts,
		Played: m.Played, Duration: m.Duration, QueueID: m.QueueID, Mode: m.Mode,
		FetchedAt: m.Match.FetchedAt, LastAttemptAt: m.Match.LastAttemptAt, LastError: m.Match.LastError, Remake: m.Remake,
	}
}

// SeatIn adds the seat of the player whose list a row is in.
func SeatIn(row *engine.MatchRow, p league.Participant) {
	row.Champion, row.Won = p.Champion, won(p, row.Remake)
	row.Kills, row.Deaths, row.Assists = &p.Kills, &p.Deaths, &p.Assists
}

// won is nil of a remake: Riot lets all of one team win it, and nobody has.
func won(p league.Participant, remake bool) *bool {
	if remake {
		return nil
	}
	return &p.Won
}

// TimelineRow is the timeline of a match as exports show it.
func TimelineRow(m league.Match) engine.TimelineRow {
	f := m.Timeline
	return engine.TimelineRow{
		Match: m.ID, Status: f.Status.String(), Attempts: f.Attempts, FetchedAt: f.FetchedAt, LastAttemptAt: f.LastAttemptAt,
		LastError: f.LastError, LastClass: f.LastClass, Played: m.Played, Patch: m.Patch,
	}
}

// SeatRow is a seat of a match as exports show it.
func SeatRow(m league.Match, p league.Participant) engine.SeatRow {
	return engine.SeatRow{
		Match: m.ID, Index: p.Index, PUUID: p.PUUID, RiotID: p.RiotID, Champion: p.Champion, Team: p.Team,
		Won: won(p, m.Remake), Kills: p.Kills, Deaths: p.Deaths, Assists: p.Assists,
		Played: m.Played, Patch: m.Patch,
	}
}

// RankRow is a rank as it is shown: with the account's name of today, whatever it was then.
func RankRow(a league.Account, r league.Rank) engine.RankRow {
	return engine.RankRow{
		Account: a.ID, RiotID: a.RiotID(), Platform: a.Platform, Queue: r.Queue, At: r.At, Unranked: r.Unranked,
		Tier: r.Tier, Division: r.Division, Points: r.Points, Wins: r.Wins, Losses: r.Losses,
	}
}

// SameMatch and SameTimeline report whether exports show the same of a match, and of its
// timeline: what does not change for them keeps its place in a feed.
func SameMatch(a, b league.Match) bool    { return matchFace(a) == matchFace(b) }
func SameTimeline(a, b league.Match) bool { return faceOf(a.Timeline) == faceOf(b.Timeline) }

// fetchFace is what exports show of one part of a match. A payload counts by what it holds, not by
// how it is stored: an archived one has not changed.
type fetchFace struct {
	status    league.Status
	attempts  int
	fetched   int64
	attempted int64
	err       string
	class     string
	rawLen    int
	crc       uint32
}

func faceOf(f league.Fetch) fetchFace {
	return fetchFace{f.Status, f.Attempts, unixMilli(f.FetchedAt), unixMilli(f.LastAttemptAt), f.LastError,
		f.LastClass, f.Ref.RawLen, f.Ref.CRC}
}

// unixMilli is t as a record holds it.
func unixMilli(t time.Time) int64 {
	if t.IsZero() {
		return math.MinInt64
	}
	return t.UnixMilli()
}

type gameFace struct {
	match    fetchFace
	timeline league.Status
	played   int64
	duration time.Duration
	queue    int
	mode     string
}

func matchFace(m league.Match) gameFace {
	return gameFace{faceOf(m.Match), m.Timeline.Status, unixMilli(m.Played), m.Duration.Truncate(time.Microsecond),
		m.QueueID, m.Mode}
}

// MaskedSeat leads what stands for the PUUID of a player who was forgotten. Behind it is a sum of
// match and PUUID, so that nobody can tell whether two seats are of one player, but the player's
// own account finds its seat when it comes back.
const MaskedSeat = "forgotten:"

// SeatMask is what stands for a PUUID in a match.
func SeatMask(match, puuid string) string {
	return fmt.Sprintf("%s%x", MaskedSeat, sha256.Sum256([]byte(match+"\x00"+puuid)))[:len(MaskedSeat)+32]
}

// StoredBytes is what a match's payloads had when they were fetched.
func StoredBytes(m league.Match) (n int64) {
	for _, f := range []league.Fetch{m.Match, m.Timeline} {
		if f.Status == league.Success && !f.Ref.Dropped() {
			n += int64(f.Ref.Size)
		}
	}
	return n
}
