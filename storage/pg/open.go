package pg

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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
	// forEver is for what the pool would do by itself now and then: a connection is used as
	// long as it lasts.
	forEver = 100 * 365 * 24 * time.Hour
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
	db := &DB{pool: pool, region: o.Region}
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
	for name, usual := range map[string]string{"search_path": usualSchema, "application_name": "farsight", "timezone": "UTC"} {
		if c.RuntimeParams[name] == "" {
			c.RuntimeParams[name] = usual
		}
	}
	return conf, nil
}

// prepare looks at the server and brings the schema up to date.
func prepare(ctx context.Context, conf *pgx.ConnConfig, schema string) error {
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
	return migrate(ctx, c, schema)
}

func newEnough(version int, words string) error {
	if version < oldestServer {
		return engine.Problemf(engine.ErrRefused, "use PostgreSQL 14 or later", "the server is PostgreSQL %s", words)
	}
	return nil
}

// unreachable says why a database cannot be used. The text of an error of the connection names
// host, user and database, and no password.
func unreachable(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "42501": // insufficient_privilege
			return engine.Problemf(engine.ErrRefused, "grant it create on the database, or all on the schema and its tables",
				"the role may not do what the store needs: %s", e.Message)
		case "28P01", "28000": // invalid_password, invalid_authorization_specification
			return engine.Problemf(engine.ErrRefused, "look at PGPASSFILE, PGSERVICEFILE and pg_hba.conf", "the database lets nobody in so: %s", e.Message)
		}
	}
	return fmt.Errorf("the database cannot be reached: %w", err)
}
