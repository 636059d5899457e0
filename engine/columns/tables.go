package columns

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
)

// Table is a kind of rows as data: NDJSON, CSV, Parquet and docs/data.md are all made of its columns.
// Programs depend on their names: a column may be added at the end, which raises Version; none may change or go.
type Table struct {
	Name    string
	Is      string // what a row is
	Version int
	Columns []Fact

	picker *riot.Picker
}

// Fact is a column of a Table. Where there is no value it is null, and never 0 or "".
type Fact struct {
	Name string
	Type riot.Type
	Unit string // "" = a plain number, a text
	// Riot is where Riot tells it, below the object that a row is; see [riot.Pick].
	Riot string
	Note string
	of   func(*Source) riot.Value // nil = as Riot tells it
}

// Source is what a row is made of.
type Source struct {
	ID     string // of the match
	Seat   *engine.SeatRow
	Rank   *engine.RankRow
	Player *engine.PlayerRow
	Job    *engine.JobRow
	Game   *riot.Match // nil = its payload is not to be had
	teams  []riot.Value
	row    []riot.Value // the one that is filled
}

// Read reads a stored match for the rows of Matches and Seats. The error completes "the answer …".
func (s *Source) Read(raw []byte) error {
	game, err := riot.ParseMatch(raw, s.ID)
	if err != nil {
		return err
	}
	s.Game = &game
	s.teams, err = teamPicker.Pick(raw, s.teams[:0])
	return err
}

// Pick appends the rows of a payload to values, a value for each column; Fill adds what Riot does not tell as it is.
func (t *Table) Pick(raw []byte, values []riot.Value) ([]riot.Value, error) {
	return t.picker.Pick(raw, values)
}

// Rows are the rows of a match's payload that Pick gave, with what Riot does not tell as it is.
func (t *Table) Rows(match string, values []riot.Value) iter.Seq[[]riot.Value] {
	return func(yield func([]riot.Value) bool) {
		for row := range slices.Chunk(values, len(t.Columns)) {
			if t.Fill(&Source{ID: match}, row); !yield(row) {
				return
			}
		}
	}
}

// Row is the row of a table that has no payload.
func (t *Table) Row(s Source) []riot.Value {
	row := make([]riot.Value, len(t.Columns))
	t.Fill(&s, row)
	return row
}

// Fill sets the columns of a row that are made of several facts.
func (t *Table) Fill(s *Source, row []riot.Value) {
	s.row = row
	for i := range t.Columns {
		if of := t.Columns[i].of; of != nil {
			row[i] = of(s)
		}
	}
}

// Told is a value as JSON and CSV have it; nil is null.
func Told(v riot.Value) any {
	switch v.Type {
	case riot.Null:
		return nil
	case riot.Text:
		return v.Text
	case riot.Bool:
		return v.Num == 1
	case riot.Float:
		return math.Float64frombits(uint64(v.Num))
	case riot.Instant:
		return instant(time.UnixMilli(v.Num))
	case riot.Ints:
		return json.RawMessage("[" + v.Text + "]")
	}
	return v.Num
}

// tableOf declares one. Its rows are the objects at a path of Riot's payload; "" = it has none.
func tableOf(name, row, path string, columns []Fact) *Table {
	t := &Table{Name: name, Is: row, Version: 1, Columns: columns}
	if path == "" {
		return t
	}
	picks := make([]riot.Pick, len(columns))
	for i, c := range columns {
		if c.of == nil {
			picks[i] = riot.Pick{Path: c.Riot, Type: c.Type}
		}
	}
	t.picker = riot.NewPicker(path, picks)
	return t
}

// riotFact is a column as Riot tells it, at a path of [riot.Pick].
func riotFact(name string, as riot.Type, path string) Fact {
	return Fact{Name: name, Type: as, Riot: path}
}

// The functions below declare columns that Riot does not tell as they are.

func textOf(name, from string, of func(*Source) string) Fact {
	return Fact{Name: name, Type: riot.Text, Riot: from, of: func(s *Source) riot.Value { return words(of(s)) }}
}

func intOf(name, unit, from string, of func(*Source) (n int, known bool)) Fact {
	return Fact{Name: name, Type: riot.Int, Unit: unit, Riot: from, of: func(s *Source) riot.Value {
		n, known := of(s)
		if !known || n < math.MinInt32 || n > math.MaxInt32 {
			return riot.Value{}
		}
		return riot.Value{Type: riot.Int, Num: int64(n)}
	}}
}

