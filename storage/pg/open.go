package pg

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// Options says which schema a store is.
type Options struct {
	// URL is where the database is: postgres://user@host/database. Its search_path names the
	// schema; "" = farsight. A password comes from PGPASSFILE or PGSERVICEFILE.
	URL string
	// Conns is how many connections are open at once at most; 0 = 16.
	Conns int
}

const (
	usualSchema = "farsight"
	usualPort   = 5432
	usualConns  = 16
	// oldestServer is the version of PostgreSQL from which on all that is used is there.
	oldestServer = 140000
	// deserting is after how long without a sign of life a member has gone for certain. It gives one
	// each second.
	deserting = 4 * time.Second
	// idlePatience is for a member that stands still within a transaction, and keeps others from
	// what it has locked.
	idlePatience = 5 * time.Second
)

// Open opens a schema, and makes it or brings it to what this program writes. A refusal is an
// *engine.Problem.
func Open(ctx context.Context, o Options) (*DB, error) {
	return opened(ctx, o, bringUp)
}

// OpenThere is Open of a schema that is there: fs.ErrNotExist when there is none. It changes nothing.
func OpenThere(ctx context.Context, o Options) (*DB, error) {
	return opened(ctx, o, checkSchema)
}

// opened is Open with prove as what makes the schema ready, or refuses it, on a connection that may
// take as long as it needs.
func opened(ctx context.Context, o Options, prove func(context.Context, *pgx.Conn, string) error) (*DB, error) {
	conf, err := config(o)
	if err != nil {
		return nil, err
	}
	if err := prepare(ctx, conf.ConnConfig, prove); err != nil {
		return nil, err
	}
	db := &DB{schema: schemaIn(conf.ConnConfig), name: nameIn(conf.ConnConfig)}
	db.life, db.abandon = context.WithCancelCause(context.Background())
	db.mortal(conf.ConnConfig)
	if db.pool, err = pgxpool.NewWithConfig(ctx, conf); err != nil {
		return nil, unreachable(err)
	}
	if err = db.pool.QueryRow(ctx, `select coalesce((select attcompression = 'l' from pg_attribute
where attrelid = to_regclass('fs_payload') and attname = 'json'), false)`).Scan(&db.queryable); err != nil {
		db.pool.Close()
		return nil, unreachable(err)
	}
	return db, nil
}

// Name is DB.Name of a store that is not open.
func Name(url string) string {
	conf, err := config(Options{URL: url})
	if err != nil {
		return "the database"
	}
	return nameIn(conf.ConnConfig)
}

func nameIn(c *pgx.ConnConfig) string { return "schema " + schemaIn(c) + " of " + addressOf(c) }

// schemaIn is the schema that an address names.
func schemaIn(c *pgx.ConnConfig) string { return c.RuntimeParams["search_path"] }

// Beside is the address of another schema of the same database: its name is longer by a suffix.
func Beside(at, suffix string) (string, error) {
	conf, err := config(Options{URL: at})
	if err != nil {
		return "", err
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("search_path", schemaIn(conf.ConnConfig)+suffix)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// drop deletes a schema with all that is in it; one that is not there is no error. *disk.ErrHeld
// while an engine works on it; engine.ErrRefused of one that is none of ours.
func drop(ctx context.Context, at string) error {
	conf, err := config(Options{URL: at})
	if err != nil {
		return err
	}
	schema := schemaIn(conf.ConnConfig)
	c, err := connect(ctx, conf.ConnConfig)
	if err != nil {
		return unreachable(err)
	}
	defer c.Close(context.WithoutCancel(ctx))
	var there, ours, whole bool
	err = c.QueryRow(ctx, `select to_regnamespace(quote_ident($1)) is not null,
	to_regclass('fs_schema') is not null, to_regclass('fs_member') is not null`, schema).Scan(&there, &ours, &whole)
	switch {
	case err != nil:
		return unreachable(err)
	case !there:
		return nil
	case !ours:
		return engine.Problemf(engine.ErrRefused, "name another one", "schema %s is not one of Farsight's", schema)
	}
	if whole {
		if free, err := deserted(ctx, c); err != nil {
			return unreachable(err)
		} else if !free {
			return &disk.ErrHeld{Store: Name(at)}
		}
	}
	_, err = c.Exec(ctx, "set statement_timeout = 0; drop schema "+pgx.Identifier{schema}.Sanitize()+" cascade")
	return unreachable(err)
}

// deserted reports whether a schema has no members: one that is killed stays in the list, and is
// heard of no more. It waits, for at most deserting, for one that was heard of lately to be heard
// of again.
func deserted(ctx context.Context, c *pgx.Conn) (bool, error) {
	const heard = `select coalesce(max(seen), '-infinity') > clock_timestamp() - $1::interval,
	coalesce(max(seen), to_timestamp(0)) from fs_member`
	var first, last time.Time
	for fresh := true; fresh; {
		err := c.QueryRow(ctx, heard, deserting).Scan(&fresh, &last)
		switch {
		case err != nil:
			return false, err
		case first.IsZero():
			first = last
		case last.After(first):
			return false, nil
		}
		if fresh && !await.Pause(ctx, lostPause) {
			return false, context.Cause(ctx)
		}
	}
	return true, nil
}

// Place is the schema of a store, and its database for psql, pg_dump and their like, which know no
// search_path.
func Place(at string) (schema, database string) {
	schema = usualSchema
	u, err := url.Parse(at)
	if err != nil {
		return schema, ""
	}
	q := u.Query()
	schema = cmp.Or(q.Get("search_path"), schema)
	q.Del("search_path")
	u.RawQuery = q.Encode()
	return schema, u.String()
}

// addressOf is where a database is: "lol on db.example:5433", "lol on /run/postgresql".
func addressOf(c *pgx.ConnConfig) string {
	at := c.Host
	if c.Port != usualPort && !strings.HasPrefix(at, "/") {
		at = fmt.Sprintf("%s:%d", at, c.Port)
	}
	return c.Database + " on " + at
}

// config is what the address says, with what every connection of ours has where it says nothing. An
// address may hold a password, so the refusal repeats nothing of it.
func config(o Options) (*pgxpool.Config, error) {
	conf, err := pgxpool.ParseConfig(o.URL)
	if u, urlErr := url.Parse(o.URL); err != nil || urlErr != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, engine.Problemf(engine.ErrInvalid, "write postgres://user@host/database",
			"the address of the store cannot be read")
	}
	conf.MaxConns = int32(o.Conns)
	if o.Conns == 0 {
		conf.MaxConns = usualConns
	}
	conf.MaxConnLifetime, conf.MaxConnIdleTime, conf.HealthCheckPeriod = forEver, forEver, forEver
	c := conf.ConnConfig
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectPatience
	}
	for name, usual := range map[string]string{
		"search_path": usualSchema, "application_name": "farsight", "timezone": "UTC",
		"statement_timeout": milliseconds(statementPatience), "idle_in_transaction_session_timeout": milliseconds(idlePatience),
	} {
		if c.RuntimeParams[name] == "" {
			c.RuntimeParams[name] = usual
		}
	}
	conf.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error { setLater(c); return nil }
	conf.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // what is lost is tried again
	return conf, nil
}

