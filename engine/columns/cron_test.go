package columns

import "testing"

func TestCronWordsSayTheUsualOnes(t *testing.T) {
	for expr, want := range map[string]string{
		"0 */1 * * *":  "each hour at :00",
		"17 * * * *":   "each hour at :17",
		"5 */2 * * *":  "every 2 hours at :05",
		"0 3 * * *":    "each day at 03:00",
		"0 4 * * 1":    "each Monday at 04:00",
		"30 21 * * 7":  "each Sunday at 21:30",
		"*/5 * * * *":  "every 5 minutes",
		"0 4 1 * *":    "",
		"0 4 * 2 *":    "",
		"0 4 * * 1-5":  "",
		"*/5 * * * 1":  "",
		"0,30 * * * *": "",
		"0 25 * * *":   "",
		"@every 24h":   "every 24h",
		"@daily":       "",
		"":             "",
	} {
		if got := cronWords(expr); got != want {
			t.Errorf("%q in words is %q, want %q", expr, got, want)
		}
	}
}