func boolOf(name, from string, of func(*Source) *bool) Fact {
	return Fact{Name: name, Type: riot.Bool, Riot: from, of: func(s *Source) riot.Value {
		switch is := of(s); {
		case is == nil:
			return riot.Value{}
		case *is:
			return riot.Value{Type: riot.Bool, Num: 1}
		}
		return riot.Value{Type: riot.Bool}
	}}
}

func instantOf(name, from string, of func(*Source) time.Time) Fact {
	return Fact{Name: name, Type: riot.Instant, Riot: from, of: func(s *Source) riot.Value {
		at := of(s)
		if at.IsZero() {
			return riot.Value{}
		}
		return riot.Value{Type: riot.Instant, Num: at.UnixMilli()}
	}}
}

// in adds the unit.
func (f Fact) in(unit string) Fact { f.Unit = unit; return f }

// says adds a note to a column.
func (f Fact) says(note string) Fact { f.Note = note; return f }

func words(text string) riot.Value {
	if text == "" {
		return riot.Value{}
	}
	return riot.Value{Type: riot.Text, Text: text}
}

// empty is a text that is "" where there is none: scripts of before read it so.
func (f Fact) empty() Fact {
	of := f.of
	f.of = func(s *Source) riot.Value { v := of(s); v.Type = riot.Text; return v }
	return f
}

// matchID leads most tables.
var matchID = textOf("match_id", "metadata.matchId", func(s *Source) string { return s.ID })

// PlatformOf is the platform of a match, in small letters: it stands before the _ of its id.
func PlatformOf(match string) string {
	platform, _, _ := strings.Cut(match, "_")
	return strings.ToLower(platform)
}

// game is what the payload tells; the zero value where there is none.
func (s *Source) game() riot.Match {
	if s.Game == nil {
		return riot.Match{}
	}
	return *s.Game
}

// GameTable are the matches that were played.
var GameTable = tableOf("matches", "a match that was played", "info", append([]Fact{
	matchID,
	textOf("platform", "metadata.matchId, before _", func(s *Source) string { return PlatformOf(s.ID) }),
	riotFact("queue_id", riot.Int, "queueId"),
	textOf("queue", "queueId", func(s *Source) string {
		if s.Game == nil || s.Game.QueueID == 0 && s.Game.Mode == "" {
			return ""
		}
		return ModeName(s.Game.QueueID)
	}).says("its name: Ranked Solo, ARAM"),
	riotFact("map_id", riot.ID, "mapId").says("11 is Summoner's Rift"),
	riotFact("mode", riot.Text, "gameMode"),
	riotFact("type", riot.Text, "gameType"),
	riotFact("version", riot.Text, "gameVersion"),
	textOf("patch", "gameVersion", func(s *Source) string { return s.game().Patch }).says("16.23 of 16.23.748.682"),
	riotFact("created_at", riot.Instant, "gameCreation"),
	riotFact("started_at", riot.Instant, "gameStartTimestamp"),
	riotFact("ended_at", riot.Instant, "gameEndTimestamp").says("absent before patch 11.20"),
	instantOf("played_at", "gameStartTimestamp, else gameCreation",
		func(s *Source) time.Time { return s.game().PlayedAt() }),
	intOf("duration_s", "s", "gameDuration",
		func(s *Source) (int, bool) { g := s.game(); return int(g.DurationS), g.DurationS > 0 }).
		says("milliseconds at Riot before patch 11.20"),
	riotFact("end_of_game", riot.Text, "endOfGameResult").says("as Riot says it; not to be trusted alone"),
	boolOf("remake", "participants.*.gameEndedInEarlySurrender",
		func(s *Source) *bool { return ofGame(s, s.game().Remake) }),
	boolOf("aborted", "participants, gameDuration", func(s *Source) *bool { return ofGame(s, s.game().Aborted) }),
	riotFact("tournament_code", riot.Text, "tournamentCode"),
	intOf("seats", "", "participants", func(s *Source) (int, bool) { return len(s.game().Participants), s.Game != nil }),
	intOf("winner", "", "teams.*.win", winner).
		says("100 blue, 200 red; null in a remake and in modes without two teams"),
	bans("blue_bans", 100), bans("red_bans", 200),
}, objectives()...))

// ofGame is a fact of a game, null where its payload is not to be had.
func ofGame(s *Source, is bool) *bool {
	if s.Game == nil {
		return nil
	}
	return &is
}

