package safe

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// ascii stands in for signs that have a near relative of the same width.
var ascii = map[rune]byte{
	'‹': '<', '›': '>', '«': '<', '»': '>', '“': '"', '”': '"', '‘': '\'', '’': '\'',
	'…': '~', '—': '-', '–': '-', '‐': '-', '‑': '-', '−': '-', '·': '.', '•': '*', '×': 'x',
	'⏎': '/', '□': '?', '\u00a0': ' ', '▸': '>', '→': '>', '←': '<', '↑': '^', '↓': 'v',
	'≥': '>', '≤': '<', '±': '~', '‖': '"', '│': '|', '─': '-', '█': '#', '░': '-',
	'ł': 'l', 'ø': 'o', 'đ': 'd', 'ß': 's', 'æ': 'a', 'œ': 'o', 'þ': 't', 'ð': 'd', 'ı': 'i',
}

// Letters of other alphabets, each as wide as what stands for it: from а, from α, and of kana, which are two
// cells wide, from ぁ on.
const (
	cyrillic = "abvgdejziyklmnoprstufhccss'y'eua"
	greek    = "abgdezetiklmnxoprsstufhpo"
	kana     = "ahaheeeeooooehehohohkagakigikugukegekogosazasizisuzusezesozotadatiditttudutedetodo" +
		"naninunenohabapahibipihubupuhebepehobopomamimumemoyayayuyuyoyorarirurerowawawiwewonnvukake"
)

// A Hangul syllable is its initial and its vowel; without an initial the vowel and its final, else the vowel alone.
const (
	initials = "gkndtrmbpss-jjcktph"
	vowels   = "aeaeoeoeoaeeouoeiuuii"
	alone    = "ahaeyayeeoehyeyeohwaweoeyooowowewiyueuuiee"
	syllable = '가'
	finals   = "-kkknnntlkmlllplmppttnttktpt"
)

// ASCII cleans s for terminals without Unicode: accents are dropped, letters of other alphabets are written
// with Latin ones, in two cells for one, and of those that cannot be it tells how many there are: 李小龍 is
// (3)---. It is as wide as Text(s).
func ASCII(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	lost, wide := 0, 0 // letters in a row for which there is nothing, and their cells
	for _, r := range Text(s) {
		if latin := inLatin(r); len(latin) == RuneWidth(r) {
			writeLost(&b, lost, wide)
			lost, wide = 0, 0
			b.WriteString(latin)
			continue
		}
		if w := RuneWidth(r); w > 0 { // else it is a mark on a letter
			lost, wide = lost+1, wide+w
		}
	}
	writeLost(&b, lost, wide)
	return b.String()
}

// writeLost tells how many letters there were, on as many cells as they had.
func writeLost(b *strings.Builder, n, wide int) {
	said := "(" + strconv.Itoa(n) + ")"
	if len(said) > wide {
		said = ""
	}
	fill := "-"
	if said == "" {
		fill = "?"
	}
	b.WriteString(said + strings.Repeat(fill, wide-len(said)))
}

// inLatin is a letter or sign in ASCII; "" = there is nothing for it.
func inLatin(r rune) string {
	if r < 0x7f {
		return string(r)
	}
	if c, ok := ascii[r]; ok {
		return string(c)
	}
	base := r
	for _, first := range norm.NFD.String(string(r)) {
		base = first
		break
	}
	low := unicode.ToLower(base)
	letter := ""
	switch {
	case r >= syllable && r <= '힣':
		n := int(r - syllable)
		initial, vowel, final := initials[n/len(finals)/len(vowels)], n/len(finals)%len(vowels), finals[n%len(finals)]
		switch {
		case initial != '-':
			return string([]byte{initial, vowels[vowel]})
		case final != '-':
			return string([]byte{vowels[vowel], final})
		}
		return alone[2*vowel : 2*vowel+2]
	case r >= 'ァ' && r <= 'ヶ':
		return inLatin(r - 'ァ' + 'ぁ')
	case r >= 'ぁ' && r <= 'ゖ':
		return kana[2*(r-'ぁ') : 2*(r-'ぁ')+2]
	case r == 'ー':
		return "--"
	case low >= 'а' && low <= 'я':
		letter = cyrillic[low-'а' : low-'а'+1]
	case low >= 'α' && low <= 'ω':
		letter = greek[low-'α' : low-'α'+1]
	case base < 0x7f && unicode.IsLetter(base):
		return string(base)
	default:
		if c, ok := ascii[low]; ok {
			letter = string(c)
		}
	}
	if low != base {
		letter = strings.ToUpper(letter)
	}
	return letter
}
