package pg

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

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
