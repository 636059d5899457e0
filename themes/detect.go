package themes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
)

// DetectProfile tells how much colour a terminal has from its environment: what
// colorprofile reads of TERM, under four rules of our own. Any NO_COLOR means mono, and
// so does a DEC terminal (vt100, vt220), which has none. COLORTERM is believed inside
// tmux and screen as well: both hand it through and convert what they cannot show. A
// screen that does not say 256 in TERM was built with 16.
// getenv is os.Getenv or a session's own; tty says whether output goes to a
// terminal at all.
func DetectProfile(getenv func(string) string, tty bool) Profile {
	term := strings.ToLower(getenv("TERM"))
	colorterm := strings.ToLower(getenv("COLORTERM"))
	switch {
	case !tty, getenv("NO_COLOR") != "", term == "", term == "dumb", strings.HasPrefix(term, "vt1"), strings.HasPrefix(term, "vt2"):
		return Mono
	// GNU Screen passes on the COLORTERM of the terminal around it, and not its colours.
	case strings.HasPrefix(term, "screen") && !strings.Contains(term, "256"):
		return ANSI16
	case strings.HasPrefix(term, "screen"):
		return ANSI256
	case colorterm == "truecolor", colorterm == "24bit":
		return TrueColor
	}
	return colorprofile.Env([]string{"TERM=" + term, "WT_SESSION=" + getenv("WT_SESSION")})
}

// DetectASCII reports whether the Unicode table would be misdrawn: the Linux
// console, a locale that is not UTF-8, or one where ambiguous characters are
// two cells wide. A locale that is not set at all claims nothing: containers
// and ssh often drop it.
func DetectASCII(getenv func(string) string) bool {
	if term := getenv("TERM"); term == "linux" || term == "vt100" {
		return true
	}
	if wide := getenv("RUNEWIDTH_EASTASIAN"); wide == "1" {
		return true
	}
	return NotUTF8(getenv) != ""
}

// NotUTF8 gives the locale in force where it is set and is not UTF-8, as POSIX orders the variables; else "".
func NotUTF8(getenv func(string) string) string {
	locale := cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))
	if low := strings.ToLower(locale); strings.Contains(low, "utf-8") || strings.Contains(low, "utf8") {
		return ""
	}
	return locale
}

// withoutBraille are beginnings of TERM whose terminals draw with a font of their own
// that has no braille, however much else of Unicode.
var withoutBraille = []string{"putty", "cygwin", "msys", "eterm", "kterm", "rxvt", "fbterm", "jfbterm", "bterm", "teraterm", "mlterm-fb"}

// detectBlocks reports whether braille would come out as boxes: terminals that bring
// their own font. All others take the sign from another font when theirs has none.
func detectBlocks(getenv func(string) string) bool {
	term := strings.ToLower(strings.TrimPrefix(getenv("TERM"), "screen."))
	return !strings.HasPrefix(term, "rxvt-unicode") && slices.ContainsFunc(withoutBraille, func(name string) bool {
		return strings.HasPrefix(term, name)
	})
}
