package sim

import "strconv"

// appendMatch writes the answer of match-v5 for g.
func (g *game) appendMatch(b []byte, seed uint64) []byte {
	r := start(seed).str("match").str(g.id).stream()
	b = g.appendMetadata(append(b, '{'))
	b = append(b, `,"info":`...)
	if g.shape == Aborted {
		return append(g.appendAborted(b), '}')
	}
	b = g.appendInfo(b, r)
	return append(b, '}')
}

// appendMetadata lists people only: bots are missing here, so it may be shorter than info.participants.
func (g *game) appendMetadata(b []byte) []byte {
	b = append(b, `"metadata":{"dataVersion":"2"`...)
	b = textField(b, "matchId", g.id)
	b = append(b, `,"participants":[`...)
	for i := range g.parts {
		if g.parts[i].bot {
			continue
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, g.parts[i].puuid)
	}
	return append(b, "]}"...)
}

// appendAborted is all zeros but for the end (developer-relations#898).
func (g *game) appendAborted(b []byte) []byte {
	b = append(b, `{"endOfGameResult":"Abort_Unexpected","gameCreation":0,"gameDuration":0,"gameEndTimestamp":`...)
	b = strconv.AppendInt(b, g.begin(), 10)
	return append(b, `,"gameId":0,"gameMode":"","gameName":"","gameStartTimestamp":0,"gameType":"","gameVersion":"",`+
		`"mapId":0,"participants":[],"platformId":"","queueId":0,"teams":[],"tournamentCode":""}`...)
}

func (g *game) appendInfo(b []byte, r *rng) []byte {
	b = append(b, '{')
	if g.era >= e14a {
		b = textField(b, "endOfGameResult", g.result())
	}
	b = strconv.AppendInt(appendKey(b, "gameCreation"), g.creation(), 10)
	b = g.appendDuration(b)
	b = strconv.AppendUint(appendKey(b, "gameId"), g.number, 10)
	b = textField(b, "gameMode", g.form.mode)
	if g.form.arena == aram && g.era == e15c {
		b = append(b, `,"gameModeMutators":["mapskin_map12_bloom"]`...)
	}
	b = textField(b, "gameName", "teambuilder-match-"+strconv.FormatUint(g.number, 10))
	b = strconv.AppendInt(appendKey(b, "gameStartTimestamp"), g.begin(), 10)
	b = textField(b, "gameType", "MATCHED_GAME")
	b = g.appendVersion(appendKey(b, "gameVersion"))
	b = intField(b, "mapId", g.form.mapID)
	b = g.appendParticipants(b, r)
	b = textField(b, "platformId", g.prefix())
	b = intField(b, "queueId", g.form.queue)
	b = g.appendTeams(b, r)
	return append(textField(b, "tournamentCode", ""), '}')
}

// appendDuration: milliseconds and no end before patch 11.20, seconds since (developer-relations#559).
func (g *game) appendDuration(b []byte) []byte {
	if g.era == e2021 {
		return intField(b, "gameDuration", g.seconds*1000+311)
	}
	b = intField(b, "gameDuration", g.seconds)
	return strconv.AppendInt(appendKey(b, "gameEndTimestamp"), g.end(), 10)
}

func (g *game) result() string {
	if g.shape == FalseAbort || g.shape == Aborted {
		return "Abort_Unexpected"
	}
	return "GameComplete"
}

func (g *game) appendVersion(b []byte) []byte {
	b = appendInt(append(b, '"'), patches[g.era].year)
	for _, n := range g.version {
		b = appendInt(append(b, '.'), n)
	}
	return append(b, '"')
}

func (g *game) prefix() string { return g.id[:len(g.id)-len(strconv.FormatUint(g.number, 10))-1] }

func (g *game) appendParticipants(b []byte, r *rng) []byte {
	l, plain := g.layout, g.withoutChallenges()
	b = append(b, `,"participants":[`...)
	for i := range g.parts {
		if i > 0 {
			b = append(b, ',')
		}
		p := &g.parts[i]
		if p.bot || g.shape == Arena8 {
			b = plain.append(b, r, p)
			continue
		}
		b = l.append(b, r, p)
	}
	return append(b, ']')
}

// withoutChallenges is the layout of bots, and of all in the first arena.
func (g *game) withoutChallenges() layout {
	if g.shape != Bots && g.shape != Arena8 {
		return nil
	}
	var l layout
	for _, s := range g.layout {
		if s.prefix != `,"challenges":` {
			l = append(l, s)
		}
	}
	return l
}

// objectives of a team, with the era since which they are counted.
var objectives = []struct {
	key  string
	from era
	on   arena
	most int
}{
	{"atakhan", e15a, rift, 1}, {"baron", e2021, rift, 2}, {"champion", e2021, everywhere, 0}, {"dragon", e2021, rift, 4},
	{"horde", e14a, rift, 3}, {"inhibitor", e2021, rift, 3}, {"riftHerald", e2021, rift, 1}, {"tower", e2021, rift | aram, 9},
}

func (g *game) appendTeams(b []byte, r *rng) []byte {
	teams := []int{100, 200}
	switch g.shape {
	case Swarm:
		teams = teams[:1]
	case Arena8:
		teams[1] = 0
	}
	b = append(b, `,"teams":[`...)
	for i, team := range teams {
		if i > 0 {
			b = append(b, ',')
		}
		b = g.appendTeam(b, r, team, i)
	}
	return append(b, ']')
}

func (g *game) appendTeam(b []byte, r *rng, team, i int) []byte {
	b = append(b, `{"bans":[`...)
	for n := range g.bans(i) {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"championId":`...)
		b = appendInt(b, champions[r.below(len(champions))].id)
		b = append(intField(b, "pickTurn", n+1+5*i), '}')
	}
	b = append(b, ']')
	if g.era >= e15b {
		b = append(b, `,"feats":{"EPIC_MONSTER_KILL":{"featState":0},"FIRST_BLOOD":{"featState":0},"FIRST_TURRET":{"featState":0}}`...)
	}
	b = append(b, `,"objectives":{`...)
	for _, o := range objectives {
		if g.era < o.from {
			continue
		}
		kills := 0
		if o.on&g.form.arena != 0 {
			kills = r.low(0, o.most)
		}
		if o.key == "champion" {
			kills = g.teamKills(team)
		}
		b = append(appendKey(b, o.key), `{"first":`...)
		b = appendBool(b, kills > 0 && (i == 0) == (g.winner == 100))
		b = append(intField(b, "kills", kills), '}')
	}
	b = append(b, '}')
	b = intField(b, "teamId", team)
	return append(boolField(b, "win", team == g.winner), '}')
}

// bans: five a side where there is a draft; the arena lists all of them under the first team.
func (g *game) bans(i int) int {
	switch {
	case g.form.arena == cherry && i == 0:
		return g.form.players
	case g.form.arena == rift && g.shape != Bots && g.shape != Swiftplay:
		return 5
	}
	return 0
}

func (g *game) teamKills(team int) int {
	n := 0
	for i := range g.parts {
		if g.parts[i].team == team {
			n += g.parts[i].kills
		}
	}
	return n
}
