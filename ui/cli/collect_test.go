package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// TestAHeldCollectionTellsNoEnd, since nobody knows it.
func TestAHeldCollectionTellsNoEnd(t *testing.T) {
	for held, want := range map[string]string{"": `"eta_s":35`, "API DOWN: match calls to asia fail": `"eta_s":null`} {
		var text bytes.Buffer
		s := &show{out: Out{W: &text, JSON: true}, held: held}
		s.collection(engine.CollectionRow{}, time.Now().Add(time.Hour))
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q: %s", held, text.String())
		}
	}
}
