package storage

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// A directory that an engine has to finish first is refused, and so is one that is in use, is a
// backup, or was handed over.
func TestWhatIsNotHandedOver(t *testing.T) {
	o := Options{Dir: t.TempDir() + "/data"}
	db, err := Open(o)
	must(t, err)
	if _, err := OpenHandover(o); err == nil || !strings.Contains(err.Error(), "is held by process") {
		t.Errorf("one in use: %v", err)
	}
	stop := serve(t, db)
	must(t, db.SaveState(t.Context(), forgetPrefix+"01A", []byte("{}")))
	stop()
	must(t, db.Close())
	if _, err := OpenHandover(o); !errors.Is(err, engine.ErrRefused) || !strings.Contains(err.Error(), "the forgetting of an account was interrupted") {
		t.Errorf("one with something to finish: %v", err)
	}
	must(t, os.WriteFile(o.Dir+"/"+movedFile, []byte("schema farsight of lol on db\n"), 0o600))
	for name, open := range map[string]func(Options) (*DB, error){"to write": Open, "to read": OpenReadOnly} {
		if _, err := open(o); !errors.Is(err, engine.ErrRefused) || !strings.Contains(err.Error(), "was moved to schema farsight of lol on db") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