// objectiveNames are Riot's names of what teams take, with ours.
var objectiveNames = []struct{ riot, ours, plural string }{
	{"tower", "tower", "towers"}, {"inhibitor", "inhibitor", "inhibitors"}, {"dragon", "dragon", "dragons"},
	{"baron", "baron", "barons"}, {"riftHerald", "herald", "heralds"}, {"horde", "grub", "grubs"},
	{"atakhan", "atakhan", "atakhans"}, {"champion", "blood", "kills"},
}

// What is picked of a team, in this order; then the kills of each objective and who was first.
const (
	teamID = iota
	teamWon
	teamBans
	teamObjectives
)

var teamPicks = func() []riot.Pick {
	picks := []riot.Pick{
		{Path: "teamId", Type: riot.Int}, {Path: "win", Type: riot.Bool}, {Path: "bans.*.championId", Type: riot.Ints},
	}
	for _, o := range objectiveNames {
		picks = append(picks, riot.Pick{Path: "objectives." + o.riot + ".kills", Type: riot.Int},
			riot.Pick{Path: "objectives." + o.riot + ".first", Type: riot.Bool})
	}
	return picks
}()

var teamPicker = riot.NewPicker("info.teams.*", teamPicks)

// ofTeam is what was picked of a team; null where there is no such team.
func (s *Source) ofTeam(id int64, column int) riot.Value {
	for teams := s.teams; s.Game != nil && len(teams) > 0; teams = teams[len(teamPicks):] {
		if teams[teamID].Type == riot.Int && teams[teamID].Num == id {
			return teams[column]
		}
	}
	return riot.Value{}
}

// teamThat is the one of two teams of which a fact is true. Arena has a team 100 of all who won, and a team 0.
func (s *Source) teamThat(column int) (id int, known bool) {
	blue, red := s.ofTeam(100, column), s.ofTeam(200, column)
	id = 100
	if red.Num == 1 {
		id = 200
	}
	return id, blue.Type == riot.Bool && red.Type == riot.Bool && blue.Num != red.Num
}

func winner(s *Source) (int, bool) {
	if s.game().Remake {
		return 0, false
	}
	return s.teamThat(teamWon)
}

func bans(name string, team int64) Fact {
	return Fact{Name: name, Type: riot.Ints, Riot: "teams[" + strconv.FormatInt(team, 10) + "].bans.*.championId",
		Note: "champions, all of Arena's in blue_bans",
		of:   func(s *Source) riot.Value { return s.ofTeam(team, teamBans) }}
}

func objectives() (all []Fact) {
	for i, o := range objectiveNames {
		kills, first := teamObjectives+2*i, teamObjectives+2*i+1
		for _, team := range []struct {
			name string
			id   int64
		}{{"blue_", 100}, {"red_", 200}} {
			from := "teams[" + strconv.FormatInt(team.id, 10) + "].objectives." + o.riot + ".kills"
			all = append(all, Fact{Name: team.name + o.plural, Type: riot.Int, Riot: from,
				of: func(s *Source) riot.Value { return s.ofTeam(team.id, kills) }})
		}
		all = append(all, intOf("first_"+o.ours, "", "teams.*.objectives."+o.riot+".first",
			func(s *Source) (int, bool) { return s.teamThat(first) }).says("the team that had the first: 100, 200"))
	}
	return all
}