// milliseconds are how PostgreSQL's settings take a duration without a unit.
func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// prepare looks at the server, and at the schema, however long that takes: a version of the schema
// may write a whole table anew.
func prepare(ctx context.Context, conf *pgx.ConnConfig, prove func(context.Context, *pgx.Conn, string) error) error {
	conf = conf.Copy()
	conf.RuntimeParams["statement_timeout"], conf.RuntimeParams["idle_in_transaction_session_timeout"] = "0", "0"
	c, err := connect(ctx, conf)
	if err != nil {
		return unreachable(err)
	}
	defer c.Close(context.WithoutCancel(ctx))
	var version int
	var words string
	err = c.QueryRow(ctx, "select current_setting('server_version_num')::int, current_setting('server_version')").Scan(&version, &words)
	if err != nil {
		return unreachable(err)
	}
	if version < oldestServer {
		return engine.Problemf(engine.ErrRefused, "use PostgreSQL 14 or later", "the server is PostgreSQL %s", words)
	}
	if err := ownSession(ctx, c, conf); err != nil {
		return err
	}
	return prove(ctx, c, schemaIn(conf))
}

// ownSession refuses a pooler that gives each transaction a session of the server's that others
// have, too: a lock that a session holds would be anybody's. Behind a pooler a connection has
// another number than its session; where each transaction gets one, two that rest get the same.
func ownSession(ctx context.Context, c *pgx.Conn, conf *pgx.ConnConfig) error {
	mine, err := sessionOf(ctx, c, conf)
	if err != nil || mine == c.PgConn().PID() {
		return err
	}
	other, err := connect(ctx, conf)
	if err != nil {
		return unreachable(err)
	}
	defer other.Close(context.WithoutCancel(ctx))
	theirs, err := sessionOf(ctx, other, conf)
	if err == nil && mine == theirs {
		return noSessions("two connections have one session")
	}
	return err
}

// sessionOf gives the number of a connection's session, which must have the schema that was asked
// for. Nothing is prepared for it, which another connection might find.
func sessionOf(ctx context.Context, c *pgx.Conn, conf *pgx.ConnConfig) (pid uint32, err error) {
	var path string
	err = c.QueryRow(ctx, "select pg_backend_pid(), current_setting('search_path')",
		pgx.QueryExecModeSimpleProtocol).Scan(&pid, &path)
	if err != nil {
		return 0, unreachable(err)
	}
	if want := schemaIn(conf); path != want {
		return 0, noSessions(fmt.Sprintf("search_path is %s instead of %s", path, want))
	}
	return pid, nil
}

// atStart are the settings that a pooler passes on from the start of a session; of any other PgBouncer
// refuses the connection, in whatever mode it is.
var atStart = []string{"application_name", "client_encoding", "datestyle", "options", "standard_conforming_strings", "timezone"}

// setLater lets a connection make its other settings when it stands.
func setLater(c *pgx.ConnConfig) {
	var sets []string
	for name, value := range c.RuntimeParams {
		if !slices.Contains(atStart, strings.ToLower(name)) {
			sets = append(sets, fmt.Sprintf("select set_config(%s, %s, false)", literal(name), literal(value)))
			delete(c.RuntimeParams, name)
		}
	}
	c.AfterConnect = func(ctx context.Context, c *pgconn.PgConn) error {
		return c.Exec(ctx, strings.Join(sets, ";")).Close()
	}
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// connect makes a connection beside the pool's.
func connect(ctx context.Context, conf *pgx.ConnConfig) (*pgx.Conn, error) {
	conf = conf.Copy()
	setLater(conf)
	return pgx.ConnectConfig(ctx, conf)
}
