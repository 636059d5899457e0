package riot

import (
	"cmp"
	"errors"
	"strings"
)

// Account is account-v1's answer. The names are absent for accounts that never took a Riot ID.
//
//	{"puuid":"8QfA1b…","gameName":"Night Heron","tagLine":"DEMO"}
type Account struct {
	PUUID    string // encrypted per API project: only good with keys of the project that resolved it
	GameName string
	TagLine  string
}

// SummonerInfo is summoner-v4's answer since 2025-07 (developer-relations#1092).
type SummonerInfo struct {
	PUUID string
}

// LeagueEntry is one ranked queue of a player. Tier and rank may be empty, and the PUUID of an entry of before June 2025.
type LeagueEntry struct {
	PUUID        string
	Queue        string // "RANKED_SOLO_5x5"
	Tier         string // "PLATINUM"
	Rank         string // "III"
	Points       int
	Wins, Losses int
}

// maxEntries bounds the lists of small answers; a page of match ids has up to 100. maxLeague bounds a league: Master has
// some ten thousand players where most are, and [maxBody] holds no more than this.
const (
	maxEntries = 1000
	maxLeague  = 60_000
)

var (
	errNoAccount = errors.New("names no account")
	errNoList    = errors.New("is not a list")
	errNoLeague  = errors.New("is not the league that was asked for")
	errLongList  = errors.New("is a list beyond all bounds")
)

// The functions below read one answer each. Their errors complete the sentence "the answer …", and an
// answer of the right form that lacks what makes it one is refused as well: a proxy's {} is no account.

func scanAccount(raw []byte) (a Account, err error) {
	s := scanner{buf: raw}
	s.members(member{"puuid", &a.PUUID}, member{"gameName", &a.GameName}, member{"tagLine", &a.TagLine})
	return whole(a, s.end(), a.PUUID != "", errNoAccount)
}

// whole is a small answer if it could be read and has what makes it one; else its zero value and an error, which is lacks
// where that is missing.
func whole[T any](answer T, fault error, has bool, lacks error) (T, error) {
	if fault == nil && !has {
		fault = lacks
	}
	if fault != nil {
		var none T
		return none, fault
	}
	return answer, nil
}

// maxIDLen bounds an id in bytes: it becomes a key of the store.
const maxIDLen = 64

// scanIDs passes on whatever is listed, ids of a form or platform that we do not know too: each is the
// business of itself, not of its page. One that is longer than any id is cut.
func scanIDs(raw []byte) ([]string, error) {
	s := scanner{buf: raw}
	ids, isList := list(&s, []string{}, maxEntries, errLongList, func(int) string {
		id := s.str()
		return cmp.Or(strings.ToValidUTF8(id[:min(len(id), maxIDLen)], "�"), "(none)")
	})
	return whole(ids, s.end(), isList, errNoList)
}

func scanSummoner(raw []byte) (i SummonerInfo, err error) {
	s := scanner{buf: raw}
	s.members(member{"puuid", &i.PUUID})
	return whole(i, s.end(), i.PUUID != "", errNoAccount)
}

// scanLeagueEntries reads a list that is empty for who has played no ranked game.
func scanLeagueEntries(raw []byte) ([]LeagueEntry, error) {
	s := scanner{buf: raw}
	entries, isList := s.leagueEntries(maxEntries)
	return whole(entries, s.end(), isList, errNoList)
}

// leagueEntries reads a list of ranks, of one player or of one league.
func (s *scanner) leagueEntries(most int) ([]LeagueEntry, bool) {
	return list(s, []LeagueEntry{}, most, errLongList, func(int) (e LeagueEntry) {
		s.members(
			member{"queueType", &e.Queue}, member{"tier", &e.Tier}, member{"rank", &e.Rank}, member{"puuid", &e.PUUID},
			member{"leaguePoints", &e.Points}, member{"wins", &e.Wins}, member{"losses", &e.Losses})
		return e
	})
}

// leagueScanner reads a whole league of a queue and tier, which stand before its entries once for all.
func leagueScanner(queue, tier string) func([]byte) ([]LeagueEntry, error) {
	return func(raw []byte) (entries []LeagueEntry, err error) {
		s := scanner{buf: raw}
		var ofQueue, ofTier string
		isList := false
		s.members(member{"queue", &ofQueue}, member{"tier", &ofTier},
			member{"entries", func() { entries, isList = s.leagueEntries(maxLeague) }})
		for i := range entries {
			entries[i].Queue, entries[i].Tier = ofQueue, ofTier
		}
		return whole(entries, s.end(), isList && ofQueue == queue && ofTier == tier, errNoLeague)
	}
}
