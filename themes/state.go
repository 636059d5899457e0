package themes

import "strings"

// State is how a state word is drawn: sign and token. The word itself always
// stands beside the sign.
type State struct {
	Glyph string
	Token Token
}

// sign is how a state is drawn.
type sign struct {
	unicode, ascii string
	token          Token
	words          []string
}

var signs = []sign{
	{"○", "o", Line, []string{"AVAILABLE", "QUEUED", "UNFETCHED", "WAITING"}},
	{"◇", "@", Off, []string{"SCHEDULED", "PENDING", "NEVER", "BROWSE", "STOPPING"}},
	{"●", "*", Run, []string{"RUNNING", "SYNCING", "OPEN", "LIVE"}},
	{"≡", "=", Held, []string{"HELD"}},
	{"↻", "~", Retry, []string{"RETRYABLE", "TEMPORARY FAILURE"}},
	{"✓", "+", OK, []string{"COMPLETED", "STORED", "DONE", "OK", "SUCCESS"}},
	{"✗", "x", Err, []string{"DISCARDED", "GAVE UP", "FAILED", "PERMANENTLY UNFETCHABLE", "ERR", "ERROR", "NO KEY", "API DOWN", "DOWN", "DISCONNECTED", "BROKEN"}},
	{"⊘", "-", Off, []string{"CANCELLED"}},
	{"∅", "0", Off, []string{"TOO OLD", "OUTSIDE RETENTION WINDOW"}},
	{"‖", `"`, Held, []string{"PAUSED", "FROZEN", "CAPPED", "SILENCED", "ACKNOWLEDGED"}},
	{"▲", "!", Warn, []string{"WARN", "FIRING", "DEGRADED", "NEARLY FULL", "BACKING OFF", "SUSPECT", "PARTIAL", "INCOMPLETE"}},
	{"△", "?", Warn, []string{"PENDING ALERT"}},
}

// other is a word the table does not know yet.
var other = sign{"◆", "#", Text, nil}

var signOf = func() map[string]*sign {
	m := make(map[string]*sign)
	for i := range signs {
		for _, word := range signs[i].words {
			m[word] = &signs[i]
		}
	}
	return m
}()

// State returns the sign of a state word: "retryable", "RETRYABLE" and
// "gave_up" are found alike; an unknown word gets ◆.
func (th *Theme) State(word string) State {
	s, ok := signOf[word]
	if !ok {
		s, ok = signOf[strings.ToUpper(strings.ReplaceAll(word, "_", " "))]
	}
	if !ok {
		s = &other
	}
	if th.Glyphs.ASCII {
		return State{s.ascii, s.token}
	}
	return State{s.unicode, s.token}
}
