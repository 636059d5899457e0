package api

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/regular"
)

// TokenName is the name of the token's file in a data directory.
const TokenName = "http.token"

const (
	minToken = 32 // characters
	maxToken = 512
)

// Token is what a program shows to be let in. It prints as a mask.
type Token struct{ hash [sha256.Size]byte }

// String and GoString keep a token out of logs, whatever prints it.
func (Token) String() string { return "****" }

// GoString gives the mask for %#v, too.
func (Token) GoString() string { return "****" }

// is compares without telling by its time how much of it was right. Both are hashed first, since the
// comparison tells texts of other lengths at once.
func (t Token) is(shown string) bool {
	h := sha256.Sum256([]byte(shown))
	return subtle.ConstantTimeCompare(h[:], t.hash[:]) == 1
}

// LoadToken reads the token of a data directory, or makes a random one. The file is
// its owner's alone; one that others can read is refused, for they may have.
func LoadToken(dir string) (Token, error) {
	path := filepath.Join(dir, TokenName)
	text, err := readToken(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = makeToken(path)
	}
	if err != nil {
		return Token{}, err
	}
	return Token{sha256.Sum256([]byte(text))}, nil
}

// readToken reads a token's file without following a link and without waiting at a pipe. Errors say
// what to do with the file; fs.ErrNotExist when there is none yet.
func readToken(path string) (string, error) {
	f, info, err := regular.Open(path, regular.NoFollow)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return "", fmt.Errorf("%s is a symbolic link: delete it, a new token is made at the next start", path)
	case errors.Is(err, regular.ErrOther):
		return "", fmt.Errorf("%s is no file: move it away, a new token is made at the next start", path)
	case err != nil:
		return "", fmt.Errorf("read the token for programs: %w", err)
	}
	defer f.Close()
	// What others could read may have been read: to narrow the mode would not make it secret again.
	if regular.Others(info) != 0 {
		return "", fmt.Errorf("others can read %s (mode %04o): delete it, a new token is made at the next start",
			path, info.Mode().Perm())
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxToken+2))
	if err != nil {
		return "", fmt.Errorf("read the token for programs: %w", err)
	}
	text := strings.TrimSpace(string(raw))
	if !printable(text) {
		return "", fmt.Errorf("%s holds no token of %d to %d printable characters: delete it, "+
			"a new one is made at the next start", path, minToken, maxToken)
	}
	return text, nil
}

// printable reports whether a text may be a token.
func printable(text string) bool {
	return len(text) >= minToken && len(text) <= maxToken &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// makeToken writes a random token, some 260 bits, to a file that must not be there yet. A file that
// could not be written to its end is removed: half a token would be refused at each start.
func makeToken(path string) (string, error) {
	text := rand.Text() + rand.Text()
	// Exclusively: of two that start at once one makes the token and the other is told.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // which follows no link
	if err != nil {
		return "", fmt.Errorf("make the token for programs: %w", err)
	}
	if err = regular.Private(path); err == nil {
		_, err = f.WriteString(text + "\n")
	}
	if err = errors.Join(err, f.Sync(), f.Close(), regular.SyncDir(filepath.Dir(path))); err != nil {
		return "", errors.Join(fmt.Errorf("make the token for programs: %w", err), os.Remove(path))
	}
	return text, nil
}

// Gate is the Who of a listener for programs. Its token can be replaced while it
// serves, for open connections too.
type Gate struct{ now atomic.Pointer[Token] }

// NewGate makes a gate with its first token.
func NewGate(t Token) *Gate {
	g := &Gate{}
	g.now.Store(&t)
	return g
}

// Set replaces the token; changed is false when it is the same one.
func (g *Gate) Set(t Token) (changed bool) { return g.now.Swap(&t).hash != t.hash }

// Who lets in whoever shows the token of now.
func (g *Gate) Who(r *http.Request) (Caller, error) { return g.now.Load().Who(r) }

// Pass makes a token for a reader of events of now: see Token.Pass.
func (g *Gate) Pass(until time.Time) string { return g.now.Load().Pass(until) }

// Pass makes a token by which a page in a browser reads events until an instant: a browser's own readers of
// streams send no header, and what stands in an address is kept in histories and logs. It is signed with
// the token, and nothing is stored: with that it ends, too.
func (t Token) Pass(until time.Time) string {
	stamp := strconv.FormatInt(until.Unix(), 10)
	mac := hmac.New(sha256.New, t.hash[:])
	mac.Write([]byte("events until " + stamp))
	return stamp + "." + hex.EncodeToString(mac.Sum(nil))
}

// passes reports whether a request for events shows a pass that holds.
func (t Token) passes(r *http.Request) bool {
	shown := r.URL.Query().Get(paramPass.Name)
	stamp, _, _ := strings.Cut(shown, ".")
	until, err := strconv.ParseInt(stamp, 10, 64)
	return err == nil && r.URL.Path == pathEvents && time.Now().Before(time.Unix(until, 0)) &&
		hmac.Equal([]byte(shown), []byte(t.Pass(time.Unix(until, 0))))
}

// Who lets in whoever shows the token: they may do everything, since they can read
// the owner's files. It never is Own: see mayNotName. Who shows a pass may read events.
func (t Token) Who(r *http.Request) (Caller, error) {
	host, port, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	c := Caller{Actor: engine.Actor{User: "token", Session: "port " + port, Via: "http"}, Where: host}
	if t.passes(r) {
		c.Role = Viewer
		return c, nil
	}
	kind, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case kind == "" && r.URL.Path == pathEvents && r.URL.Query().Has(paramPass.Name):
		return c, faultf(http.StatusUnauthorized, engine.ErrRefused, "ask for another, by POST /v1/events/pass with the token",
			"the pass is over, or is none of this engine's")
	case kind == "":
		return c, unauthorized("no token was shown")
	case !strings.EqualFold(kind, "Bearer"):
		return c, unauthorized("the authorization is not of the kind Bearer")
	case !t.is(strings.TrimSpace(shown)):
		return c, unauthorized("this is not the token")
	}
	c.Role = Operator
	return c, nil
}

// unauthorized is a 401; fail adds how to be let in.
func unauthorized(why string) error {
	return faultf(http.StatusUnauthorized, engine.ErrRefused,
		"send Authorization: Bearer with what is in "+TokenName+" of the data directory", "%s", why)
}