// SeatTable are the seats of matches. Who sat there is told by what is stored, which forgets a player
// who asks for that; the rest by the payload.
var SeatTable = tableOf("participants", "a player or bot in a match", "info.participants.*", append([]Fact{
	matchID,
	intOf("index", "", "participants.*", func(s *Source) (int, bool) { return s.Seat.Index, true }).
		says("place in Riot's list, from 0"),
	textOf("puuid", "puuid", func(s *Source) string { return s.Seat.PUUID }).empty().says("bots share the PUUID BOT"),
	textOf("riot_id", "riotIdGameName, riotIdTagline", func(s *Source) string { return s.Seat.RiotID }).empty(),
	textOf("champion", "championName", func(s *Source) string { return s.Seat.Champion }).empty(),
	intOf("team_id", "", "teamId", func(s *Source) (int, bool) { return s.Seat.Team, true }).
		says("100 blue, 200 red; 0 in modes without teams"),
	boolOf("won", "win", func(s *Source) *bool { return s.Seat.Won }).says("null in a remake"),
	intOf("kills", "", "kills", func(s *Source) (int, bool) { return s.Seat.Kills, true }),
	intOf("deaths", "", "deaths", func(s *Source) (int, bool) { return s.Seat.Deaths, true }),
	intOf("assists", "", "assists", func(s *Source) (int, bool) { return s.Seat.Assists, true }),
	riotFact("participant", riot.ID, "participantId").says("who it is in events and frames"),
	riotFact("champion_id", riot.ID, "championId"),
	riotFact("role", riot.Text, "teamPosition").says("TOP, JUNGLE, MIDDLE, BOTTOM, UTILITY"),
	riotFact("individual_position", riot.Text, "individualPosition").says("Riot's guess without the team; Invalid"),
	riotFact("subteam", riot.ID, "playerSubteamId").says("Arena"),
	riotFact("placement", riot.ID, "placement").says("Arena"),
	riotFact("level", riot.Int, "champLevel"),
	riotFact("xp", riot.Int, "champExperience"),
	riotFact("summoner_level", riot.Int, "summonerLevel"),
	riotFact("gold", riot.Int, "goldEarned").in("gold"),
	riotFact("gold_spent", riot.Int, "goldSpent").in("gold"),
	riotFact("cs", riot.Int, "totalMinionsKilled+neutralMinionsKilled"),
	riotFact("jungle_cs", riot.Int, "neutralMinionsKilled"),
	riotFact("vision", riot.Int, "visionScore"),
	riotFact("wards", riot.Int, "wardsPlaced"),
	riotFact("wards_killed", riot.Int, "wardsKilled"),
	riotFact("control_wards", riot.Int, "visionWardsBoughtInGame"),
	riotFact("damage", riot.Int, "totalDamageDealtToChampions").says("to champions, as the three below"),
	riotFact("physical_damage", riot.Int, "physicalDamageDealtToChampions"),
	riotFact("magic_damage", riot.Int, "magicDamageDealtToChampions"),
	riotFact("true_damage", riot.Int, "trueDamageDealtToChampions"),
	riotFact("damage_dealt", riot.Int, "totalDamageDealt").says("to all"),
	riotFact("damage_to_objectives", riot.Int, "damageDealtToObjectives"),
	riotFact("damage_to_turrets", riot.Int, "damageDealtToTurrets"),
	riotFact("damage_taken", riot.Int, "totalDamageTaken"),
	riotFact("physical_taken", riot.Int, "physicalDamageTaken"),
	riotFact("magic_taken", riot.Int, "magicDamageTaken"),
	riotFact("true_taken", riot.Int, "trueDamageTaken"),
	riotFact("damage_mitigated", riot.Int, "damageSelfMitigated"),
	riotFact("healing", riot.Int, "totalHeal"),
	riotFact("healing_of_team", riot.Int, "totalHealsOnTeammates"),
	riotFact("shielding_of_team", riot.Int, "totalDamageShieldedOnTeammates"),
	riotFact("cc_s", riot.Int, "timeCCingOthers").in("s"),
	riotFact("turrets", riot.Int, "turretKills"),
	riotFact("double_kills", riot.Int, "doubleKills"),
	riotFact("triple_kills", riot.Int, "tripleKills"),
	riotFact("quadra_kills", riot.Int, "quadraKills"),
	riotFact("penta_kills", riot.Int, "pentaKills"),
	riotFact("first_blood", riot.Bool, "firstBloodKill"),
	riotFact("first_tower", riot.Bool, "firstTowerKill"),
	riotFact("played_s", riot.Int, "timePlayed").in("s"),
	riotFact("dead_s", riot.Int, "totalTimeSpentDead").in("s"),
	riotFact("surrendered", riot.Bool, "gameEndedInSurrender").says("the game ended so, whichever team did"),
	riotFact("remake", riot.Bool, "gameEndedInEarlySurrender"),
	riotFact("pings", riot.Int, "allInPings+assistMePings+baitPings+basicPings+commandPings+dangerPings+enemyMissingPings+"+
		"enemyVisionPings+getBackPings+holdPings+needVisionPings+onMyWayPings+pushPings+retreatPings+visionClearedPings"),
	riotFact("spell1", riot.ID, "summoner1Id"),
	riotFact("spell2", riot.ID, "summoner2Id"),
	riotFact("rune_style", riot.ID, "perks.styles.0.style"),
	riotFact("keystone", riot.ID, "perks.styles.0.selections.0.perk"),
	riotFact("rune2", riot.ID, "perks.styles.0.selections.1.perk"),
	riotFact("rune3", riot.ID, "perks.styles.0.selections.2.perk"),
	riotFact("rune4", riot.ID, "perks.styles.0.selections.3.perk"),
	riotFact("rune_substyle", riot.ID, "perks.styles.1.style"),
	riotFact("rune5", riot.ID, "perks.styles.1.selections.0.perk"),
	riotFact("rune6", riot.ID, "perks.styles.1.selections.1.perk"),
	riotFact("shard_offense", riot.ID, "perks.statPerks.offense"),
	riotFact("shard_flex", riot.ID, "perks.statPerks.flex"),
	riotFact("shard_defense", riot.ID, "perks.statPerks.defense"),
}, items()...))

