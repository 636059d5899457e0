package safe

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns doc, an encoded JSON document, with every dangerous rune
// inside its strings as \uXXXX. The document means the same to a program and
// is harmless to a terminal. A document without such runes is returned as is.
func JSON(doc []byte) []byte {
	at := firstUnsafe(doc)
	if at == len(doc) {
		return doc
	}
	out := append(make([]byte, 0, len(doc)+64), doc[:at]...)
	for rest := doc[at:]; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			out = append(out, `\ufffd`...)
		case escapes(r):
			out = appendEscape(out, r)
		default:
			out = append(out, rest[:n]...)
		}
		rest = rest[n:]
	}
	return out
}

// firstUnsafe returns the offset of the first rune to escape.
func firstUnsafe(doc []byte) int {
	for i := 0; i < len(doc); {
		if c := doc[i]; c >= 0x20 && c < 0x7f || c == '\n' || c == '\r' || c == '\t' {
			i++
			continue
		}
		r, n := utf8.DecodeRune(doc[i:])
		if r == utf8.RuneError && n == 1 || escapes(r) {
			return i
		}
		i += n
	}
	return len(doc)
}

// escapes reports whether r is written as \uXXXX. White space between the
// tokens of a document is not; inside of a string it is escaped already.
func escapes(r rune) bool {
	return r != '\n' && r != '\r' && r != '\t' && dangerous(r)
}

func appendEscape(out []byte, r rune) []byte {
	if r < 0x10000 {
		return fmt.Appendf(out, `\u%04x`, r)
	}
	hi, lo := utf16.EncodeRune(r)
	return fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
}

// CSV cleans s for a cell that a spreadsheet may open: text that would start
// a formula gets a leading apostrophe, and so does text that begins with one,
// so that a reader gets all of them back by taking one away. Plain numbers and
// Riot's ids stay as they are. Quoting commas is left to encoding/csv.
func CSV(s string) string {
	s = Letters(s)
	if strings.HasPrefix(s, "'") || isFormula(strings.TrimLeft(s, " ")) && !isNumber(s) && !isID(s) {
		return "'" + s
	}
	return s
}

// leastID is less than any id of Riot's has, and more than anybody can choose: a
// Riot ID is at most 22 characters. PUUIDs have 78, others 47 and more.
const leastID = 40

// isID knows Riot's ids, of which one in 64 begins with a hyphen. Their letters
// make no formula that does anything.
func isID(s string) bool {
	return len(s) >= leastID && strings.Trim(s,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// isFormula knows the full-width signs too: spreadsheets in East Asian
// locales read them as the narrow ones.
func isFormula(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return s != "" && strings.ContainsRune("=+-@＝＋－＠|%", first)
}

func isNumber(s string) bool {
	digits := strings.TrimLeft(s, "+-")
	return digits != "" && len(s)-len(digits) <= 1 && strings.Trim(digits, "0123456789.") == ""
}
