package sim

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

// recording is a recorded match, or a timeline whose match was not recorded.
type recording struct {
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

// loadFixtures reads the index of a folder with matches/*.json and timelines/*.json.
func loadFixtures(dir string) ([]*recording, error) {
	files, err := filepath.Glob(filepath.Join(dir, "matches", "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no recorded matches in %s: name a folder that holds matches/*.json", dir)
	}
	var all []*recording
	for _, file := range files {
		rec, err := loadRecording(dir, file)
		if err != nil {
			return nil, err
		}
		all = append(all, rec)
	}
	return append(all, loneTimelines(dir, all)...), nil
}

func loadRecording(dir, file string) (*recording, error) {
	id := strings.TrimSuffix(filepath.Base(file), ".json")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read recorded match: %w", err)
	}
	var m recordedInfo
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("recorded match %s is not a match: %w", file, err)
	}
	if _, err := route.OfMatch(id); err != nil || len(m.Metadata.Participants) == 0 {
		return nil, fmt.Errorf("recorded match %s: its name must be a match id and it must have participants", file)
	}
	at := slices.Max([]int64{m.Info.GameStartTimestamp, m.Info.GameCreation})
	if at == 0 {
		at = m.Info.GameEndTimestamp // an aborted game
	}
	rec := &recording{id: id, match: file, at: time.UnixMilli(at), queue: m.Info.QueueID, puuid: m.Metadata.Participants[0]}
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
func loneTimelines(dir string, known []*recording) []*recording {
	files, _ := filepath.Glob(filepath.Join(dir, "timelines", "*.json"))
	var lone []*recording
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".json")
		if _, err := route.OfMatch(id); err != nil || slices.ContainsFunc(known, func(r *recording) bool { return r.id == id }) {
			continue
		}
		lone = append(lone, &recording{id: id, timeline: file})
	}
	return lone
}

// recorders are the accounts that played the recorded games, one per region.
var recorders = map[route.Region]PlayerSpec{
	route.Americas: {RiotID: "Recorded#NA", Platform: route.NA1},
	route.Europe:   {RiotID: "Recorded#EUW", Platform: route.EUW1},
	route.Asia:     {RiotID: "Recorded#KR", Platform: route.KR},
	route.Sea:      {RiotID: "Recorded#SEA", Platform: route.SG2},
}

// addRecordings adds the recorded games and their accounts. Validate has read the folder before, so it
// can only fail if it changed since.
func (w *world) addRecordings(dir string) {
	all, err := loadFixtures(dir)
	if err != nil {
		panic("sim: " + err.Error())
	}
	for _, region := range route.Regions() {
		var own []*recording
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

func (w *world) addRecorder(spec PlayerSpec, own []*recording) {
	a := w.addAccount(spec)
	for _, rec := range own {
		platform, _ := route.OfMatch(rec.id)
		_, digits, _ := strings.Cut(rec.id, "_")
		number, _ := strconv.ParseUint(digits, 10, 64)
		g := &played{id: rec.id, number: number, platform: platform, at: rec.at, queue: rec.queue, missing: rec.match == "",
			recorded: rec, known: []member{{a.me, 0}}}
		w.games[g.id] = g
		if rec.match != "" {
			a.games = append(a.games, g)
		}
	}
	slices.SortStableFunc(a.games, newestFirst)
}

// replay serves a recorded payload with our account in the place of the first participant: PUUIDs have
// one length, so nothing else changes.
func (s *Sim) replay(c *call, g *played, timeline bool) *answer {
	file := g.recorded.match
	if timeline {
		file = g.recorded.timeline
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return statusAnswer(404, "Data not found - match file not found")
	}
	if old := g.recorded.puuid; old != "" {
		data = bytes.ReplaceAll(data, []byte(old), []byte(c.project.puuid(g.known[0].who)))
	}
	return s.bodyAnswer(c, file+c.project.name, func(b []byte) []byte { return append(b, data...) })
}
