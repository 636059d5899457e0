package storage

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/farsight-console/farsight/engine/league"
)

// scrub takes whoever is forgotten out of blobs that tell of many: the last calls, what led to a 429,
// what speaks for an alert.
type scrub struct {
	words  map[string]bool // ids, whole: of the account, its PUUIDs, its matches
	riotID string          // folded
}

// shownPUUID is how much of a PUUID stands in the record of a call: "abcdefgh…".
const shownPUUID = 8

// newScrub names an account, and the matches that go with it.
func newScrub(a league.Account, matches []string) scrub {
	s := scrub{words: map[string]bool{a.ID: true}, riotID: fold(a.GameName) + "#" + fold(a.TagLine)}
	for _, puuid := range puuidsOf(a) {
		s.words[puuid], s.words[puuid[:min(len(puuid), shownPUUID)]] = true, true
	}
	for _, m := range matches {
		s.words[m] = true
	}
	return s
}

// blob empties each text of a JSON blob that names them; ok is false when none does, or it is no JSON.
func (s scrub) blob(blob []byte) (clean []byte, ok bool) {
	d := json.NewDecoder(bytes.NewReader(blob))
	d.UseNumber() // durations have more digits than a float
	var v any
	if d.Decode(&v) != nil {
		return blob, false
	}
	if v, ok = s.value(v); !ok {
		return blob, false
	}
	clean, err := json.Marshal(v)
	return clean, err == nil
}

// value is a value of the blob without what names them: a text becomes empty, a name of an object
// goes with its value, and all else stays as it is, so that whoever reads the blob later finds its
// form.
func (s scrub) value(v any) (_ any, found bool) {
	switch v := v.(type) {
	case string:
		if s.names(v) {
			return "", true
		}
	case []any:
		for i := range v {
			clean, is := s.value(v[i])
			v[i], found = clean, found || is
		}
	case map[string]any:
		for name := range v {
			if s.names(name) {
				delete(v, name)
				found = true
				continue
			}
			clean, is := s.value(v[name])
			v[name], found = clean, found || is
		}
	}
	return v, found
}

// names reports whether a text has one of the words, or the Riot ID. An id within a longer word is
// another one.
func (s scrub) names(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' }) {
		if s.words[word] {
			return true
		}
	}
	return s.riotID != "#" && strings.Contains(fold(text), s.riotID) // a player of a collection has no name
}
