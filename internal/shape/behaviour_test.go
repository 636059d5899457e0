package shape

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the lists that these tests compare")

const behaviourPage = top + "/docs/behaviour.md"

// ruleOf finds the rules that a test's name begins with: TestS2_1_S2_2_CallsByOutcome
// names two, TestP09_ProbesWait the rule P-09, TestB13a_Months the rule B-13a, and TestP3_Adopts the
// promise P3.
var ruleOf = regexp.MustCompile(`^(?:(S\d)_(\d+)|(P|I|B|D|H|L|V|W)(\d+[a-z]?))_`)

// rulesIn are the rules that a test's name tells, and none for most tests.
func rulesIn(name string) []string {
	var rules []string
	for rest := strings.TrimPrefix(name, "Test"); ; {
		m := ruleOf.FindStringSubmatch(rest)
		if m == nil {
			return rules
		}
		rules = append(rules, ruleName(m))
		rest = rest[len(m[0]):]
	}
}

func ruleName(m []string) string {
	switch {
	case m[1] != "":
		return m[1] + "-" + m[2]
	case m[3] == "P" && len(m[4]) == 1:
		return "P" + m[4]
	}
	return m[3] + "-" + m[4]
}

// proofs are the tests of each rule, by folder.
func proofs(t *testing.T) map[string]map[string][]string {
	t.Helper()
	found := map[string]map[string][]string{}
	walkGo(t, func(path string) {
		if !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "backendtest") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		dir := relative(t, filepath.Dir(path))
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			for _, rule := range rulesIn(fn.Name.Name) {
				if found[rule] == nil {
					found[rule] = map[string][]string{}
				}
				found[rule][dir] = append(found[rule][dir], fn.Name.Name)
			}
		}
	})
	return found
}

const proved = "Proved by "

var ruleLine = regexp.MustCompile(`^\*\*([A-Z0-9-]+[a-z]?)\*\* \S`)

// withProofs is the page with the list of tests below each rule.
func withProofs(page string, found map[string]map[string][]string) (string, []string) {
	var out, rules []string
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, proved) {
			continue
		}
		out = append(out, line)
		if m := ruleLine.FindStringSubmatch(line); m != nil {
			rules = append(rules, m[1])
			out = append(out, proofLine(found[m[1]]))
		}
	}
	return strings.Join(out, "\n") + "\n", rules
}

func proofLine(byDir map[string][]string) string {
	var parts []string
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		slices.Sort(byDir[dir])
		parts = append(parts, fmt.Sprintf("`%s` %s", dir, strings.Join(byDir[dir], ", ")))
	}
	return proved + strings.Join(parts, "; ") + "."
}

func TestEachRuleHasItsTests(t *testing.T) {
	raw, err := os.ReadFile(behaviourPage)
	if err != nil {
		t.Fatal(err)
	}
	found := proofs(t)
	want, rules := withProofs(string(raw), found)
	for i, rule := range rules {
		if len(found[rule]) == 0 {
			t.Errorf("%s: no test names this rule", rule)
		}
		if slices.Contains(rules[:i], rule) {
			t.Errorf("%s is told twice", rule)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(found)) {
		if !slices.Contains(rules, rule) {
			t.Errorf("%v name the rule %s, which docs/behaviour.md does not have", found[rule], rule)
		}
	}
	if want == string(raw) {
		return
	}
	if !*update {
		t.Error("docs/behaviour.md does not list the tests as they are: go test ./internal/shape -update")
		return
	}
	if err := os.WriteFile(behaviourPage, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRulesInATestsName(t *testing.T) {
	for name, want := range map[string][]string{
		"TestS2_1_S2_2_CallsByOutcome": {"S2-1", "S2-2"},
		"TestP09_ProbesWait":           {"P-09"},
		"TestP3_Adopts":                {"P3"},
		"TestI11_Undo":                 {"I-11"},
		"TestB7_B13a_Months":           {"B-7", "B-13a"},
		"TestS2_AStalePage":            nil,
		"TestPalette":                  nil,
	} {
		if got := rulesIn(name); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
