package shape

import "slices"

// knot is a package's largest set of files that all use each other, directly or through
// others: who opens one of them needs all of them. It is the largest strongly connected
// component of "file A names something that file B declares".
func (tr *tree) knot(p checked) []string {
	uses := map[string][]string{}
	for id, obj := range p.info.Uses {
		if obj.Pkg() != p.types || !obj.Pos().IsValid() {
			continue
		}
		from, to := tr.fset.File(id.Pos()).Name(), tr.fset.File(obj.Pos()).Name()
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

// idle are the exported names of a package that no other package uses.
func (p checked) idle(used map[string]bool) []string {
	var list []string
	for _, name := range p.types.Scope().Names() {
		obj := p.types.Scope().Lookup(name)
		if obj.Exported() && !used[p.ImportPath+"."+name] {
			list = append(list, name)
		}
	}
	return list
}

// usedOutside are the names at the top of a package that another package uses.
func (tr *tree) usedOutside() map[string]bool {
	used := map[string]bool{}
	for _, p := range tr.packages {
		for _, obj := range p.info.Uses {
			if pkg := obj.Pkg(); pkg != nil && pkg != p.types && obj.Parent() == pkg.Scope() {
				used[pkg.Path()+"."+obj.Name()] = true
			}
		}
	}
	return used
}
