package sim

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// These build JSON by appending: a match has 2,900 values and must cost less than its transfer.

func appendInt(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }

func appendBool(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

// appendFloat writes a float as Riot does: the shortest form, without an exponent for sizes that occur.
func appendFloat(b []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.AppendInt(b, int64(f), 10)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string. Only what JSON demands is escaped: hostile runes reach the client
// as Riot would send them.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		i++
	}
	return append(b, '"')
}

// appendKey writes `,"key":`, without the comma at the start of an object.
func appendKey(b []byte, key string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, key...)
	return append(b, '"', ':')
}

func intField(b []byte, key string, n int) []byte { return appendInt(appendKey(b, key), n) }

func textField(b []byte, key, s string) []byte { return appendString(appendKey(b, key), s) }

func boolField(b []byte, key string, v bool) []byte { return appendBool(appendKey(b, key), v) }
