package charts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV7u_NoLineOfTheCallsStaysEmpty, also where another process leads from some time on, whose numbers are others, and
// a call more takes but one line.
func TestV7u_NoLineOfTheCallsStaysEmpty(t *testing.T) {
	var calls []engine.CallRow
	for i, seq := range []uint64{3, 4, 5, 6, 7, 8, 9, 5003, 5004, 5005} {
		calls = append(calls, engine.CallRow{Seq: seq, At: uitest.Noon, Method: "match-v5.match", Target: "KR_" + string(rune('a'+i)), Status: 200})
	}
	v, before, lines := pagetest.View(&page.Data{Ready: true}), []string(nil), CallsInPlace{}
	for n := 8; n <= len(calls); n++ {
		v.Now = v.Now.Add(time.Second)
		rows := lines.Draw(v, calls[:n], 80, 7)
		moved := 0
		for y := range rows {
			rows[y] = strings.ReplaceAll(ansi.Strip(rows[y]), v.Theme.Glyphs.Crumb, " ")
			if rows[y] == "" {
				t.Errorf("of %d calls none stands on line %d", n, y)
			}
			if before != nil && rows[y] != before[y] {
				moved++
			}
		}
		if before != nil && moved != 1 {
			t.Errorf("call %d takes %d lines", n, moved)
		}
		before = rows
	}
}

// TestV7g_FewCallsASecondTakeALine: two at most, of those that were made the newest, but one that failed first; when
// no more are made the lines have the last of them.
func TestV7g_FewCallsASecondTakeALine(t *testing.T) {
	v, lines := pagetest.View(&page.Data{Ready: true}), CallsInPlace{}
	var calls []engine.CallRow
	make10 := func(from uint64) {
		for seq := from; seq < from+10; seq++ {
			calls = append(calls, engine.CallRow{Seq: seq, At: v.Now, Status: map[bool]int{true: 503, false: 200}[seq == 12]})
		}
		v.Now = v.Now.Add(time.Second)
	}
	stand := func() (seqs []uint64) {
		lines.Draw(v, calls, 80, 10)
		for _, c := range lines.On {
			seqs = append(seqs, c.Seq)
		}
		return seqs
	}
	make10(0)
	first := stand()
	for i := range calls { // as another connection may give them
		calls[i].At = calls[i].At.In(time.FixedZone("", 0))
	}
	v.Now = v.Now.Add(time.Second)
	if got := stand(); !slices.Equal(got, first) {
		t.Errorf("without a new call the lines have %v", got)
	}
	make10(10)
	if got, want := stand(), []uint64{12, 19, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(got, want) {
		t.Errorf("after ten more the lines have %v, not %v", got, want)
	}
	for range 4 {
		v.Now = v.Now.Add(time.Second)
		stand()
	}
	if got := stand(); slices.Min(got) != 10 {
		t.Errorf("they end with %v", got)
	}
}

// TestAListOfMatchesIsOfAPlayer: the id that it is asked for by says nothing to who looks.
func TestAListOfMatchesIsOfAPlayer(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Accounts: []engine.AccountRow{{ID: "a", RiotID: "Kestrel 2#P30"}}})
	for target, want := range map[string]string{"224NPKLs… +0": "Kestrel 2", "224NPKLs… +100": "Kestrel 2 from 100", "EUW1_6789157647": "EUW1_6789157647"} {
		if got := Wanted(v, &engine.CallRow{Target: target, Owner: "a"}).Text; got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
		if got := Wanted(v, &engine.CallRow{Target: target, Owner: "b"}).Text; got != page.BriefTarget(target) {
			t.Errorf("of nobody known: %q", got)
		}
	}
}
