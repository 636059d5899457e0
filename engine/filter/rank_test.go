package filter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine/filter"
)

// levels is a schema whose words have an order, and one whose words have none.
var levels = filter.New(filter.Options{Free: []string{"level"}},
	filter.Field[int]{Name: "level", Kind: filter.Enum, Ranks: true, Words: levelWords, Value: levelOf},
	filter.Field[int]{Name: "kind", Kind: filter.Enum, Words: levelWords, Value: levelOf},
)

var levelWords = []filter.Word{{Name: "debug", Bits: 1}, {Name: "info", Bits: 2}, {Name: "warn", Aliases: []string{"wrn"}, Bits: 4}, {Name: "error", Bits: 8}}

func levelOf(row *int, _ time.Time) filter.Value { return filter.Bits(1 << *row) }

func TestWordsInOrderHaveMoreAndLess(t *testing.T) {
	rows := []int{0, 1, 2, 3}
	name := func(i *int) string { return levelWords[*i].Name[:1] }
	for query, want := range map[string]string{
		"level>=warn": "w e", "level>warn": "e", "level<=info": "d i", "level<info": "d", "level>=wrn": "w e",
		"level:warn": "w", "level:warn,debug": "d w", "-level>=warn": "d i", "level>=w": "w e", "level>error": "",
	} {
		if got := fitting(t, levels, query, rows, name); got != want {
			t.Errorf("%s gives %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"level>=loud", "kind>=warn"} {
		if _, err := filter.Parse(query, levels); err == nil {
			t.Errorf("%s was taken", query)
		}
	}
	f, err := filter.Parse("level>=wrn", levels)
	if err != nil || f.String() != "level>=warn" {
		t.Errorf("level>=wrn is written %q, %v", f.String(), err)
	}
}

func TestOrJoinsTwoSides(t *testing.T) {
	rows := []int{0, 1, 2, 3}
	name := func(i *int) string { return levelWords[*i].Name[:1] }
	for query, want := range map[string]string{
		"level:debug or level:error": "d e", "level>debug level<error or level:debug": "d i w", "level:debug OR level:info or level:warn": "d i w",
		"-level:warn or level:warn": "d i w e", `level:debug or "or"`: "d e", // error has it
	} {
		if got := fitting(t, levels, query, rows, name); got != want {
			t.Errorf("%s gives %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"or", "level:debug or", "or level:debug", "level:debug or or level:warn"} {
		if _, err := filter.Parse(query, levels); err == nil || !strings.Contains(err.Error(), "or joins two sides") {
			t.Errorf("%s: %v", query, err)
		}
	}
	for _, query := range []string{"(level:debug or level:error)", "level:debug -(level:error)", "level:(debug or error)", "level:error,(debug)"} {
		if _, err := filter.Parse(query, levels); err == nil || !strings.Contains(err.Error(), "a filter knows no parentheses") {
			t.Errorf("%s: %v", query, err)
		}
	}
	if f, err := filter.Parse(`"(debug" debug)`, levels); err != nil || f.String() != `"(debug" debug)` {
		t.Errorf("%s: %v", f, err)
	}
	f, err := filter.Parse(`level:debug level<warn or "OR"`, levels)
	if err != nil || f.String() != `level:debug level<warn or "OR"` {
		t.Errorf("%s: %v", f, err)
	}
}
