package world

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// loadFixtures reads the index of a folder with matches/*.json and timelines/*.json.
func loadFixtures(dir string) ([]*Recording, error) {
	files, err := filepath.Glob(filepath.Join(dir, "matches", "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no recorded matches in %s: name a folder that holds matches/*.json", dir)
	}
	var all []*Recording
	for _, file := range files {
		rec, err := loadRecording(dir, file)
		if err != nil {
			return nil, err
		}
		all = append(all, rec)
	}
	return append(all, loneTimelines(dir, all)...), nil
}

func loadRecording(dir, file string) (*Recording, error) {
	id := strings.TrimSuffix(filepath.Base(file), ".json")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read recorded match: %w", err)
	}
	var m recordedInfo
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("recorded match %s is not a match: %w", file, err)
	}
	// The name is the id, since the body of an aborted game does not tell its platform.
	if _, err := route.OfMatch(id); err != nil || len(m.Metadata.Participants) == 0 {
		return nil, fmt.Errorf("recorded match %s: its name must be a match id and it must have participants", file)
	}
	// The start, or for payloads of early years the lobby.
	at := slices.Max([]int64{m.Info.GameStartTimestamp, m.Info.GameCreation})
	if at == 0 {
		at = m.Info.GameEndTimestamp // an aborted game
	}
	rec := &Recording{id: id, match: file, at: time.UnixMilli(at), queue: m.Info.QueueID, puuid: m.Metadata.Participants[0]}
	// Timelines of many recordings are missing: they are asked for, and answer 404.
	if path := filepath.Join(dir, "timelines", id+".json"); exists(path) {
		rec.timeline = path
	}
	return rec, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// loneTimelines are served to whoever asks by id, and listed nowhere: the match answers 404 while the
// timeline is there (developer-relations#627).
func loneTimelines(dir string, known []*Recording) []*Recording {
	files, _ := filepath.Glob(filepath.Join(dir, "timelines", "*.json"))
	var lone []*Recording
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".json")
		if _, err := route.OfMatch(id); err != nil || slices.ContainsFunc(known, func(r *Recording) bool { return r.id == id }) {
			continue
		}
		lone = append(lone, &Recording{id: id, timeline: file})
	}
	return lone
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
