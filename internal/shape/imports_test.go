package shape

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// everything is the rule of the one folder that wires the others.
const everything = "*"

// imports is the architecture as rules: for each folder, what of ours its
// production code may import. A folder that is not listed may import nothing of
// ours, so a new one must be added here on purpose.
var imports = map[string][]string{
	".":                           {"internal/app"},
	"internal/app":                {everything},
	"engine":                      {"engine/human"},
	"engine/alert":                {"engine", "engine/human", "engine/wall"},
	"engine/api":                  {"engine", "engine/await", "engine/fold", "engine/human", "engine/operation", "engine/regular", "engine/safe"},
	"engine/api/apitest":          {},
	"engine/await":                {},
	"engine/child":                {},
	"engine/cron":                 {"engine", "engine/await", "engine/human", "engine/wall"},
	"engine/league":               {"engine/human"},
	"engine/pager":                {"engine", "engine/await", "engine/child", "engine/safe"},
	"engine/pager/voice":          {},
	"engine/safe":                 {},
	"engine/table":                {"themes"},
	"engine/columns":              {"engine", "engine/filter", "engine/human", "engine/table", "riot", "themes"},
	"engine/filter":               {"engine", "engine/safe"},
	"engine/fold":                 {"engine"},
	"engine/forecast":             {"engine", "engine/human"},
	"engine/hub":                  {"engine", "engine/await", "engine/fold"},
	"engine/human":                {},
	"engine/journal":              {"engine", "engine/regular"},
	"engine/control":              {"engine", "engine/await", "engine/columns", "engine/filter", "engine/forecast", "engine/hub", "engine/human", "engine/operation"},
	"engine/operation":            {"engine", "engine/await", "engine/forecast", "engine/human", "engine/safe", "riot"},
	"engine/local":                {"engine", "engine/await", "engine/crash", "engine/human", "engine/safe", "engine/wall"},
	"engine/ingest":               {"engine", "engine/await", "engine/cron", "engine/human", "engine/league", "engine/playtime", "engine/traffic", "engine/wall", "riot", "riot/limit", "riot/route"},
	"engine/playtime":             {"engine", "engine/league"},
	"engine/traffic":              {"engine", "engine/await", "engine/crash", "engine/forecast", "engine/human", "engine/wall", "riot", "riot/limit", "riot/route"},
	"engine/backendtest":          {"engine", "engine/human"},
	"engine/backendtest/memstore": {"engine"},
	"riot":                        {"riot/limit", "riot/route"},
	"riot/limit":                  {},
	"riot/route":                  {},
	"riot/sim":                    {"riot/route", "riot/sim/internal/keyed", "riot/sim/internal/world"},
	"riot/sim/internal/keyed":     {},
	"riot/sim/internal/world":     {"riot/route", "riot/sim/internal/keyed"},
	"storage":                     {"engine", "engine/await", "engine/crash", "engine/cron", "engine/human", "engine/league", "engine/regular", "storage/internal/collection", "storage/internal/commit", "storage/internal/disk", "storage/internal/payload", "storage/internal/rec", "storage/keep", "storage/key"},
	"storage/internal/collection": {"engine", "storage/internal/disk", "storage/internal/rec", "storage/key"},
	"storage/internal/commit":     {"engine", "engine/await", "storage/internal/disk"},
	"storage/pg":                  {"engine", "engine/await", "engine/columns", "engine/league", "engine/safe", "riot", "storage", "storage/internal/disk", "storage/internal/payload"},
	"storage/fleet":               {"engine", "engine/wall", "storage/pg"},
	"storage/river":               {"engine", "engine/await", "engine/traffic", "riot", "riot/limit", "storage/fleet", "storage/key", "storage/pg"},
	"storage/keep":                {"engine", "engine/crash", "engine/human", "engine/regular", "storage/internal/disk", "storage/internal/payload"},
	"storage/internal/disk":       {"engine", "engine/crash", "engine/human", "engine/regular", "engine/wall", "storage/internal/rec"},
	"storage/internal/payload":    {"engine", "engine/crash", "engine/league", "engine/regular", "storage/internal/disk", "storage/internal/rec"},
	"storage/key":                 {},
	"storage/internal/rec":        {},
	"internal/config":             {"engine", "engine/alert", "engine/api", "engine/cron", "engine/ingest", "engine/league", "engine/pager", "engine/regular", "riot", "riot/route", "themes"},
	"engine/crash":                {},
	"engine/wall":                 {},
	"internal/bundle":             {"engine", "engine/regular", "engine/safe", "riot"},
	"internal/dataset":            {"engine", "engine/columns", "engine/regular", "engine/safe", "internal/outfile", "riot"},
	"internal/demo":               {"engine", "engine/human", "engine/league", "engine/pager", "engine/pager/voice", "internal/swap", "riot", "riot/route", "riot/sim", "engine/await", "ui/chaos"},
	"internal/doctor":             {"engine", "engine/columns", "engine/human", "engine/regular", "engine/traffic", "engine/wall", "internal/keyring", "riot", "riot/limit", "riot/route", "storage", "storage/keep", "themes"},
	"internal/keyring":            {"engine", "engine/safe", "engine/regular", "riot", "engine/await"},
	"internal/leak":               {},
	"internal/shape":              {},
	"internal/logbook":            {"engine", "engine/human", "engine/journal", "engine/regular", "engine/safe", "engine/wall", "internal/sdnotify", "riot"},
	"internal/outfile":            {"engine/regular"},
	"internal/pgtest":             {"internal/scratch", "internal/tempdir"},
	"engine/regular":              {},
	"internal/reference":          {},
	"internal/scratch":            {"internal/tempdir"},
	"internal/sdnotify":           {},
	"internal/simview":            {"engine", "engine/human", "engine/safe", "riot", "riot/sim", "engine/await"},
	"internal/swap":               {"engine", "engine/await"},
	"internal/tempdir":            {"engine/regular"},
	"ui":                          {"engine", "engine/await", "engine/child", "engine/columns", "engine/filter", "engine/human", "engine/operation", "engine/safe", "themes", "ui/block", "ui/chaos", "ui/charts", "ui/inspector", "ui/keys", "ui/line", "ui/lists", "ui/page", "ui/part", "ui/saved", "ui/screen", "ui/screen/accounts", "ui/screen/chaospanel", "ui/screen/logs", "ui/screen/report", "ui/session", "ui/terminal"},
	"ui/block":                    {"engine", "engine/columns", "engine/human", "engine/safe", "themes", "ui/charts", "ui/lists", "ui/page", "ui/part"},
	"ui/chaos":                    {},
	"ui/charts":                   {"engine", "engine/columns", "engine/fold", "engine/human", "engine/safe", "themes", "ui/page", "ui/part"},
	"ui/cli":                      {"engine", "engine/await", "engine/columns", "engine/filter", "engine/human", "engine/safe", "engine/table", "riot", "themes"},
	"ui/inspector":                {"engine", "engine/columns", "engine/human", "engine/safe", "themes", "ui/block", "ui/charts", "ui/lists", "ui/page", "ui/part"},
	"ui/keys":                     {"engine/filter", "engine/safe", "ui/page", "ui/part"},
	"ui/line":                     {"engine", "engine/operation", "ui/page"},
	"ui/lists":                    {"engine", "engine/columns", "engine/filter", "engine/human", "engine/operation", "themes", "ui/page", "ui/part"},
	"ui/page":                     {"engine", "engine/columns", "engine/filter", "engine/human", "engine/operation", "engine/safe", "riot/route", "themes", "ui/chaos", "ui/part"},
	"ui/page/pagetest":            {"themes", "ui/page", "ui/uitest"},
	"ui/part":                     {"engine/human", "engine/safe", "engine/table", "themes"},
	"ui/plain":                    {"engine", "engine/columns", "engine/human", "engine/safe", "themes", "ui/chaos", "ui/page", "ui/screen/chaospanel", "ui/session"},
	"ui/saved":                    {"engine/human", "engine/regular", "ui/page"},
	"ui/screen":                   {"engine", "engine/columns", "ui/block", "ui/inspector", "ui/page", "ui/screen/accounts", "ui/screen/alerts", "ui/screen/audit", "ui/screen/chaospanel", "ui/screen/classes", "ui/screen/collections", "ui/screen/forensics", "ui/screen/jobs", "ui/screen/limits", "ui/screen/logs", "ui/screen/matches", "ui/screen/members", "ui/screen/messages", "ui/screen/overview", "ui/screen/report", "ui/screen/retries", "ui/screen/schedules"},
	"ui/screen/accounts":          {"engine", "engine/columns", "engine/human", "engine/safe", "themes", "ui/block", "ui/charts", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/alerts":            {"engine", "engine/columns", "engine/human", "engine/safe", "themes", "ui/block", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/audit":             {"engine", "engine/columns", "engine/human", "engine/operation", "themes", "ui/block", "ui/charts", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/chaospanel":        {"engine", "engine/human", "themes", "ui/block", "ui/chaos", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/collections":       {"engine", "engine/columns", "engine/human", "themes", "ui/block", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/classes":           {"engine", "engine/columns", "engine/human", "engine/operation", "themes", "ui/block", "ui/charts", "ui/inspector", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/forensics":         {"engine", "engine/columns", "engine/human", "themes", "ui/block", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/jobs":              {"engine", "engine/columns", "engine/human", "engine/safe", "themes", "ui/block", "ui/charts", "ui/inspector", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/limits":            {"engine", "engine/columns", "engine/human", "engine/safe", "themes", "ui/block", "ui/charts", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/logs":              {"engine", "engine/columns", "engine/human", "engine/safe", "themes", "ui/block", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/matches":           {"engine", "engine/columns", "engine/human", "themes", "ui/block", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/members":           {"engine", "engine/columns", "engine/human", "themes", "ui/block", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/messages":          {"engine", "engine/columns", "engine/human", "themes", "ui/block", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/overview":          {"engine", "engine/columns", "engine/human", "engine/safe", "themes", "ui/block", "ui/charts", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/report":            {"engine", "engine/columns", "engine/human", "engine/safe", "themes", "ui/block", "ui/charts", "ui/page", "ui/part"},
	"ui/screen/retries":           {"engine", "engine/columns", "engine/human", "themes", "ui/block", "ui/charts", "ui/inspector", "ui/lists", "ui/page", "ui/part"},
	"ui/screen/schedules":         {"engine", "engine/columns", "engine/human", "themes", "ui/block", "ui/charts", "ui/lists", "ui/page", "ui/part"},
	"ui/session":                  {"engine", "engine/await", "engine/fold", "ui/chaos", "ui/page"},
	"ui/terminal":                 {"engine/await", "engine/safe", "themes"},
	"ui/uitest":                   {"engine", "engine/columns", "engine/filter", "engine/forecast"},
	"docs/pictures":               {},
	"themes":                      {},
}

// outside are libraries that only certain folders may see: no HTTP in storage
// and ui, no bbolt anywhere but in storage and below it.
var outside = map[string][]string{
	"go.etcd.io/bbolt":                 {"storage", "storage/internal/collection", "storage/internal/disk", "storage/internal/payload", "storage/keep"},
	"net/http":                         {"internal/app", "riot", "riot/limit", "riot/sim", "engine/api", "engine/api/apitest", "engine/pager", "engine/pager/voice", "internal/demo"},
	"charm.land/bubbletea/v2":          {"ui", "ui/page", "ui/part", "ui/terminal"},
	"github.com/parquet-go/parquet-go": {}, // its encodings do: the whole is a tenth of a program
	"github.com/spf13/cobra":           {"internal/app", "internal/reference"},
	"github.com/robfig/cron/v3":        {"engine/cron"},
	"github.com/jackc/pgx/v5":          {"internal/pgtest", "storage/fleet", "storage/pg", "storage/river"},
	"github.com/jackc/pgx/v5/pgconn":   {"storage/pg", "storage/river"},
	"github.com/jackc/pgx/v5/pgtype":   {"storage/pg"},
	"github.com/jackc/pgx/v5/pgxpool":  {"storage/pg", "storage/river"},
	"github.com/riverqueue/river":      {"storage/river"},
	"testing":                          {"engine/backendtest", "internal/pgtest"},
}

// floors are how high each top folder stands: what is imported from another one stands
// below.
var floors = map[string]int{"riot": 1, "themes": 1, "engine": 2, "storage": 3, "ui": 3, "internal": 4, ".": 5}

func TestNoImportRunsUp(t *testing.T) {
	for dir, allowed := range imports {
		from, _, _ := strings.Cut(dir, "/")
		for _, of := range allowed {
			to, _, _ := strings.Cut(of, "/")
			if of != everything && to != from && floors[to] >= floors[from] {
				t.Errorf("%s may import %s, which stands no lower", dir, of)
			}
		}
	}
}

func TestImportsFollowTheArchitecture(t *testing.T) {
	taken := map[string]bool{}
	walkGo(t, func(path string) {
		if !strings.HasSuffix(path, "_test.go") {
			checkFile(t, path, taken)
		}
	})
	for dir, allowed := range imports {
		if _, err := os.Stat(filepath.Join(top, dir)); err != nil {
			t.Errorf("the rules name %s, which is not there", dir)
		}
		for _, of := range allowed {
			if of != everything && !taken[dir+" "+of] {
				t.Errorf("%s may import %s and does not: take the rule away", dir, of)
			}
		}
	}
}

// checkFile holds a file's imports against the rules, and notes which rules it takes.
func checkFile(t *testing.T, path string, taken map[string]bool) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	dir := relative(t, filepath.Dir(path))
	allowed, known := imports[dir]
	if !known {
		t.Errorf("%s is in no rule: add it to the architecture", dir)
	}
	for _, spec := range f.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		of, ours := strings.CutPrefix(name, module+"/")
		taken[dir+" "+of] = true
		if ours && !slices.Contains(allowed, of) && !slices.Contains(allowed, everything) {
			t.Errorf("%s imports %s, which its layer must not see", path, of)
		}
		if only, limited := outside[name]; limited && !slices.Contains(only, dir) {
			t.Errorf("%s imports %s: only %v may", path, name, only)
		}
	}
}
