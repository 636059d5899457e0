package payload

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

// Verifier proves that a file that nobody has open is a sound copy. CheckCopy is one; main runs it
// in a process of its own, since a damaged page can end the process that reads it.
type Verifier func(ctx context.Context, path string) error

// Verify runs v, or what can be proved safely in this process.
func (v Verifier) Verify(ctx context.Context, path string) error {
	if v == nil {
		return checkCopy(ctx, path, false)
	}
	return v(ctx, path)
}

// CheckCopy verifies one database file that nobody has open: bbolt's own page check, then the
// checksum of every record and payload in it. The file is only read. It may end the
// process over a damaged page: run it in a child.
func CheckCopy(ctx context.Context, path string) error { return checkCopy(ctx, path, true) }

func checkCopy(ctx context.Context, path string, pages bool) (err error) {
	o := disk.BoltOptions()
	o.ReadOnly = true
	b, err := disk.OpenFile(path, o, zerolog.Nop())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if pages {
		if found := PageCheck(filepath.Base(path), b); len(found) > 0 {
			return &disk.Damaged{Path: path, Why: fmt.Sprintf("%d faults in its pages, the first: %s", len(found), found[0].Why)}
		}
	}
	c := &copyCheck{ctx: ctx}
	if err := disk.GuardFile(b.Path(), func() error { return b.View(c.tables) }); err != nil {
		return err
	}
	if c.bad > 0 {
		return &disk.Damaged{Path: path, Why: fmt.Sprintf("%d records in it do not have their checksum, the first in %s", c.bad, c.first)}
	}
	return nil
}

// copyCheck verifies every value of a file, whatever tables it has.
type copyCheck struct {
	ctx   context.Context
	bad   int
	first string
}

func (c *copyCheck) tables(tx *bolt.Tx) error {
	return tx.ForEach(func(name []byte, t *bolt.Bucket) error {
		if string(name) == Table {
			return t.ForEachBucket(func(match []byte) error {
				return t.Bucket(match).ForEach(func(k, v []byte) error {
					_, err := Open("", string(match), PartOfKey(k), v)
					return c.note(Table, match, err)
				})
			})
		}
		seed := rec.TableSeed(string(name))
		return t.ForEach(func(k, v []byte) error {
			_, _, err := seed.Open(k, v)
			return c.note(string(name), k, err)
		})
	})
}

func (c *copyCheck) note(table string, k []byte, err error) error {
	if err != nil {
		if c.bad++; c.first == "" {
			c.first = fmt.Sprintf("table %s under key %s", table, ShowKey(k))
		}
	}
	return context.Cause(c.ctx)
}

// Finding is one thing that is not as it must be.
type Finding struct {
	Table string `json:"table"`
	Key   string `json:"key"` // as text where it is one, else in hexadecimal
	Why   string `json:"why"`

	Match string      `json:"match,omitempty"` // whose payload it is about, which Riot can be asked for again
	Part  league.Part `json:"part,omitempty"`
}

// MaxFindings are listed; a destroyed table would fill memory otherwise.
const MaxFindings = 1000

// PageCheck is bbolt's own check of every page, as findings about the file called name.
func PageCheck(name string, b *bolt.DB) (findings []Finding) {
	err := b.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			if len(findings) < MaxFindings {
				findings = append(findings, Finding{Table: name, Why: err.Error()})
			}
		}
		return nil
	})
	if err != nil {
		findings = append(findings, Finding{Table: name, Why: err.Error()})
	}
	return findings
}

// ShowKey is a key as text where it is one, else in hexadecimal.
func ShowKey(k []byte) string {
	for _, b := range k {
		if b < ' ' || b > '~' {
			return fmt.Sprintf("%x", k)
		}
	}
	return string(k)
}