func items() (all []Fact) {
	for i := range 7 {
		n := strconv.Itoa(i)
		all = append(all, riotFact("item"+n, riot.ID, "item"+n))
	}
	return all
}

// EventTable are the events of timelines.
var EventTable = tableOf("events", "an event of a timeline, in its order", "info.frames.*.events.*", []Fact{
	matchID,
	riotFact("time_ms", riot.Int, "timestamp").in("ms").says("into the game"),
	riotFact("kind", riot.Text, "type").says("CHAMPION_KILL, ITEM_PURCHASED, …"),
	riotFact("actor", riot.ID, "participantId|killerId|creatorId").says("a participant; null where a minion or tower did it"),
	riotFact("victim", riot.ID, "victimId").says("a participant"),
	riotFact("assisting", riot.Ints, "assistingParticipantIds").says("participants"),
	riotFact("team_id", riot.ID, "teamId").says("of a building, the one that lost it"),
	riotFact("killer_team_id", riot.ID, "killerTeamId"),
	riotFact("x", riot.Int, "position.x"),
	riotFact("y", riot.Int, "position.y"),
	riotFact("item", riot.ID, "itemId"),
	riotFact("item_before", riot.ID, "beforeId").says("of ITEM_UNDO"),
	riotFact("item_after", riot.ID, "afterId").says("of ITEM_UNDO"),
	riotFact("gold", riot.Int, "goldGain").in("gold").says("of ITEM_UNDO"),
	riotFact("skill", riot.ID, "skillSlot").says("1 to 4: Q, W, E, R"),
	riotFact("level_up", riot.Text, "levelUpType"),
	riotFact("level", riot.ID, "level"),
	riotFact("ward", riot.Text, "wardType"),
	riotFact("monster", riot.Text, "monsterType"),
	riotFact("monster_subtype", riot.Text, "monsterSubType"),
	riotFact("building", riot.Text, "buildingType"),
	riotFact("tower", riot.Text, "towerType"),
	riotFact("lane", riot.Text, "laneType"),
	riotFact("bounty", riot.Int, "bounty").in("gold"),
	riotFact("shutdown", riot.Int, "shutdownBounty").in("gold"),
	riotFact("streak", riot.Int, "killStreakLength"),
	riotFact("special", riot.Text, "killType").says("KILL_FIRST_BLOOD, KILL_MULTI, KILL_ACE"),
	riotFact("multi_kill", riot.ID, "multiKillLength"),
	riotFact("name", riot.Text, "name").says("of DRAGON_SOUL_GIVEN"),
	riotFact("transform", riot.Text, "transformType"),
	riotFact("winning_team", riot.ID, "winningTeam").says("of GAME_END"),
})

// FrameTable are the players at the minutes of timelines.
var FrameTable = tableOf("frames", "a player at a minute of a timeline", "info.frames.*.participantFrames.*", []Fact{
	matchID,
	riotFact("time_ms", riot.Int, "^timestamp").in("ms").says("into the game"),
	intOf("minute", "min", "timestamp", func(s *Source) (int, bool) {
		at := s.row[1]
		return int(at.Num+30_000) / 60_000, at.Type == riot.Int
	}).says("time_ms, rounded"),
	riotFact("participant", riot.ID, "participantId"),
	riotFact("x", riot.Int, "position.x"),
	riotFact("y", riot.Int, "position.y"),
	riotFact("gold", riot.Int, "totalGold").in("gold").says("so far"),
	riotFact("gold_left", riot.Int, "currentGold").in("gold"),
	riotFact("xp", riot.Int, "xp"),
	riotFact("level", riot.Int, "level"),
	riotFact("cs", riot.Int, "minionsKilled+jungleMinionsKilled"),
	riotFact("jungle_cs", riot.Int, "jungleMinionsKilled"),
	riotFact("damage", riot.Int, "damageStats.totalDamageDoneToChampions").says("to champions, so far"),
	riotFact("damage_dealt", riot.Int, "damageStats.totalDamageDone"),
	riotFact("damage_taken", riot.Int, "damageStats.totalDamageTaken"),
})

