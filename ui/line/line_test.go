package line

import (
	"testing"

	"github.com/farsight-console/farsight/ui/page"
)

func TestRiotIDAndPlatform(t *testing.T) {
	for text, want := range map[string]string{
		"Blue Heron#KR1 kr":  "Blue Heron#KR1/kr",
		" 카인#KR1   KR ":      "카인#KR1/kr",
		"a#b#C1 euw1":        "a#b#C1/euw1",
		"no tag":             "",
		"#KR1 kr":            "",
		"Name#TAG":           "",
		"Name#TAG euw1 more": "",
		"":                   "",
	} {
		id, platform, wrong := riotID(&page.Data{}, text)
		got := ""
		if wrong == "" {
			got = id + "/" + platform
		}
		if got != want {
			t.Errorf("%q gave %q (%s), want %q", text, got, wrong, want)
		}
	}
}
