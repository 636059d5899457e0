package pg

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
)

// news is what a commit has changed. It is a notification of the transaction: the server gives it
// to all that listen when the transaction is committed, in the order of the commits.
//
//	channel farsight_9a2f0c7be4d15c03
//	payload 743 0/1 {"changes":[{"job":{"id":"b17","rev":4,"state":"running",…}}],"counts":{"matches.success":1}}
//
// 743 is the transaction. The server takes 7,999 bytes at most: a long text comes in parts, which
// follow each other. Measured, 8 writers: a notification lets 4,300 commits a second through where
// 13,000 were without one; 2 KB of text, which is more than the end of a match has, make 3,100 of
// them. A row for others to read would be written and read by everybody, and had to be removed.
type news struct {
	Changes  []engine.Change      `json:"changes,omitempty"`
	Counts   map[string]int       `json:"counts,omitempty"` // what was added to the sums
	Discards map[engine.Queue]int `json:"discards,omitempty"`
}

// newsPart is the most that one notification carries, beside what comes before it.
const newsPart = 7900

// tell sends what the transaction has changed with its commit, and learns its number.
const tell = "select pg_current_xact_id()::text::bigint, pg_notify($1, pg_current_xact_id() || ' ' || $2)"

// tellOn is the last that a transaction does.
func tellOn(channel string) func(t *txn) error {
	return func(t *txn) error {
		n := news{t.changes, t.sums.counts, t.sums.discards}
		if len(n.Changes)+len(n.Counts)+len(n.Discards) == 0 {
			return nil
		}
		words, err := json.Marshal(n)
		if err != nil {
			return fmt.Errorf("tell what was changed: %w", err)
		}
		parts := inParts(string(words))
		for i, part := range parts {
			sent := t.queued.Queue(tell, channel, fmt.Sprintf("%d/%d %s", i, len(parts), part))
			sent.QueryRow(func(r pgx.Row) error { return r.Scan(&t.xid, nil) })
		}
		return nil
	}
}

// inParts cuts a text into parts of at most newsPart bytes, and no character in two.
func inParts(s string) (parts []string) {
	for len(s) > newsPart {
		at := newsPart
		for !utf8.RuneStart(s[at]) {
			at--
		}
		parts, s = append(parts, s[:at]), s[at:]
	}
	return append(parts, s)
}

// channelOf is where the commits of a schema are told of. Channels are a database's, their names
// shorter than a schema's may be.
func channelOf(schema string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(schema))
	return fmt.Sprintf("farsight_%016x", h.Sum64())
}

// heard puts together what comes in parts.
type heard struct {
	xid   uint64
	words strings.Builder
}

// add takes in a payload, and reports whether it was the last part.
func (h *heard) add(payload string) (whole bool, err error) {
	number, rest, _ := strings.Cut(payload, " ")
	place, words, _ := strings.Cut(rest, " ")
	part, of, _ := strings.Cut(place, "/")
	if part == "0" {
		h.words.Reset()
		if h.xid, err = strconv.ParseUint(number, 10, 64); err != nil {
			return false, fmt.Errorf("a notification of no transaction: %w", err)
		}
	}
	h.words.WriteString(words)
	i, _ := strconv.Atoi(part)
	return strconv.Itoa(i+1) == of, nil
}

// news is what the parts say together. The error is of a member of another version, whose words are
// others.
func (h *heard) news() (n news, err error) {
	err = json.Unmarshal([]byte(h.words.String()), &n)
	return n, err
}

// visible is what a transaction sees, as pg_current_snapshot tells it: 740:745:741,743.
type visible struct {
	below, from uint64          // all before are seen, none from there on
	not         map[uint64]bool // nor are these
}

func readVisible(s string) (v visible, err error) {
	part := strings.Split(s, ":")
	if len(part) != 3 {
		return v, fmt.Errorf("a snapshot %q: %w", s, engine.ErrInvalid)
	}
	v.not = map[uint64]bool{}
	for i, word := range append(part[:2], strings.FieldsFunc(part[2], func(r rune) bool { return r == ',' })...) {
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return v, fmt.Errorf("a snapshot %q: %w", s, err)
		}
		switch i {
		case 0:
			v.below = n
		case 1:
			v.from = n
		default:
			v.not[n] = true
		}
	}
	return v, nil
}

// has reports whether what a transaction has committed is seen.
func (v visible) has(xid uint64) bool { return xid < v.below || xid < v.from && !v.not[xid] }