// RankTable are the changes of where accounts stood, and where players did when a ladder was read.
var RankTable = tableOf("ranks", "a change of where an account stood in a ranked queue, or where a player of a collection stood on a ladder that was read", "", []Fact{
	textOf("account_id", "", func(s *Source) string { return s.Rank.Account }),
	textOf("riot_id", "", func(s *Source) string { return s.Rank.RiotID }).empty().says("the account's present one"),
	textOf("platform", "", func(s *Source) string { return s.Rank.Platform }).empty(),
	textOf("queue", "queueType", func(s *Source) string { return s.Rank.Queue }).empty(),
	instantOf("at", "", func(s *Source) time.Time { return s.Rank.At }),
	boolOf("unranked", "", func(s *Source) *bool { return &s.Rank.Unranked }),
	textOf("tier", "tier", func(s *Source) string { return s.Rank.Tier }),
	textOf("division", "rank", func(s *Source) string { return s.Rank.Division }),
	intOf("points", "LP", "leaguePoints", func(s *Source) (int, bool) { return s.Rank.Points, true }),
	intOf("wins", "", "wins", func(s *Source) (int, bool) { return s.Rank.Wins, true }),
	intOf("losses", "", "losses", func(s *Source) (int, bool) { return s.Rank.Losses, true }),
	textOf("puuid", "puuid", func(s *Source) string { return s.Rank.PUUID }).says("whose seats are theirs"),
})

// Tables are all tables of data, in the order of docs/data.md.
var Tables = []*Table{GameTable, SeatTable, EventTable, FrameTable, RankTable, PlayerTable, JobTable}

// Reader makes rows of what feeds tell and what payloads hold. It keeps the rows of one match: its seats come together.
type Reader struct {
	// Payload is Riot's JSON of a match; engine.ErrNotFound where it is not to be had.
	Payload func(ctx context.Context, match string) ([]byte, error)

	src   Source
	seats []riot.Value
	row   []riot.Value
}

// Open reads the payload of a match, unless it is the one before. Where there is none, or the error says that it
// cannot be read, rows have null for what it tells. An error comes once for a match.
func (r *Reader) Open(ctx context.Context, match string) error {
	if r.src.ID == match {
		return nil
	}
	r.src, r.seats, r.row = Source{ID: match, teams: r.src.teams[:0]}, r.seats[:0], r.row[:0]
	raw, err := r.Payload(ctx, match)
	if err == nil {
		err = r.src.Read(raw)
	}
	if err == nil {
		r.row, err = GameTable.Pick(raw, r.row)
	}
	if err == nil {
		r.seats, err = SeatTable.Pick(raw, r.seats)
	}
	if err == nil || errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	r.src.Game, r.seats = nil, r.seats[:0]
	return fmt.Errorf("the payload of %s %w", match, err)
}

// Whole reports whether the payload of the match that is open could be had.
func (r *Reader) Whole() bool { return r.src.Game != nil }

// GameRow is its row of GameTable, until the next call.
func (r *Reader) GameRow() []riot.Value {
	if r.src.Game == nil {
		r.row = append(r.row[:0], make([]riot.Value, len(GameTable.Columns))...)
	}
	GameTable.Fill(&r.src, r.row)
	return r.row
}

// Seats is how many seats it tells of.
func (r *Reader) Seats() int { return len(r.seats) / len(SeatTable.Columns) }

// SeatRow is the row of a seat of the match that is open, until the next call.
func (r *Reader) SeatRow(seat *engine.SeatRow) []riot.Value {
	row := make([]riot.Value, len(SeatTable.Columns))
	if from := seat.Index * len(row); seat.Index >= 0 && from+len(row) <= len(r.seats) {
		row = r.seats[from:][:len(row)]
	}
	r.src.Seat = seat
	SeatTable.Fill(&r.src, row)
	return row
}
