package riot

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Match is a played game: Riot's JSON as it came, and the fields that Farsight indexes. Each of them may
// be absent in the JSON and is zero then; only the id is sure. Texts are as received, never cleaned.
type Match struct {
	Payload
	ID string

	CreationMs int64 // lobby, start and end of the game: Unix milliseconds
	StartMs    int64
	EndMs      int64 // absent before patch 11.20
	DurationS  int64 // seconds, whatever unit Riot used

	QueueID         int
	Mode            string // "CLASSIC", "ARAM", "CHERRY", ...
	Version         string // "16.4.748.682"
	Patch           string // "16.4"
	EndOfGameResult string // since 2024-02; not to be trusted alone: see Aborted
	Aborted         bool   // no participants, or no duration (developer-relations#898, #939)
	Remake          bool   // every participant ended in an early surrender (#818)

	Participants []Participant
}

// Participant is one player or bot of a match. Bots share the PUUID "BOT", so that a participant is
// identified by match and Index.
type Participant struct {
	Index        int // place in info.participants, from 0
	PUUID        string
	Name         string // riotIdGameName, else riotIdName (2023), else summonerName (before)
	Tag          string // riotIdTagline; empty before 2023-11
	ChampionName string
	TeamID       int // 100 or 200; 0 in modes without teams
	Win          bool
	Kills        int
	Deaths       int
	Assists      int
}

// PlayedAt is when the game was played, for order and retention: its start, else its creation, else its
// end; the zero time when the payload has none of them.
func (m Match) PlayedAt() time.Time {
	for _, ms := range []int64{m.StartMs, m.CreationMs, m.EndMs} {
		if ms > 0 {
			return time.UnixMilli(ms).UTC()
		}
	}
	return time.Time{}
}

// maxParticipants bounds the lists of a payload. Riot's largest mode has 16 players; without a bound, a
// hostile body of 8 MiB makes millions of them.
const maxParticipants = 256

var errCrowd = fmt.Errorf("lists more than %d participants", maxParticipants)

// scanMatch reads the fields of a match-v5 match. The error completes the sentence "the answer ...".
func scanMatch(raw []byte, id string) (Match, error) {
	m := matchScan{scanner: scanner{buf: raw}}
	info := false
	of := m.isOf(func() { info = m.info() })
	if err := check(m.end(), info, id, of); err != nil {
		return Match{}, err
	}
	return m.finish(id), nil
}

// matchScan collects what must be seen whole before it can be judged.
type matchScan struct {
	scanner
	out         Match
	duration    int64 // in Riot's unit of that day
	surrendered int   // participants with gameEndedInEarlySurrender
}

// info reads the facts of the game. Riot adds and drops members with patches: what lacks stays zero.
func (m *matchScan) info() bool {
	out := &m.out
	return m.members(
		member{"gameCreation", &out.CreationMs}, member{"gameStartTimestamp", &out.StartMs}, member{"gameEndTimestamp", &out.EndMs},
		member{"gameDuration", &m.duration}, member{"queueId", &out.QueueID}, member{"gameMode", &out.Mode}, member{"gameVersion", &out.Version},
		member{"endOfGameResult", &out.EndOfGameResult}, member{"participants", m.participants})
}

// participants reads the players, and counts those who say that the game ended in an early surrender.
func (m *matchScan) participants() {
	m.surrendered = 0
	m.out.Participants, _ = list(&m.scanner, make([]Participant, 0, 10), maxParticipants, errCrowd, m.participant)
}

