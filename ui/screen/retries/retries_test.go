package retries

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/part"
)

// TestListsNameASyncByItsPlayer: its key is of the id of an account, which says nothing.
func TestListsNameASyncByItsPlayer(t *testing.T) {
	j := engine.JobRow{Job: engine.Job{ID: "7", Key: "full:01M7", State: engine.Retryable}, Player: "Ana#EUW"}
	v := pagetest.View(&page.Data{Ready: true})
	for name, cells := range map[string][]part.Cell{"jobs": page.CellsOf(v, columns.JobList)(j, nil), "retries": page.CellsOf(v, New().(*Screen).Fields)(j, nil)} {
		if !slices.ContainsFunc(cells, func(c part.Cell) bool { return strings.HasPrefix(c.Text, "Ana#EUW") }) {
			t.Errorf("%s shows %+v", name, cells)
		}
	}
}

// TestHowLateARetryIsHasRoom: in the cells that its column has at least.
func TestHowLateARetryIsHasRoom(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	for late, want := range map[time.Duration]string{9 * time.Second: "+9 s", 68 * time.Second: "+1:08", 17*time.Minute + 3*time.Second: "+17m", 5 * time.Hour: "+5 h", 49 * time.Hour: "+2 d"} {
		got := lateCell(v, &engine.JobRow{Job: engine.Job{Due: v.Now}, LateBy: "app:europe 100/120s", Starts: v.Now.Add(late)}).Text
		if got != want || len(got) > 5 {
			t.Errorf("%v: %q, want %q", late, got, want)
		}
	}
}

// TestErrorsWithoutARowAreAddedUpOnce: in the last row but one, with the key that retries a class
// below it. Nothing is told of no errors.
func TestErrorsWithoutARowAreAddedUpOnce(t *testing.T) {
	const h = 5
	v := pagetest.View(&page.Data{Ready: true})
	for n, want := range map[int]string{4: "", 5: "2 others", 8: "5 others"} {
		p := New().(*Screen)
		p.sum.errors = map[string]int{}
		for i := range n {
			word := "50" + strconv.Itoa(i)
			p.sum.errors[word], p.sum.words = 1, append(p.sum.words, word)
		}
		p.Shown = make([]*engine.JobRow, n)
		text := ansi.Strip(strings.Join(p.byError(v, 40, h).Rows, "\n"))
		if !strings.Contains(text, want) || strings.Contains(text, "0 others") || !strings.Contains(text, "retries a class") {
			t.Errorf("%d errors on %d rows:\n%s", n, h, text)
		}
	}
}

// TestWhatALateRetryWaitsForIsNamedInWords: its window, as everywhere.
func TestWhatALateRetryWaitsForIsNamedInWords(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	j := engine.JobRow{LateBy: "app:europe 100/120s", Starts: v.Now.Truncate(startsRound)}
	if got := startsCell(v, j).Text; !strings.HasSuffix(got, ", for the 2 min window") {
		t.Error(got)
	}
}

// TestARetryOfThisSecondGoesNow: not in 0:00.
func TestARetryOfThisSecondGoesNow(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	for left, want := range map[time.Duration]string{time.Second / 2: "1 wait, the next goes now", 4 * time.Second: "1 wait, the next goes in 0:04", -time.Second: "1 wait"} {
		p := New().(*Screen)
		p.Shown = []*engine.JobRow{{Job: engine.Job{State: engine.Retryable, Due: v.Beat().Add(left)}}}
		if got := ansi.Strip(p.note(v)); got != want {
			t.Errorf("%v: %q, want %q", left, got, want)
		}
	}
}
