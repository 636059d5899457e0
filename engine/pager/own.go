package pager

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
)

// ownArgs are the arguments of its job, which a notice reads.
type ownArgs struct {
	Own ownCall `json:"own"`
}

var (
	// numberForm is E.164: a plus sign, the country's code, at most 15 digits in all.
	numberForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`) })
	// languageForm is a language as BCP 47 writes it, with at most two parts behind it: es-419, cmn-Hans-CN.
	languageForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$`) })
	orderForm    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`) })
)

// IsNumber reports whether a text is a telephone number with its country: +4930123456.
func IsNumber(text string) bool { return numberForm().MatchString(text) }

// mark names a number without telling it to whoever does not know the account.
func (t *twilio) mark(number string) string {
	mac := hmac.New(sha256.New, []byte(t.opt.Account.value()))
	mac.Write([]byte("farsight number\x00" + number))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// allowed finds a number of the allow list by its mark.
func (t *twilio) allowed(mark string) (number string, ok bool) {
	i := slices.IndexFunc(t.opt.Allow, func(n string) bool { return t.mark(n) == mark })
	if i < 0 {
		return "", false
	}
	return t.opt.Allow[i], true
}

// lockOf lets a line ring once at a time, whoever calls it.
func (t *twilio) lockOf(number string) string {
	if i := slices.Index(t.opt.To, number); i >= 0 {
		return lineLock(i)
	}
	return "line:" + t.mark(number)
}

// Place places a call of a user's own: its job goes the way of an alert's, in a queue
// of its own, and is tried again by the same table. A request with a key that was
// asked for before gives that call; dry only says what would be done. Errors
// are *engine.Problem or of the store; that of a day that is used up comes with a
// receipt whose Due is the end of the day.
func (p *Pager) Place(ctx context.Context, ask engine.CallAsk, by engine.Actor, dry bool) (engine.Receipt, error) {
	t := p.set.Load().twilio
	text := speakable(ask.Say)
	if err := t.check(ask, text); err != nil {
		return engine.Receipt{}, err
	}
	own := ownCall{Number: t.mark(ask.To), Digits: engine.CutNumber(ask.To), Text: text, Language: ask.Language, By: by.User}
	what := ask.To + "\x00" + text
	if ask.Language != "" {
		what += "\x00" + ask.Language
	}
	o := order{Key: ask.Key, Mark: t.mark(what)}
	if dry {
		return p.book.try(ctx, o, t.opt.PerDay, fmt.Sprintf("call %s and say %q", own.Digits, text))
	}
	id := ask.Key
	if id == "" {
		id = rand.Text()
	}
	return p.book.place(ctx, o, t.opt.PerDay, own.Digits, engine.Spec{
		Kind: kindCall, Queue: QueueCalls, Policy: engine.PolicyCall, Args: encode(ownArgs{own}),
		Key: "call:" + id, Lock: t.lockOf(ask.To), Priority: engine.PriorityNormal,
	})
}

// check says in one sentence why a call cannot be placed.
func (t *twilio) check(ask engine.CallAsk, text string) error {
	switch {
	case t == nil || len(t.opt.Allow) == 0:
		return engine.Problemf(engine.ErrRefused, "name the numbers that may be called in call_numbers of [pager] in config.toml", "calls of your own are switched off")
	case !IsNumber(ask.To):
		return engine.Problemf(engine.ErrInvalid, "write it with its country and without blanks, such as +4930123456",
			"this is no telephone number")
	case !slices.Contains(t.opt.Allow, ask.To):
		return engine.Problemf(engine.ErrRefused, "add it to call_numbers of [pager] in config.toml",
			"%s is not among the numbers that may be called", engine.CutNumber(ask.To))
	case ask.Say == "":
		return engine.Problemf(engine.ErrInvalid, "say it in a sentence or two", "there is no text to say")
	case text == "":
		return engine.Problemf(engine.ErrInvalid, "use letters or digits",
			"the text holds nothing that a voice can say")
	case utf8.RuneCountInString(text) > maxSpoken:
		return engine.Problemf(engine.ErrInvalid, fmt.Sprintf("say it in %d", maxSpoken), "the text has %d characters",
			utf8.RuneCountInString(text))
	case ask.Language != "" && !languageForm().MatchString(ask.Language):
		return engine.Problemf(engine.ErrInvalid, "write it as en-US or de-DE", "the language of the text cannot be read")
	case ask.Key != "" && !orderForm().MatchString(ask.Key):
		return engine.Problemf(engine.ErrInvalid, "use 1 to 64 letters, digits, dots, dashes and underscores",
			"the idempotency key cannot be used")
	}
	return nil
}

// speakable is a user's text on one line; "" when nothing of it can be said. Other than
// an alert's, whose parts strangers may have named, nothing of it is left out but what
// nobody sees.
func speakable(text string) string {
	visible := func(r rune) rune {
		if unicode.IsPrint(r) && r != utf8.RuneError {
			return r
		}
		return ' '
	}
	line := strings.Join(strings.Fields(strings.Map(visible, text)), " ")
	if !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return line
}

// dailyCap is how a call ends whose day has no call left.
var dailyCap = engine.CallEnd{Status: engine.CallFailed, Reason: "daily-cap"}.Class()

// mayCallAgain bounds what is called by hand: a call that is forced counts as another one of the day, once
// there is one left.
func (l line) mayCallAgain(ctx context.Context) (o engine.Outcome, ok bool) {
	j := l.run.Job
	if l.notice.Own == nil || j.Round <= 1 || j.Tries > 1 && j.Class != dailyCap || l.ledger.of(j.ID).Attempt == j.Attempts {
		return o, true
	}
	err := l.book.again(ctx, l.twilio.opt.PerDay)
	switch {
	case errors.Is(err, engine.ErrUsedUp):
		return engine.Fail(err).As(dailyCap), false
	case err != nil:
		return l.failed(ctx, err), false
	}
	return o, true
}

// maxSpoken bounds what is said, in runes: some twenty seconds.
const maxSpoken = 300

// spokenText is what a call speaks.
func (n notice) spokenText() string {
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
