package storage

import (
	"testing"

	"github.com/farsight-console/farsight/engine/league"
)

// What names the account goes, and nothing else does, to the last digit.
func TestScrub(t *testing.T) {
	a := league.Account{ID: "01JGONE", GameName: "Ana Bel", TagLine: "EUW", PUUIDs: map[string]string{"dev": "abcdefgh-0123"}}
	s := newScrub(a, []string{"EUW1_12"})
	for blob, want := range map[string]string{
		`[{"target":"ANA bel#euw","seq":9007199254740993}]`:  `[{"seq":9007199254740993,"target":""}]`,
		`["abcdefgh… +100","abcdefghi","EUW1_123"]`:          `["","abcdefghi","EUW1_123"]`,
		`{"text":"europe match-v5.match EUW1_12: 404"}`:      `{"text":""}`,
		`{"by":{"01JGONE":3,"01JSTAYS":4},"full:01JGONE":1}`: `{"by":{"01JSTAYS":4}}`,
		`{"target":"abcdefgh-0123"}`:                         `{"target":""}`,
		`{"target":"EUW1_13"}`:                               "",
		`no JSON of 01JGONE`:                                 "",
	} {
		got, ok := s.blob([]byte(blob))
		if ok != (want != "") || ok && string(got) != want || !ok && string(got) != blob {
			t.Errorf("%s: %s, %t", blob, got, ok)
		}
	}
}