// participant is written out, not a list of members: there are ten of 150 members each, of which 12 are wanted.
func (m *matchScan) participant(index int) Participant {
	p := Participant{Index: index}
	var riotIDName, summonerName string
	surrendered := false
	m.object(func(key []byte) {
		switch string(key) {
		case "puuid":
			p.PUUID = m.str()
		case "riotIdGameName":
			p.Name = m.str()
		case "riotIdName":
			riotIDName = m.str()
		case "summonerName":
			summonerName = m.str()
		case "riotIdTagline":
			p.Tag = m.str()
		case "championName":
			p.ChampionName = m.str()
		case "teamId":
			p.TeamID = m.small()
		case "win":
			p.Win = m.boolean()
		case "kills":
			p.Kills = m.small()
		case "deaths":
			p.Deaths = m.small()
		case "assists":
			p.Assists = m.small()
		case "gameEndedInEarlySurrender":
			surrendered = m.boolean()
		default:
			m.skip()
		}
	})
	if surrendered {
		m.surrendered++
	}
	// Names moved twice: old games have summonerName alone, those of 2023 riotIdName as well.
	p.Name = cmp.Or(p.Name, riotIDName, summonerName)
	return p
}

// What a payload may tell of time. Beyond it nothing can be stored: the month of a payload has a year
// of four digits, and a time.Duration of seconds runs over. Such a field counts as absent.
const (
	lastInstant = 253402300799999 // Unix milliseconds of the end of 9999
	longestGame = 24 * 60 * 60    // seconds
)

// finish applies the rules that need several fields.
func (m *matchScan) finish(id string) Match {
	out := m.out
	out.ID = id
	out.DurationS = max(m.duration, 0)
	if out.EndMs <= 0 { // before patch 11.20 the duration is in milliseconds
		out.DurationS /= 1000
	}
	if out.DurationS > longestGame {
		out.DurationS = 0
	}
	// An instant beyond the calendar would name a month that no store takes.
	for _, ms := range []*int64{&out.CreationMs, &out.StartMs, &out.EndMs} {
		if *ms > lastInstant {
			*ms = 0
		}
	}
	out.Patch = patchOf(out.Version)
	out.Aborted = len(out.Participants) == 0 || m.duration <= 0
	out.Remake = len(out.Participants) > 0 && m.surrendered == len(out.Participants)
	return out
}

// patchOf cuts a version to what players call a patch: "16.4.748.682" is 16.4. A version of another form
// gives "", so that nothing untrusted becomes a column of a table.
func patchOf(version string) string {
	major, rest, found := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	if !found || !isPatchNumber(major) || !isPatchNumber(minor) {
		return ""
	}
	return major + "." + minor
}

// isPatchNumber reports whether s is a part of a patch: 16, 4.
func isPatchNumber(s string) bool {
	return s != "" && len(s) <= 3 && digits([]byte(s), 0) == len(s)
}

// isOf reads a payload with its info, and says which match it is of, from the head that matches and timelines share:
//
//	"metadata":{"dataVersion":"2","matchId":"EUW1_7012345678","participants":["8QfA1b…",…]}
func (s *scanner) isOf(info func()) (match string) {
	players := 0
	player := func() { // is a text, and nobody reads it
		if players++; players > maxParticipants {
			s.refuse(errCrowd)
			return
		}
		_ = s.str()
	}
	s.members(member{"metadata", func() {
		s.members(member{"matchId", &match}, member{"participants", func() { players = 0; s.array(player) }})
	}}, member{"info", info})
	return match
}

var (
	errNoMatch = errors.New("does not say which match it is about")
	errNoInfo  = errors.New("has no info about the match")
)

// check decides whether a payload is about the match that was asked for. A proxy that caches by mistake
// answers with another one, which would be stored under this match's name for ever.
func check(fault error, info bool, id, of string) error {
	switch {
	case fault != nil:
		return fault
	case of == "":
		return errNoMatch
	case of != id:
		return fmt.Errorf("is about match %q", of)
	case !info:
		return errNoInfo
	}
	return nil
}

// Timeline is the course of a match: Riot's JSON as it came. What happens in the game stays in it for who exports it,
// and no screen shows it.
type Timeline struct{ Payload }

// scanTimeline reads of a match-v5 timeline which match it is of. The error completes "the answer ...".
func scanTimeline(raw []byte, id string) (Timeline, error) {
	s := scanner{buf: raw}
	info := false
	of := s.isOf(func() { info = s.members() })
	return Timeline{}, check(s.end(), info, id, of)
}
