package pg

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// A schema that is not there is not made by who only reads.
func TestWhoReadsMakesNothing(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	if _, err := OpenThere(t.Context(), Options{URL: at}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a schema that is not there: %v", err)
	}
	_ = open(t, at)
	db, err := OpenThere(t.Context(), Options{URL: at})
	must(t, err)
	must(t, db.Close())
}

// A transaction that is under way when its store falls holds nothing any more, however long it would
// have gone on: the others need not wait for it.
func TestTheFallenHoldNothing(t *testing.T) {
	t.Parallel()
	at, ctx := pgtest.Schema(t), t.Context()
	db, other := open(t, at), open(t, at)
	fallen := errors.New("fallen")
	tx, err := db.pool.Begin(ctx)
	must(t, err)
	_, err = tx.Exec(ctx, "update fs_store set note = 'within'")
	must(t, err)
	db.Abandon(fallen)
	_, err = other.pool.Exec(ctx, "update fs_store set note = 'after'")
	must(t, err)
	if err := tx.Commit(ctx); err == nil {
		t.Error("the fallen one commits")
	}
	if err := db.Ask(ctx, func(pgx.Tx) error { return nil }); !errors.Is(err, fallen) {
		t.Errorf("the fallen one asks: %v", err)
	}
}

// lying is the address of a server whose answers are changed on the way.
func lying(t *testing.T, at string, lie func(said pgproto3.BackendMessage)) string {
	t.Helper()
	w := between(t, at)
	w.lie.Store(&lie)
	return w.url
}

// pooled is how a pooler looks that gives each transaction a session that others have, too: the
// number of a connection is its own, that of the session is not.
func pooled(path string) func(pgproto3.BackendMessage) {
	return func(said pgproto3.BackendMessage) {
		switch said := said.(type) {
		case *pgproto3.BackendKeyData:
			said.ProcessID += 1 << 20
		case *pgproto3.DataRow:
			if len(said.Values) == 2 && bytes.HasPrefix(said.Values[1], []byte("t")) { // of the session, and the schema
				said.Values = [][]byte{[]byte("4242"), append([]byte(path), said.Values[1]...)}
			}
		}
	}
}

