package columns

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// What is told of an account's matches adds up to what was listed.
func TestB6_CountsOfAnAccountAddUp(t *testing.T) {
	p := engine.Progress{Total: 127, Stored: 64, Had: 32, Failed: 16, TooOld: 8, Unaskable: 4, Cancelled: 2, Open: 1}
	row := account{Matches: p}
	sum := p.Open + p.Stored + p.Had
	for _, name := range []string{"failed", "too_old", "unaskable", "cancelled"} {
		c := Accounts.Pick(name)[0]
		n, ok := c.JSON(&row).(int)
		if !ok {
			t.Fatalf("%s is %v", name, c.JSON(&row))
		}
		sum += n
	}
	if sum != p.Total || p.Done()+p.Cancelled+p.Open != p.Total {
		t.Errorf("the counts add up to %d and %d, listed are %d", sum, p.Done()+p.Cancelled+p.Open, p.Total)
	}
}
