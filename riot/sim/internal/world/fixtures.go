package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// Recording is a recorded match, or a timeline whose match was not recorded.
type Recording struct {
	id              string
	match, timeline string // file names; empty: not recorded
	at              time.Time
	queue           int
	puuid           string // of the first participant, in whose place our account stands
}

// recordedInfo is what must be known of a recorded match to list it.
type recordedInfo struct {
	Metadata struct{ Participants []string }
	Info     struct {
		GameStartTimestamp, GameCreation, GameEndTimestamp int64
		QueueID                                            int
	}
}

// CheckRecordings says what is wrong with a folder of recordings.
func CheckRecordings(dir string) error {
	_, err := loadFixtures(dir)
	return err
}

// loadFixtures reads the index of a folder with matches/*.json and timelines/*.json. A timeline alone is served to
// whoever asks for its id, and listed nowhere: the match answers 404 while the timeline is there
// (developer-relations#627).
func loadFixtures(dir string) ([]*Recording, error) {
	byID := map[string]*Recording{}
	for _, kind := range []string{"matches", "timelines"} {
		files, _ := filepath.Glob(filepath.Join(dir, kind, "*.json"))
		for _, file := range files {
			id := strings.TrimSuffix(filepath.Base(file), ".json")
			if byID[id] == nil {
				byID[id] = &Recording{id: id}
			}
			if kind == "matches" {
				byID[id].match = file
			} else {
				byID[id].timeline = file
			}
		}
		if len(byID) == 0 {
			return nil, fmt.Errorf("no recorded matches in %s: name a folder that holds matches/*.json", dir)
		}
	}
	var all []*Recording
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		_, strange := route.OfMatch(id)
		if byID[id].match != "" {
			if err := byID[id].read(); err != nil {
				return nil, err
			}
		}
		if strange == nil {
			all = append(all, byID[id])
		}
	}
	return all, nil
}

// read takes from a recorded match what must be known to list it.
func (rec *Recording) read() error {
	data, err := os.ReadFile(rec.match)
	if err != nil {
		return fmt.Errorf("read recorded match: %w", err)
	}
	var m recordedInfo
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("recorded match %s is not a match: %w", rec.match, err)
	}
	// The name is the id, since the body of an aborted game does not tell its platform.
	if _, err := route.OfMatch(rec.id); err != nil || len(m.Metadata.Participants) == 0 {
		return fmt.Errorf("recorded match %s: its name must be a match id and it must have participants", rec.match)
	}
	// The start, or for payloads of early years the lobby.
	at := max(m.Info.GameStartTimestamp, m.Info.GameCreation)
	if at == 0 {
		at = m.Info.GameEndTimestamp // an aborted game
	}
	rec.at, rec.queue, rec.puuid = time.UnixMilli(at), m.Info.QueueID, m.Metadata.Participants[0]
	return nil
}

// recorders are the accounts that played the recorded games, one per region.
var recorders = map[route.Region]Spec{
	route.Americas: {RiotID: "Recorded#NA", Platform: route.NA1},
	route.Europe:   {RiotID: "Recorded#EUW", Platform: route.EUW1},
	route.Asia:     {RiotID: "Recorded#KR", Platform: route.KR},
	route.Sea:      {RiotID: "Recorded#SEA", Platform: route.SG2},
}

// AddRecordings adds the recorded games and their accounts. Validate has read the folder before, so it
// can only fail if it changed since.
func (w *World) AddRecordings(dir string) {
	all, err := loadFixtures(dir)
	if err != nil {
		panic("sim: " + err.Error())
	}
	for _, region := range route.Regions() {
		var own []*Recording
		for _, rec := range all {
			if r, _ := route.MatchRegion(rec.id); r == region {
				own = append(own, rec)
			}
		}
		if len(own) > 0 {
			w.addRecorder(recorders[region], own)
		}
	}
}

func (w *World) addRecorder(spec Spec, own []*Recording) {
	// An account without games of its own: Matches is 0.
	a := w.addAccount(spec)
	for _, rec := range own {
		// loadRecording has checked the id: "EUW1_7261321891".
		platform, _ := route.OfMatch(rec.id)
		_, digits, _ := strings.Cut(rec.id, "_")
		number, _ := strconv.ParseUint(digits, 10, 64)
		g := &Game{ID: rec.id, number: number, Platform: platform, At: rec.at, Queue: rec.queue, Missing: rec.match == "",
			Recorded: rec, known: []member{{a.Me, 0}}}
		w.Games[g.ID] = g
		if rec.match != "" {
			a.Games = append(a.Games, g)
		}
	}
	slices.SortStableFunc(a.Games, newestFirst)
}

// Replay is a recorded payload with our account in the place of the first participant: PUUIDs have one length, so
// nothing else changes. false = it was not recorded.
func (r *Recording) Replay(g *Game, timeline bool, pr *Project) ([]byte, bool) {
	file := r.match
	if timeline {
		file = r.timeline
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, false
	}
	// A timeline alone names nobody whom our accounts could stand for.
	if r.puuid != "" {
		data = bytes.ReplaceAll(data, []byte(r.puuid), []byte(pr.PUUID(g.known[0].who)))
	}
	return data, true
}
