package pg

import (
	"encoding"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/key"
)

// How values of ours stand in columns. Each is a pointer type, so that a column's pointer
// serves both ways.

// text is a string. PostgreSQL takes neither a NUL nor what is no UTF-8, which a name or an
// error may have as they came from outside: those characters are replaced.
type text string

func (s *text) ScanText(v pgtype.Text) error { *s = text(v.String); return nil }

func (s *text) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: storable(string(*s)), Valid: true}, nil
}

// storable is a text as it is stored.
func storable(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, "\x00") {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// instant is a time, in milliseconds as in every store of ours; the zero time is null.
type instant time.Time

func (i *instant) ScanTimestamptz(v pgtype.Timestamptz) error {
	*i = instant{}
	if v.Valid {
		*i = instant(v.Time.UTC())
	}
	return nil
}

func (i *instant) TimestamptzValue() (pgtype.Timestamptz, error) {
	at := time.Time(*i)
	return pgtype.Timestamptz{Time: at.Truncate(time.Millisecond), Valid: !at.IsZero()}, nil
}

// span is a duration, in microseconds, and so cut to those: the other store keeps as many.
type span time.Duration

func (d *span) ScanInt64(v pgtype.Int8) error {
	*d = span(time.Duration(v.Int64) * time.Microsecond)
	return nil
}

func (d *span) Int64Value() (pgtype.Int8, error) {
	return pgtype.Int8{Int64: time.Duration(*d).Microseconds(), Valid: true}, nil
}

// jobID is the id of a job, in the database a number; "" is null.
type jobID engine.JobID

func (id *jobID) ScanInt64(v pgtype.Int8) error {
	*id = ""
	if v.Valid {
		*id = jobID(key.JobID(uint64(v.Int64)))
	}
	return nil
}

func (id *jobID) Int64Value() (pgtype.Int8, error) {
	n, ok := key.JobNumber(string(*id))
	if !ok && *id != "" {
		return pgtype.Int8{}, fmt.Errorf("%q is no id of a job", *id)
	}
	return pgtype.Int8{Int64: int64(n), Valid: ok}, nil
}

// JobNumber is the column's value of a job's id; engine.ErrNotFound for what no job can be called.
func JobNumber(id engine.JobID) (int64, error) {
	n, ok := key.JobNumber(string(id))
	if !ok {
		return 0, fmt.Errorf("job %q: %w", id, engine.ErrNotFound)
	}
	return int64(n), nil
}

// word is a value that has words, such as a state: "running" and no number, as people read the
// tables, too. A word that this program does not know makes the row one that cannot be read.
type word struct{ of texts }

// texts is a pointer to such a value.
type texts interface {
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}

func (w *word) ScanText(v pgtype.Text) error { return w.of.UnmarshalText([]byte(v.String)) }

func (w *word) TextValue() (pgtype.Text, error) {
	b, err := w.of.MarshalText()
	return pgtype.Text{String: string(b), Valid: true}, err
}
