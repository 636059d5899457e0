package shape

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"testing"
)

// fromSource resolves imports by what go list has told, in the order that it told them:
// what a package imports comes before it.
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
	return nil, fmt.Errorf("%s is not there for macOS", path)
}

// TestTypesHoldOnMacOS: all that the program is made of resolves with the files that are for
// macOS. That compiles nothing, and costs a tenth of a build for a system that nobody runs here.
func TestTypesHoldOnMacOS(t *testing.T) {
	fset, known := token.NewFileSet(), fromSource{}
	for _, l := range list(t, []string{"GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=0"}, "-deps") {
		if l.ImportPath == "unsafe" {
			continue
		}
		var files []*ast.File
		for _, name := range l.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		c := types.Config{
			Importer: known, Sizes: types.SizesFor("gc", "arm64"), IgnoreFuncBodies: !l.ours(),
			Error: func(err error) {
				if l.ours() {
					t.Error(err)
				}
			},
		}
		known[l.ImportPath], _ = c.Check(l.ImportPath, fset, files, nil) // what others have written need only be known
	}
	if known[module+"/ui/terminal"] == nil {
		t.Error("go list told nothing of ui/terminal")
	}
}
