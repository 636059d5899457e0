package storage

import (
	"bytes"
	"context"
	"errors"

	"github.com/farsight-console/farsight/engine"
)

// A store may have a hundred thousand live jobs, and no index tells whose they are: a sync's children are found by the sync,
// and nothing else asks. So forgetting goes through them before its transaction, a page per reading one, and meanwhile the
// committer notes which specs are written that name the account. The transaction looks at those alone.

// watchSpecs begins to note what is written of an account, or ends it (nil). When it returns, all that was written before is
// committed.
func (db *DB) watchSpecs(ctx context.Context, account []byte) error {
	return db.Write(ctx, func(engine.Tx) error {
		db.specs = specWatch{account: account}
		return nil
	})
}

// specsOf gives the keys of the live jobs whose spec names an account.
func (db *DB) specsOf(ctx context.Context, account string) (keys [][]byte, err error) {
	w := &forgetter{db: db, ctx: ctx}
	names := func(_, v []byte) bool { return bytes.Contains(v, []byte(account)) }
	page, next, err := w.look(tJobSpec.table, nil, nil, names)
	for ; err == nil; page, next, err = w.look(tJobSpec.table, nil, next, names) {
		if keys = append(keys, page...); next == nil {
			return keys, nil
		}
	}
	return nil, err
}

// liveOf gives those jobs of specs that are an account's or about it, and as they are to be stored those that another
// account gets. An account that a job is for is named in its spec; a job may have ended since its spec was seen.
func (t *Tx) liveOf(account string, specs [][]byte) (mine, bequeathed []engine.Job, err error) {
	for _, k := range specs {
		if !bytes.Contains(t.value(tJobSpec.table, k), []byte(account)) {
			continue
		}
		j, ok, err := t.readLive(k)
		if err != nil || !ok {
			return nil, nil, errors.Join(err, errMissing)
		}
		heir, err := t.heirOf(k, account)
		if err != nil {
			return nil, nil, err
		}
		if heir == "" || j.State == engine.Running {
			mine = append(mine, j)
			continue
		}
		if j.Owner == account {
			j.Owner = heir
			j.Rev++
			bequeathed = append(bequeathed, j)
		}
	}
	return mine, bequeathed, nil
}
