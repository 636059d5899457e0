package riot

import (
	"errors"

	"github.com/farsight-console/farsight/riot/route"
)

// Account is account-v1's answer. The names are absent for accounts that never took a Riot ID.
type Account struct {
	PUUID    string // encrypted per API project: only good with keys of the project that resolved it
	GameName string
	TagLine  string
}

// SummonerInfo is summoner-v4's answer since 2025-07 (developer-relations#1092).
type SummonerInfo struct {
	PUUID         string
	ProfileIconID int
	RevisionMs    int64 // last change of the account, Unix milliseconds
	Level         int
}

// LeagueEntry is one ranked queue of a player. League id, tier and rank may be empty.
type LeagueEntry struct {
	LeagueID                                 string
	Queue                                    string // "RANKED_SOLO_5x5"
	Tier                                     string // "PLATINUM"
	Rank                                     string // "III"
	Points                                   int
	Wins, Losses                             int
	HotStreak, Veteran, FreshBlood, Inactive bool
}

// PlatformStatus is lol-status-v4's answer.
type PlatformStatus struct {
	ID, Name     string
	Maintenances []Notice
	Incidents    []Notice
}

// Notice is one message of Riot about a platform.
type Notice struct {
	ID       int64
	Title    string // English when there is one
	Status   string // of a maintenance: "scheduled", "in_progress", "complete"
	Severity string // of an incident: "info", "warning", "critical"
}

// maxEntries bounds the lists of small answers; a page of match ids has up to 100.
const maxEntries = 1000

var (
	errNoAccount = errors.New("names no account")
	errNoRegion  = errors.New("names no platform that we know")
	errNoList    = errors.New("is not a list")
	errLongList  = errors.New("is a list beyond all bounds")
	errNoID      = errors.New("lists something that is not a match id")
	errNoStatus  = errors.New("names no platform")
)

func scanAccount(raw []byte) (a Account, err error) {
	s := scanner{buf: raw}
	s.object(func(key []byte) {
		switch string(key) {
		case "puuid":
			a.PUUID = s.str()
		case "gameName":
			a.GameName = s.str()
		case "tagLine":
			a.TagLine = s.str()
		default:
			s.skip()
		}
	})
	if err := s.end(); err != nil {
		return Account{}, err
	}
	if a.PUUID == "" {
		return Account{}, errNoAccount
	}
	return a, nil
}

func scanActiveRegion(raw []byte) (route.Platform, error) {
	s := scanner{buf: raw}
	var name string
	s.object(func(key []byte) {
		if string(key) == "region" {
			name = s.str()
			return
		}
		s.skip()
	})
	if err := s.end(); err != nil {
		return "", err
	}
	p, err := route.ParsePlatform(name)
	if err != nil {
		return "", errNoRegion
	}
	return p, nil
}

// scanIDs refuses a list with anything that has not the form of a match id: what such a page means nobody
// knows. Ids of platforms we do not know yet are passed on.
func scanIDs(raw []byte) ([]string, error) {
	ids := []string{}
	s := scanner{buf: raw}
	list := s.array(func() {
		id := s.str()
		switch {
		case s.err != nil:
		case !route.IsMatchID(id):
			s.refuse(errNoID)
		case len(ids) == maxEntries:
			s.refuse(errLongList)
		}
		ids = append(ids, id)
	})
	if err := s.listEnd(list); err != nil {
		return nil, err
	}
	return ids, nil
}

// listEnd is end for answers that must be lists.
func (s *scanner) listEnd(list bool) error {
	if err := s.end(); err != nil {
		return err
	}
	if !list {
		return errNoList
	}
	return nil
}

func scanSummoner(raw []byte) (i SummonerInfo, err error) {
	s := scanner{buf: raw}
	s.object(func(key []byte) {
		switch string(key) {
		case "puuid":
			i.PUUID = s.str()
		case "profileIconId":
			i.ProfileIconID = s.small()
		case "revisionDate":
			i.RevisionMs = s.integer()
		case "summonerLevel":
			i.Level = s.small()
		default:
			s.skip()
		}
	})
	if err := s.end(); err != nil {
		return SummonerInfo{}, err
	}
	if i.PUUID == "" {
		return SummonerInfo{}, errNoAccount
	}
	return i, nil
}

func scanLeagueEntries(raw []byte) ([]LeagueEntry, error) {
	entries := []LeagueEntry{}
	s := scanner{buf: raw}
	list := s.array(func() {
		if len(entries) == maxEntries {
			s.refuse(errLongList)
			return
		}
		entries = append(entries, s.leagueEntry())
	})
	if err := s.listEnd(list); err != nil {
		return nil, err
	}
	return entries, nil
}

func (s *scanner) leagueEntry() (e LeagueEntry) {
	s.object(func(key []byte) {
		switch string(key) {
		case "leagueId":
			e.LeagueID = s.str()
		case "queueType":
			e.Queue = s.str()
		case "tier":
			e.Tier = s.str()
		case "rank":
			e.Rank = s.str()
		case "leaguePoints":
			e.Points = s.small()
		case "wins":
			e.Wins = s.small()
		case "losses":
			e.Losses = s.small()
		case "hotStreak":
			e.HotStreak = s.boolean()
		case "veteran":
			e.Veteran = s.boolean()
		case "freshBlood":
			e.FreshBlood = s.boolean()
		case "inactive":
			e.Inactive = s.boolean()
		default:
			s.skip()
		}
	})
	return e
}

func scanStatus(raw []byte) (p PlatformStatus, err error) {
	s := scanner{buf: raw}
	s.object(func(key []byte) {
		switch string(key) {
		case "id":
			p.ID = s.str()
		case "name":
			p.Name = s.str()
		case "maintenances":
			p.Maintenances = s.notices()
		case "incidents":
			p.Incidents = s.notices()
		default:
			s.skip()
		}
	})
	if err := s.end(); err != nil {
		return PlatformStatus{}, err
	}
	if p.ID == "" {
		return PlatformStatus{}, errNoStatus
	}
	return p, nil
}

func (s *scanner) notices() (all []Notice) {
	s.array(func() {
		if len(all) == maxEntries {
			s.refuse(errLongList)
			return
		}
		all = append(all, s.notice())
	})
	return all
}

func (s *scanner) notice() (n Notice) {
	s.object(func(key []byte) {
		switch string(key) {
		case "id":
			n.ID = s.integer()
		case "maintenance_status":
			n.Status = s.str()
		case "incident_severity":
			n.Severity = s.str()
		case "titles":
			n.Title = s.title()
		default:
			s.skip()
		}
	})
	return n
}

// title prefers English to whatever comes first.
func (s *scanner) title() (best string) {
	s.array(func() {
		var locale, content string
		s.object(func(key []byte) {
			switch string(key) {
			case "locale":
				locale = s.str()
			case "content":
				content = s.str()
			default:
				s.skip()
			}
		})
		if best == "" || locale == "en_US" {
			best = content
		}
	})
	return best
}
