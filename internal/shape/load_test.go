package shape

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// top is the repository, seen from this folder.
const top = "../.."

const module = "github.com/farsight-console/farsight"

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
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
	info  *types.Info
	types *types.Package
}

// tree is all production code of the repository, resolved.
type tree struct {
	packages []checked
}

// load resolves all production code as it is for a system. All that it imports is resolved from its
// source, without what functions do: export data would have to be compiled, and go test compiles the
// same beside it.
func load(t *testing.T, system, arch string) tree {
	t.Helper()
	var tr tree
	known := fromSource{}
	for _, l := range list(t, "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0") {
		if l.ImportPath == "unsafe" {
			continue
		}
		var files []*ast.File
		for _, name := range l.GoFiles {
			files = append(files, parse(t, filepath.Join(l.Dir, name), l.ours()))
		}
		c := types.Config{
			Importer: known, Sizes: types.SizesFor("gc", arch), IgnoreFuncBodies: !l.ours(),
			Error: func(err error) {
				if l.ours() {
					t.Error(err)
				}
			},
		}
		if !l.ours() {
			known[l.ImportPath], _ = c.Check(l.ImportPath, fset, files, nil) // what others have written need only be known
			continue
		}
		p := checked{listed: l, info: &types.Info{Uses: map[*ast.Ident]types.Object{}}}
		p.types, _ = c.Check(l.ImportPath, fset, files, p.info)
		known[l.ImportPath] = p.types
		if len(l.GoFiles) > 0 {
			tr.packages = append(tr.packages, p)
		}
	}
	return tr
}

// fset and parsed are of all files that were read: most are the same for every system.
var (
	fset   = token.NewFileSet()
	parsed = map[string]*ast.File{}
)

func parse(t *testing.T, path string, whole bool) *ast.File {
	t.Helper()
	if f := parsed[path]; f != nil {
		return f
	}
	f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && !whole {
			fn.Body = nil
		}
	}
	parsed[path] = f
	return f
}

// list is what go list says of all packages and of what they import, in an order in which what is
// imported comes first.
func list(t *testing.T, env ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles", "./...")
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

// fromSource resolves imports by what was resolved before.
type fromSource map[string]*types.Package

func (s fromSource) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := s[path]; p != nil {
		return p, nil
	}
	if p := s["vendor/"+path]; p != nil { // what the standard library has brought along
		return p, nil
	}
	return nil, fmt.Errorf("%s is not there", path)
}
