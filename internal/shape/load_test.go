package shape

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// top is the repository, seen from this folder.
const top = "../.."

const module = "github.com/farsight-console/farsight"

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export            string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Standard                           bool
}

// ours reports whether a package is one of the repository.
func (l listed) ours() bool {
	return l.ImportPath == module || strings.HasPrefix(l.ImportPath, module+"/")
}

// folder is a package's path below the repository: "." for the top.
func folder(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

// checked is a package of ours with its types.
type checked struct {
	listed
	files []*ast.File
	info  *types.Info
	types *types.Package
}

// tree is all production code of the repository, resolved.
type tree struct {
	fset     *token.FileSet
	packages []checked
}

// load resolves all production code. Packages see each other by their compiled export
// data, as the compiler does, so that nothing but our own files is parsed.
func load(t *testing.T) tree {
	t.Helper()
	all := list(t, nil, "-export", "-deps")
	exports := map[string]string{}
	for _, l := range all {
		exports[l.ImportPath] = l.Export
	}
	tr := tree{fset: token.NewFileSet()}
	imp := importer.ForCompiler(tr.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data for %s", path)
		}
		return os.Open(exports[path])
	})
	for _, l := range all {
		if l.ours() && len(l.GoFiles) > 0 {
			tr.packages = append(tr.packages, tr.check(t, l, imp))
		}
	}
	return tr
}

// list is what go list says of all packages, with more in its environment and more flags.
func list(t *testing.T, env []string, flags ...string) []listed {
	t.Helper()
	fields := "ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Standard"
	if slices.Contains(flags, "-export") { // a field that compiles
		fields += ",Export"
	}
	cmd := exec.Command("go", append(append([]string{"list"}, flags...), "-json="+fields, "./...")...)
	cmd.Dir, cmd.Stderr, cmd.Env = top, os.Stderr, append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		switch err := dec.Decode(&l); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, l)
	}
}

func (tr *tree) check(t *testing.T, l listed, imp types.Importer) checked {
	t.Helper()
	p := checked{listed: l, info: &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	for _, name := range l.GoFiles {
		f, err := parser.ParseFile(tr.fset, filepath.Join(l.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.files = append(p.files, f)
	}
	var err error
	if p.types, err = (&types.Config{Importer: imp}).Check(l.ImportPath, tr.fset, p.files, p.info); err != nil {
		t.Fatal(err)
	}
	return p
}
