package storage

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/storage/internal/collection"
)

var update = flag.Bool("update", false, "write testdata/schema.txt anew")

// The list of all tables is made from their declarations.
func TestTheSchemaIsWrittenDown(t *testing.T) {
	list := slices.Clone(collection.Tables)
	slices.SortFunc(list, func(a, b *collection.Table) int { return strings.Compare(a.Name, b.Name) })
	var page strings.Builder
	fmt.Fprintf(&page, "%-14s %-40s %s\n", "table", "key", "value")
	for _, tb := range list {
		fmt.Fprintf(&page, "%-14s %-40s %s\n", tb.Name, tb.Keyed, tb.Says)
		if tb.Keyed == "" || tb.Says == "" {
			t.Errorf("table %s does not say what it holds", tb.Name)
		}
	}
	const path = "testdata/schema.txt"
	if *update {
		must(t, os.WriteFile(path, []byte(page.String()), 0o600))
	}
	if have, err := os.ReadFile(path); err != nil || string(have) != page.String() {
		t.Errorf("%s is not what the declarations say (go test -run Schema -update): %v", path, err)
	}
}
