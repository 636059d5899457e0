package themes

import "strings"

// rich are fragments of TERM values of terminals with full colour.
var rich = []string{"direct", "truecolor", "24bit", "kitty", "ghostty", "alacritty", "wezterm", "foot", "contour"}

// DetectProfile tells how much colour a terminal has from its environment.
// getenv is os.Getenv or a session's own; tty says whether output goes to a
// terminal at all.
func DetectProfile(getenv func(string) string, tty bool) Profile {
	term := strings.ToLower(getenv("TERM"))
	switch {
	case !tty, getenv("NO_COLOR") != "", term == "", term == "dumb", strings.HasPrefix(term, "vt1"), strings.HasPrefix(term, "vt2"):
		return Mono
	case full(getenv), containsAny(term, rich):
		return TrueColor
	case strings.Contains(term, "256"):
		return ANSI256
	}
	return ANSI16
}

func full(getenv func(string) string) bool {
	c := strings.ToLower(getenv("COLORTERM"))
	return c == "truecolor" || c == "24bit" || getenv("WT_SESSION") != ""
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
	locale := strings.ToLower(first(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
