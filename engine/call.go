package engine

// OpCall places a telephone call of a user's own, as Command.Call says: see CallAsk.
// Receipt.Job is its job; Joined says that the same was asked for before.
const OpCall Op = "call"

// CallAsk is a call of a user's own: one that no alert is behind.
type CallAsk struct {
	To  string `json:"to"`  // a number of the allow list: +4930123456
	Say string `json:"say"` // the text that is spoken
	// Language is that of the text, such as de-DE; "" = en-US, as alerts are told in.
	Language string `json:"language,omitempty"`
	// Key names the request, so that asking again calls nobody twice; "" = each is
	// another call.
	Key string `json:"idempotency_key,omitempty"`
}

// CutNumber shows the last digits of a telephone number: "…4567".
func CutNumber(n string) string {
	if len(n) <= 4 {
		return "…"
	}
	return "…" + n[len(n)-4:]
}
