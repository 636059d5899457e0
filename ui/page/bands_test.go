package page

import (
	"slices"
	"testing"
)

func TestBandsStayByTheirRank(t *testing.T) {
	all := []Band{{Least: 4, Most: 4, Keep: 1}, {Least: 3, Most: 3, Keep: 3}, {Least: 6, Most: 11, Keep: 2}, {Least: 5, Most: 9, Keep: 4}}
	for h, want := range map[int][]int{
		40: {4, 3, 11, 9}, 30: {4, 3, 11, 9}, 26: {4, 3, 11, 5}, 21: {4, 3, 6, 5}, 19: {4, 3, 7, 5}, 16: {4, 3, 7, 0}, 11: {4, 0, 6, 0}, 9: {4, 0, 0, 0}, 2: {0, 0, 0, 0},
	} {
		if got, _ := shareRows(h, all, true); !slices.Equal(got, want) {
			t.Errorf("%d rows are %v, want %v", h, got, want)
		}
	}
}
