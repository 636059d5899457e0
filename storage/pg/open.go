package pg

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
)

// Options says which schema a store is.
type Options struct {
	// URL is where the database is: postgres://user@host/database. Its search_path names the
	// schema; "" = farsight. A password comes from PGPASSFILE or PGSERVICEFILE.
	URL string
	// Region names the region of a platform; nil = none is told.
	Region func(platform string) string
	// Conns is how many connections are open at once at most; 0 = 16.
	Conns int
}

const (
	usualSchema = "farsight"
	usualConns  = 16
	// oldestServer is the version of PostgreSQL from which on all that is used is there.
	oldestServer = 140000
	// connectPatience is for a server that does not answer.
	connectPatience = 10 * time.Second
	// idlePatience is for a member that stands still within a transaction, and keeps others from
	// what it has locked.
	idlePatience = 5 * time.Second
)

// Open opens a schema, and makes it or brings it to what this program writes. A refusal is an
// *engine.Problem.
func Open(ctx context.Context, o Options) (*DB, error) {
	conf, err := config(o)
	if err != nil {
		return nil, err
	}
	schema := conf.ConnConfig.RuntimeParams["search_path"]
	if err := prepare(ctx, conf.ConnConfig, schema); err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, unreachable(err)
	}
	db := &DB{pool: pool, region: o.Region, patience: usualPatience}
	db.atEnd = []func(*txn) error{(*txn).saveDays, (*txn).saveCounts, (*txn).emitAccounts, (*txn).leaveToken}
	if o.Region == nil {
		db.region = func(string) string { return "" }
	}
	db.turns.moved.L = &db.turns.mu
	db.seq = uint64(wall.Now().UnixMilli())
	if err := db.loadSums(ctx); err != nil {
		pool.Close()
		return nil, unreachable(err)
	}
	return db, nil
}

func config(o Options) (*pgxpool.Config, error) {
	conf, err := pgxpool.ParseConfig(o.URL)
	if u, urlErr := url.Parse(o.URL); err != nil || urlErr != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, engine.Problemf(engine.ErrInvalid, "write postgres://user@host/database", "the address of the store cannot be read")
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
	conf.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		c.RuntimeParams["application_name"] = fmt.Sprintf("%.40s %016x", c.RuntimeParams["application_name"], rand.Uint64())
		return nil
	}
	conf.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		c.PgConn().CustomData()[connectionName] = c.Config().RuntimeParams["application_name"]
		return nil
	}
	conf.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // what is lost is tried again
	return conf, nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// prepare looks at the server and brings the schema up to date, however long that takes.
func prepare(ctx context.Context, conf *pgx.ConnConfig, schema string) error {
	conf = conf.Copy()
	conf.RuntimeParams["statement_timeout"] = "0"
	c, err := pgx.ConnectConfig(ctx, conf)
	if err != nil {
		return unreachable(err)
	}
	defer c.Close(context.WithoutCancel(ctx))
	var version int
	var words string
	if err := c.QueryRow(ctx, "select current_setting('server_version_num')::int, current_setting('server_version')").Scan(&version, &words); err != nil {
		return unreachable(err)
	}
	if err := newEnough(version, words); err != nil {
		return err
	}
	if err := migrate(ctx, c, schema); err != nil {
		return err
	}
	if _, err := c.Exec(ctx, dropTokens); err != nil {
		return unreachable(err)
	}
	return nil
}

func newEnough(version int, words string) error {
	if version < oldestServer {
		return engine.Problemf(engine.ErrRefused, "use PostgreSQL 14 or later", "the server is PostgreSQL %s", words)
	}
	return nil
}
