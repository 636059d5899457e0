package pager

import (
	"encoding/xml"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// Whatever somebody asks to be said, the document says just that, twice, and holds no
// other element.
func TestOwnTextsStayText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked := rapid.OneOf(rapid.String(), rapid.StringMatching(`(</Say>|<Dial>|&#x0a;|[a-z<>&"' ]){0,9}`)).Draw(t, "text")
		text := speakable(asked)
		var doc struct {
			Say   []string   `xml:"Say"`
			Pause []struct{} `xml:"Pause"`
			Other []struct {
				XMLName xml.Name
			} `xml:",any"`
		}
		if err := xml.Unmarshal([]byte(twiml(text, "en-US")), &doc); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if len(doc.Say) != 2 || doc.Say[0] != text || doc.Say[1] != text || len(doc.Other) > 0 {
			t.Errorf("%q is said as %q, with %v", text, doc.Say, doc.Other)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q holds what nobody sees", text)
		}
	})
}
