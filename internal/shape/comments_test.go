package shape

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pageName is a page that a comment refers to, such as docs/http.md, and section a part of
// a page that it does not even name.
var (
	pageName = regexp.MustCompile(`[\w./-]+\.md\b`)
	section  = regexp.MustCompile(`\b[Ss]pec( section)? [0-9]|\bspecification [0-9]|\bsection [0-9]+(\.[0-9]+)?\b`)
	rfc      = regexp.MustCompile(`RFC ?\d+`)
)

// Who reads a comment has the repository and nothing else.
func TestNoCommentPointsOutside(t *testing.T) {
	walkGo(t, func(path string) {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range f.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			for _, page := range pageName.FindAllString(text, -1) {
				if !anyPage(page) {
					t.Errorf("%s: a comment points to %s, which is not here", fset.Position(group.Pos()), page)
				}
			}
			if m := section.FindString(text); m != "" && !rfc.MatchString(text) {
				t.Errorf("%s: a comment points to %q of a page that is not here", fset.Position(group.Pos()), m)
			}
		}
	})
}

// anyPage reports whether a page stands in the repository, at its path or in docs.
func anyPage(page string) bool {
	for _, at := range []string{page, filepath.Join("docs", page)} {
		if _, err := os.Stat(filepath.Join(top, at)); err == nil {
			return true
		}
	}
	return false
}
