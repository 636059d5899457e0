package api

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// board is the part of a Grafana dashboard that can be wrong without anybody noticing.
type board struct {
	UID           string  `json:"uid"`
	Title         string  `json:"title"`
	SchemaVersion int     `json:"schemaVersion"`
	Panels        []panel `json:"panels"`
	Templating    struct {
		List []struct{ Name, Type string } `json:"list"`
	} `json:"templating"`
}

type panel struct {
	ID         int    `json:"id"`
	Type       string `json:"type"`
	Title      string `json:"title"`
	Datasource struct{ Type, UID string }
	GridPos    struct{ H, W, X, Y int } `json:"gridPos"`
	Targets    []struct {
		Expr, RefID string
		Datasource  struct{ Type, UID string }
		Legend      string `json:"legendFormat"`
	}
}

func dashboard(t *testing.T) (b board) {
	t.Helper()
	raw, err := os.ReadFile("../../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTheDashboardIsOne: what Grafana needs of each panel is there, and none lies on
// another.
func TestTheDashboardIsOne(t *testing.T) {
	b := dashboard(t)
	if b.UID == "" || b.Title == "" || b.SchemaVersion == 0 || len(b.Templating.List) == 0 || b.Templating.List[0].Type != "datasource" {
		t.Errorf("its head: %+v", b.Templating)
	}
	ids, places := map[int]bool{}, map[[2]int]string{}
	for _, p := range b.Panels {
		if p.ID == 0 || ids[p.ID] || p.Type == "" || p.Title == "" {
			t.Errorf("panel %d %q of type %q", p.ID, p.Title, p.Type)
		}
		ids[p.ID] = true
		g := p.GridPos
		if g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("%s stands at %+v", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := places[[2]int{x, y}]; other != "" {
					t.Fatalf("%s lies on %s", p.Title, other)
				}
				places[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("%s reads %+v from %q", p.Title, p.Targets, p.Datasource.UID)
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if target.RefID == "" || refs[target.RefID] || target.Datasource.UID != "${datasource}" {
				t.Errorf("%s: %+v", p.Title, target)
			}
			refs[target.RefID] = true
		}
	}
}

var (
	ofMetric = regexp.MustCompile(`(farsight_\w+)\{([^}]*)\}`)
	byLabels = regexp.MustCompile(`by \(([^)]*)\)`)
	inLegend = regexp.MustCompile(`\{\{(\w+)\}\}`)
	matchers = regexp.MustCompile(`(\w+)(=~|!~|!=|=)"([^"]*)"`)
)

// measures are the labels of each metric, and the values that were seen of them.
type measures struct {
	labels map[string]map[string]bool
	values map[string]bool // "metric label value"
}

func measuresOf(t *testing.T) measures {
	t.Helper()
	families, err := gathered(measured()).Gather()
	if err != nil {
		t.Fatal(err)
	}
	m := measures{map[string]map[string]bool{}, map[string]bool{}}
	for _, f := range families {
		set := map[string]bool{"job": true, "instance": true, "le": f.GetType().String() == "HISTOGRAM"}
		for _, one := range f.GetMetric() {
			for _, l := range one.GetLabel() {
				set[l.GetName()] = true
				m.values[f.GetName()+" "+l.GetName()+" "+l.GetValue()] = true
			}
		}
		for _, part := range []string{"", "_bucket", "_sum", "_count"} {
			m.labels[f.GetName()+part] = set
		}
	}
	return m
}

// named are the labels that an expression groups by and its legend shows.
func named(expr, legend string) (out []string) {
	for _, by := range byLabels.FindAllStringSubmatch(expr, -1) {
		for name := range strings.SplitSeq(by[1], ",") {
			out = append(out, strings.TrimSpace(name))
		}
	}
	for _, l := range inLegend.FindAllStringSubmatch(legend, -1) {
		out = append(out, l[1])
	}
	return out
}

// anyValue are labels whose values are not known before, and metrics that count what
// need not have happened yet.
var anyValue = map[string]bool{"job": true, "instance": true, "farsight_jobs_ended_total": true}

// wrong says what is wrong with the labels of one metric in an expression.
func (m measures) wrong(metric, selectors string, named []string) (out []string) {
	for _, sel := range matchers.FindAllStringSubmatch(selectors, -1) {
		named = append(named, sel[1])
		for value := range strings.SplitSeq(sel[3], "|") {
			if !anyValue[sel[1]] && !anyValue[metric] && !m.values[metric+" "+sel[1]+" "+value] {
				out = append(out, metric+" never has "+sel[1]+"="+value)
			}
		}
	}
	for _, name := range named {
		if !m.labels[metric][name] {
			out = append(out, metric+" has no label "+name)
		}
	}
	return out
}

// TestTheDashboardUsesLabelsThatThereAre: each label that an expression selects, groups
// by or shows is one of the metric's, and a value that it names has been seen.
func TestTheDashboardUsesLabelsThatThereAre(t *testing.T) {
	m := measuresOf(t)
	for _, p := range dashboard(t).Panels {
		for _, target := range p.Targets {
			for _, found := range ofMetric.FindAllStringSubmatch(target.Expr, -1) {
				for _, why := range m.wrong(found[1], found[2], named(target.Expr, target.Legend)) {
					t.Errorf("%s: %s: %s", p.Title, why, target.Expr)
				}
			}
		}
	}
	if got := m.wrong("farsight_limit_calls", `kind="nonsense",town="x"`, []string{"country"}); len(got) != 4 {
		t.Errorf("the test is blind: %q", got)
	}
}
