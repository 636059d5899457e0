package pager

import (
	"encoding/xml"
	"strings"
	"unicode"

	"github.com/farsight-console/farsight/engine/safe"
)

// maxSpoken bounds what is said, in runes: some twenty seconds.
const maxSpoken = 300

// said is what a call speaks.
func (n notice) said() string {
	if n.Own != nil {
		return n.Own.Text
	}
	return spoken(n.words())
}

// language is that of what a call speaks: alerts are told in English.
func (n notice) language() string {
	if n.Own != nil && n.Own.Language != "" {
		return n.Own.Language
	}
	return "en-US"
}

// twiml is the document that a call speaks, twice: who picks up misses the start. A language is of
// languageForm, which needs no escape.
func twiml(said, language string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(said)) // a strings.Builder takes everything
	say := `<Say language="` + language + `">` + b.String() + "</Say>"
	return "<Response><Pause length=\"1\"/>" + say + "<Pause length=\"1\"/>" + say + "</Response>"
}

// words are signs that a voice would leave out or spell.
var words = strings.NewReplacer("≥", " at least ", ">", " above ", "<", " below ", "%", " percent", "_", " ",
	"—", "unknown", "/", " ")

// spoken leaves what can be said of a text: letters, digits and the stops of a
// sentence. What an alert is about may be named by strangers.
func spoken(text string) string {
	keep := func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(".,:;-' ", r) {
			return r
		}
		return ' '
	}
	flat := strings.Join(strings.Fields(strings.Map(keep, words.Replace(safe.Text(text)))), " ")
	if r := []rune(flat); len(r) > maxSpoken {
		return string(r[:maxSpoken])
	}
	return flat
}
