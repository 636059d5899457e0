package shape

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// knot is a package's largest set of files that all use each other, directly or through
// others: who opens one of them needs all of them. It is the largest strongly connected
// component of "file A names something that file B declares".
func (p checked) knot() []string {
	uses := map[string][]string{}
	for id, obj := range p.info.Uses {
		if obj.Pkg() != p.types || !obj.Pos().IsValid() {
			continue
		}
		from, to := fset.File(id.Pos()).Name(), fset.File(obj.Pos()).Name()
		if to != from && !slices.Contains(uses[from], to) {
			uses[from] = append(uses[from], to)
		}
	}
	return slices.MaxFunc(append(components(uses), nil), func(a, b []string) int { return len(a) - len(b) })
}

// components are the strongly connected components of a graph, found by Tarjan's
// algorithm (SIAM Journal on Computing 1, 1972).
func components(next map[string][]string) [][]string {
	var (
		found [][]string
		stack []string
		index = map[string]int{} // when a node was reached, from 1
		low   = map[string]int{} // the earliest node on the stack that it reaches
		open  = map[string]bool{}
		visit func(string)
	)
	visit = func(n string) {
		index[n] = len(index) + 1
		low[n] = index[n]
		stack, open[n] = append(stack, n), true
		for _, m := range next[n] {
			if index[m] == 0 {
				visit(m)
				low[n] = min(low[n], low[m])
			} else if open[m] {
				low[n] = min(low[n], index[m])
			}
		}
		if low[n] != index[n] {
			return
		}
		at := slices.Index(stack, n)
		for _, m := range stack[at:] {
			open[m] = false
		}
		found = append(found, slices.Clone(stack[at:]))
		stack = stack[:at]
	}
	for n := range next {
		if index[n] == 0 {
			visit(n)
		}
	}
	return found
}

// idle are the exported names of a package for which no other one has a use: nobody
// names them, tests included, and no name that is used leads to them.
func (p checked) idle(used map[string]bool) []string {
	r := reach{pkg: p.types, found: map[types.Object]bool{}, seen: map[*types.Named]bool{}}
	scope := p.types.Scope()
	for _, name := range scope.Names() {
		if used[p.ImportPath+"."+name] {
			r.found[scope.Lookup(name)] = true
			r.typ(scope.Lookup(name).Type())
		}
	}
	var list []string
	for _, name := range scope.Names() {
		if obj := scope.Lookup(name); obj.Exported() && !r.found[obj] && !r.isValue(obj) {
			list = append(list, name)
		}
	}
	return list
}

// reach is what of a package can be had by way of the names that others use: the type of
// a field, a parameter or a result, although nobody writes it out.
type reach struct {
	pkg   *types.Package
	found map[types.Object]bool
	seen  map[*types.Named]bool
}

// isValue reports whether obj is a constant of a type that is had: one word of a list.
func (r reach) isValue(obj types.Object) bool {
	t, named := obj.Type().(*types.Named)
	_, constant := obj.(*types.Const)
	return constant && named && r.found[t.Obj()]
}

func (r reach) typ(t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		if t.Obj().Pkg() == r.pkg {
			r.found[t.Obj()] = true
		}
		r.typ(types.Unalias(t))
	case *types.Named:
		r.named(t)
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				r.typ(f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			r.typ(m.Type())
		}
	case *types.Signature:
		for v := range t.Params().Variables() {
			r.typ(v.Type())
		}
		for v := range t.Results().Variables() {
			r.typ(v.Type())
		}
	case *types.Map:
		r.typ(t.Key())
		r.typ(t.Elem())
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		r.typ(t.Elem())
	}
}

func (r reach) named(t *types.Named) {
	for arg := range t.TypeArgs().Types() {
		r.typ(arg)
	}
	t = t.Origin()
	if t.Obj().Pkg() != r.pkg || r.seen[t] {
		return
	}
	r.seen[t], r.found[t.Obj()] = true, true
	r.typ(t.Underlying())
	for m := range t.Methods() {
		if m.Exported() {
			r.typ(m.Type())
		}
	}
}

// usedOutside are the names at the top of a package that another package uses.
func (tr *tree) usedOutside(t *testing.T) map[string]bool {
	used := map[string]bool{}
	for _, p := range tr.packages {
		for _, obj := range p.info.Uses {
			if pkg := obj.Pkg(); pkg != nil && pkg != p.types && obj.Parent() == pkg.Scope() {
				used[pkg.Path()+"."+obj.Name()] = true
			}
		}
		for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
			usedIn(t, p, name, used)
		}
	}
	return used
}

// usedIn adds the names that a test names. Its types are not resolved, for that takes
// minutes: what stands behind an import's name is taken for one of that package.
func usedIn(t *testing.T, p checked, name string, used map[string]bool) {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{}
	for _, i := range f.Imports {
		of, _ := strconv.Unquote(i.Path.Value)
		if of == p.ImportPath || !strings.HasPrefix(of, module+"/") {
			continue
		}
		as := path.Base(of)
		if i.Name != nil {
			as = i.Name.Name
		}
		paths[as] = of
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && paths[x.Name] != "" {
				used[paths[x.Name]+"."+sel.Sel.Name] = true
			}
		}
		return true
	})
}
