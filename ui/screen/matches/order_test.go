package matches

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestV8i_WhatIsNotFetchedStandsLast: the others stay in the order in which they came.
func TestV8i_WhatIsNotFetchedStandsLast(t *testing.T) {
	p := New("").(*screen)
	for _, m := range []string{"9unfetched", "8success", "7unfetched", "6temporary_failure", "5outside_retention_window"} {
		p.read = append(p.read, engine.MatchRow{ID: m[:1], Status: m[1:]})
	}
	got := ""
	for _, m := range p.ofStatus() {
		got += m.ID
	}
	if got != "86597" || p.read[0].ID != "9" {
		t.Errorf("they stand %s", got)
	}
}

// TestWhatIsHiddenIsCountedInEnglish: of one it is not said that they are hidden.
func TestWhatIsHiddenIsCountedInEnglish(t *testing.T) {
	p := New("").(*screen)
	v := pagetest.View(&page.Data{})
	for n, want := range map[int]string{1: "1 cannot be had and is hidden, ", 2: "2 cannot be had and are hidden, "} {
		if p.hidden = n; !strings.HasPrefix(p.hiddenText(v), want) {
			t.Errorf("%q", p.hiddenText(v))
		}
	}
	m := engine.MatchRow{Timeline: "unfetched", FetchedAt: v.Now}
	if got := ansi.Strip(strings.Join(p.facts(v, &m, 100), "\n")); !strings.Contains(got, "no timeline") {
		t.Error(got)
	}
}

// TestV8i_TriesAndMonthsStandInTheirOrder, however many matches each of them has.
func TestV8i_TriesAndMonthsStandInTheirOrder(t *testing.T) {
	p, v := New("").(*screen), pagetest.View(&page.Data{})
	var came engine.MatchesPage
	for i, month := range []time.Month{8, 9, 9, 11, 10, 10, 10} {
		came.Matches = append(came.Matches, engine.MatchRow{ID: strconv.Itoa(i), Attempts: i/2 + 1, Played: time.Date(2026, month, 12, 12, 0, 0, 0, time.UTC)})
	}
	p.waitFor = engine.MatchesQuery{}
	p.Got(v, p.waitFor, came, nil)
	for i, want := range map[int]string{3: "1 try 2 tries 3 tries 4 tries", 6: "2026-11 2026-10 2026-09 2026-08"} {
		var got []string
		for _, bar := range p.sums[i] {
			got = append(got, bar.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", sums[i].title, got)
		}
	}
}