// What stands in the way of opening is one sentence that says what to do, and no password is in it.
func TestWhatStandsInTheWayOfOpening(t *testing.T) {
	t.Parallel()
	at, newer, half, early, ctx := pgtest.Schema(t), pgtest.Schema(t), pgtest.Schema(t), pgtest.Schema(t), t.Context()
	u, err := url.Parse(at)
	must(t, err)
	with := func(name, value string) string {
		v, q := *u, u.Query()
		q.Set(name, value)
		v.RawQuery = q.Encode()
		return v.String()
	}
	stranger := "stranger_" + u.Query().Get("search_path")
	do(t, at, "create role "+stranger+" login")
	defer func() { do(t, at, "drop role "+stranger) }()
	elsewhere := *u
	elsewhere.Path = "/nowhere"
	for _, schema := range []string{newer, half, early} {
		_ = open(t, schema)
	}
	do(t, newer, "insert into fs_schema (version) select max(version) + 7 from fs_schema")
	do(t, half, "update fs_store set closed = E'has not got all that is stored in /srv/old yet\\nlet it end\\n1'")
	do(t, early, "delete from fs_schema", "insert into fs_schema (version) values (12)")
	old := lying(t, at, func(said pgproto3.BackendMessage) {
		if row, is := said.(*pgproto3.DataRow); is && len(row.Values) == 2 && bytes.HasPrefix(row.Values[1], []byte("1")) {
			row.Values = [][]byte{binary.BigEndian.AppendUint32(nil, 130022), []byte("13.22")}
		}
	})
	unreached := errors.New("cannot be reached")
	for what, c := range map[string]struct {
		at   string
		kind error
		says string
	}{
		"no address":              {"tomorrow", engine.ErrInvalid, "postgres://user@host/database"},
		"no URL":                  {"host=/tmp", engine.ErrInvalid, "cannot be read"},
		"half a URL":              {"postgres://u:hunter2@[::1/db", engine.ErrInvalid, "cannot be read"},
		"another kind":            {"mysql://u:hunter2@h/d", engine.ErrInvalid, "postgres://user@host/database"},
		"nobody there":            {"postgres://u:hunter2@127.0.0.1:1/d?connect_timeout=1&sslmode=disable", unreached, "cannot be reached: see whether its address is right"},
		"no such database":        {elsewhere.String(), engine.ErrRefused, "createdb"},
		"a role without rights":   {with("user", stranger), engine.ErrRefused, "the role may not do what the store needs"},
		"a role that is not":      {with("user", "nobody_at_all"), engine.ErrRefused, "pg_hba.conf"},
		"a standby":               {with("default_transaction_read_only", "on"), engine.ErrRefused, "takes no writes"},
		"a server of before":      {old, engine.ErrRefused, "the server is PostgreSQL 13.22: use PostgreSQL 14 or later"},
		"a pooler":                {lying(t, at, pooled("")), engine.ErrRefused, "two connections have one session: give the address of the server itself"},
		"a pooler without schema": {lying(t, at, pooled("public, ")), engine.ErrRefused, "search_path is public, t"},
		"a later schema":          {newer, engine.ErrRefused, fmt.Sprintf("is of version %d, this program knows %d", Version()+7, Version())},
		"a schema of before":      {early, engine.ErrRefused, "is of version 12, of before the first release"},
		"a schema that fills":     {half, engine.ErrRefused, "has not got all that is stored in /srv/old yet"},
	} {
		for who, open := range map[string]func(context.Context, Options) (*DB, error){"an engine": Open, "a list": OpenThere} {
			if who == "a list" && (what == "a standby" || what == "a role without rights") {
				continue // there is nothing to read
			}
			db, err := open(ctx, Options{URL: c.at})
			if err == nil {
				_ = db.Close()
				t.Errorf("%s opens %s", who, what)
				continue
			}
			if c.kind != unreached && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s of %s: %v", what, who, err)
			}
		}
	}
	for code, says := range map[string]string{"08P01": "pool_mode", "53100": "give the server's disk more room", "53300": "raise max_connections", "26000": "pool_mode"} {
		refusal := &pgconn.PgError{Code: code, Message: "unsupported startup parameter: search_path"}
		if err := unreachable(refusal); !errors.Is(err, engine.ErrRefused) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// A server without room, or that only reads, refuses writes for the time being, and says why.
func TestAServerThatTakesNoWrites(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{"53100": "out of room on its disk", "25006": "read-only"} {
		err := noRoom(&pgconn.PgError{Code: code})
		if shut, ok := errors.AsType[noWrites](err); !ok || shut.Closed() != want || !errors.Is(err, disk.ErrDiskFull) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", code, err)
		}
	}
	if err := noRoom(&pgconn.PgError{Code: "22012"}); errors.Is(err, disk.ErrDiskFull) {
		t.Errorf("%v", err)
	}
}

