package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Every point in the source is one that a process was ended at, and has a name of
// its own.
func TestP01_NoCrashPointIsLeftOut(t *testing.T) {
	long(t)
	proven := map[string]bool{}
	for _, name := range provenInStorage {
		proven[name] = true
	}
	for _, scene := range crashScenes {
		for _, c := range scene.cases() {
			proven[c.point] = true
		}
	}
	there := crashPoints(t)
	for name, where := range there {
		if !proven[name] {
			t.Errorf("no process is ended at %q of %s", name, where)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(proven)) {
		if there[name] == "" {
			t.Errorf("there is no crash point %q", name)
		}
	}
	if len(there) < 40 {
		t.Errorf("only %d crash points were found", len(there))
	}
}

// crashPoints reads the names of all points from the source.
func crashPoints(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			name, ok := crashName(n)
			if ok && found[name] != "" {
				t.Errorf("%s and %s have one name for two instants: %q", found[name], path, name)
			}
			if ok {
				found[name] = path
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// crashName is the literal of a call of crash.Point.
func crashName(n ast.Node) (name string, ok bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return "", false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "Point" {
		return "", false
	}
	if of, ok := f.X.(*ast.Ident); !ok || of.Name != "crash" {
		return "", false
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	name, err := strconv.Unquote(lit.Value)
	return name, err == nil
}
