package pg

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot"
)

// What the payload of a match tells stands in columns, those of exports:
//
//	fs_told_matches        match_id KR_1 | map_id 11 | winner 100 …
//	fs_told_participants   match_id KR_1 | index 0 | role JUNGLE | gold 11873 …
//
// A new column comes with a new version of the schema, if only an empty one: each carries told.sql out again.

// told are the tables of data that have such a table, with the columns that a view has by itself.
var told = []struct {
	*columns.Table
	key, own []string
}{
	{columns.GameTable, []string{"match_id"}, []string{"queue_id", "mode", "patch", "remake", "aborted"}},
	{columns.SeatTable, []string{"match_id", "index"},
		[]string{"puuid", "riot_id", "champion", "team_id", "won", "kills", "deaths", "assists"}},
}

// typeOf is how a column is declared.
var typeOf = map[riot.Type]string{
	riot.Text: "text", riot.Int: "integer", riot.ID: "integer", riot.Float: "double precision", riot.Bool: "boolean",
	riot.Instant: "timestamptz", riot.Ints: "integer[]",
}

// createViews makes what told.sql says, with a column for each that exports have.
func createViews(ctx context.Context, tx pgx.Tx) error {
	raw, err := files.ReadFile("schema/told.sql")
	if err != nil {
		return err
	}
	var tables strings.Builder
	views := string(raw)
	for _, t := range told {
		var shown []string
		fmt.Fprintf(&tables, "create table if not exists fs_told_%s (match_id text collate \"C\"", t.Name)
		for _, k := range t.key[1:] {
			fmt.Fprintf(&tables, ", %s integer", k)
		}
		fmt.Fprintf(&tables, ", primary key (%s));\n", strings.Join(t.key, ", "))
		for _, c := range t.Columns {
			if slices.Contains(t.key, c.Name) || slices.Contains(t.own, c.Name) {
				continue
			}
			fmt.Fprintf(&tables, "alter table fs_told_%s add column if not exists %q %s;\n", t.Name, c.Name, typeOf[c.Type])
			shown = append(shown, fmt.Sprintf("told.%q", c.Name))
		}
		views = strings.ReplaceAll(views, "{{"+t.Name+"}}", strings.Join(shown, ", "))
	}
	_, err = tx.Exec(ctx, tables.String()+views)
	return err
}

// toldBy gives the rows of those tables as JSON. What cannot be read tells nothing.
func toldBy(ctx context.Context, match string, raw []byte) (game, seats string) {
	r := columns.Reader{Payload: func(context.Context, string) ([]byte, error) { return raw, nil }}
	if err := r.Open(ctx, match); err != nil {
		return "[]", "[]"
	}
	all := make([]map[string]any, r.Seats())
	for i := range all {
		all[i] = asColumns(columns.SeatTable, r.SeatRow(&engine.SeatRow{Index: i}))
	}
	return inJSON([]map[string]any{asColumns(columns.GameTable, r.GameRow())}), inJSON(all)
}

// inJSON is rows as the server takes them; none if they could not be told.
func inJSON(rows []map[string]any) string {
	raw, err := json.Marshal(rows)
	if err != nil {
		return "[]"
	}
	return string(raw)
}

// asColumns are the values of a row by name. The server passes over those for which it has no column.
func asColumns(t *columns.Table, row []riot.Value) map[string]any {
	all := make(map[string]any, len(row))
	for i, v := range row {
		v.Text = safe.Text(v.Text)
		all[t.Columns[i].Name] = columns.Told(v)
	}
	return all
}