// A payload is given back as the JSON that arrived.
func TestARawPayload(t *testing.T) {
	t.Parallel()
	server, ctx := open(t, pgtest.Schema(t)), context.Background()
	db, _ := leading(t, server)
	raw := `{"info": {"gameVersion" : "16.1", "name": "é"} }`
	ref, body := gzipped(raw)
	must(t, db.PutPayload(ctx, "EUW1_1", league.PartMatch, ref, body))
	found, left, there, err := db.FindPayload(ctx, "EUW1_1", league.PartMatch)
	if unpacked, bad := payload.Raw(found, left, nil); err != nil || bad != nil || !there || string(unpacked) != raw || found.Size != len(left) {
		t.Errorf("found: %+v, %q, %v, %v", found, left, err, bad)
	}
	save := func(f league.Fetch) {
		must(t, db.Write(ctx, func(tx engine.Tx) error { return db.SaveMatch(tx, league.Match{ID: "EUW1_1", Match: f}, true) }))
	}
	if _, err := db.Raw(ctx, "EUW1_1", league.PartMatch); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("of no match: %v", err)
	}
	save(league.Fetch{Status: league.Success, Ref: ref})
	if got, err := db.Raw(ctx, "EUW1_1", league.PartMatch); err != nil || string(got) != raw {
		t.Errorf("%q, %v", got, err)
	}
	if server.queryable {
		var got string
		must(t, server.pool.QueryRow(ctx, "select json->'info'->>'gameVersion' from fs_payload where match = 'EUW1_1'").Scan(&got))
		if got != "16.1" {
			t.Errorf("asked for in SQL: %q", got)
		}
	}
	// What is no JSON for PostgreSQL stays as it came; so does all of it where JSON is not worth while.
	odd, oddly := gzipped("{\"info\": \"\xff\"}")
	must(t, db.PutPayload(ctx, "EUW1_2", league.PartMatch, odd, oddly))
	escape, escaped := gzipped(`{"name": "\u0000"}`)
	must(t, db.PutPayload(ctx, "EUW1_4", league.PartMatch, escape, escaped))
	can := server.queryable
	server.queryable = false
	must(t, db.PutPayload(ctx, "EUW1_3", league.PartMatch, ref, body))
	server.queryable = can
	for match, want := range map[string][]byte{"EUW1_2": oddly, "EUW1_3": body, "EUW1_4": escaped} {
		if _, got, _, err := db.FindPayload(ctx, match, league.PartMatch); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v", match, got, err)
		}
	}
	_, err = server.pool.Exec(ctx, "update fs_payload set body = 'spoilt', json = null where match = 'EUW1_1'")
	must(t, err)
	if _, err := db.Raw(ctx, "EUW1_1", league.PartMatch); !errors.Is(err, engine.ErrUnreadable) && err == nil {
		t.Errorf("spoilt: %v", err)
	}
	if r, err := db.Check(ctx); err != nil || len(r.Findings) != 1 || r.Findings[0].Match != "EUW1_1" || r.Payloads != 4 || r.Orphans != 3 {
		t.Errorf("check finds %+v, %v", r, err)
	}
	ref.Codec = league.CodecDropped
	save(league.Fetch{Status: league.Success, Ref: ref})
	if _, err := db.Raw(ctx, "EUW1_1", league.PartMatch); !errors.Is(err, disk.ErrDropped) {
		t.Errorf("dropped: %v", err)
	}
}

// A session that began while the server only read goes on so: it is dropped, and the write is made.
func TestB9p_SessionsOfAReadOnlyTimeAreDropped(t *testing.T) {
	t.Parallel()
	at, ctx := pgtest.Schema(t), t.Context()
	db := open(t, at)
	store, _ := leading(t, db)
	for range 3 {
		c, err := db.pool.Acquire(ctx)
		must(t, err)
		_, err = c.Exec(ctx, "set default_transaction_read_only = on")
		must(t, err)
		defer func() { must(t, store.SaveState(ctx, "x", []byte("written"))) }()
		defer c.Release()
	}
}

// What PgBouncer does not take at the start of a session is set in it.
func TestB9q_APoolerOfSessionsIsNoHindrance(t *testing.T) {
	t.Parallel()
	at, ctx := pgtest.Schema(t), t.Context()
	db := open(t, at)
	conf := db.pool.Config().ConnConfig
	must(t, db.pool.Config().BeforeConnect(ctx, conf))
	for name := range conf.RuntimeParams {
		if !slices.Contains(atStart, name) {
			t.Errorf("%s is sent at the start", name)
		}
	}
	var path, patience string
	must(t, db.pool.QueryRow(ctx, "select current_setting('search_path'), current_setting('statement_timeout')").Scan(&path, &patience))
	if path != db.schema || patience != "30s" {
		t.Errorf("search_path %s, statement_timeout %s", path, patience)
	}
}

// A schema that another role has made is used, when it has granted all on it.
func TestB16g_ASchemaOfAnotherRole(t *testing.T) {
	t.Parallel()
	at, ctx := pgtest.Schema(t), t.Context()
	db := open(t, at)
	role := db.schema + "_guest"
	name := db.schema + "_lent"
	exec := func(sql string) {
		t.Helper()
		_, err := db.pool.Exec(context.WithoutCancel(ctx), sql)
		must(t, err)
	}
	// After the guest's store is closed: what that still does on its tables would wait for the drop, and the drop for it.
	made := func(what, how string) {
		exec("create " + what)
		t.Cleanup(func() { exec("drop " + what + how) })
	}
	made("role "+role, "")
	made("schema "+name, " cascade")
	exec("grant all on schema " + name + " to " + role)
	lent, err := Beside(at, "_lent")
	must(t, err)
	u, err := url.Parse(lent)
	must(t, err)
	q := u.Query()
	q.Set("role", role)
	u.RawQuery = q.Encode()
	other := open(t, u.String())
	store, _ := leading(t, other)
	must(t, store.SaveState(ctx, "x", []byte("written")))
}
