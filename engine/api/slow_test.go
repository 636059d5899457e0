package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/farsight-console/farsight/engine"
)

type answers func(*http.Request) (*http.Response, error)

func (f answers) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestASlowCommandHasNoDeadline: a backup takes as long as the store is large.
func TestASlowCommandHasNoDeadline(t *testing.T) {
	for op, want := range map[engine.Op]bool{engine.OpBackup: false, engine.OpPrune: false, engine.OpCancel: true} {
		var has bool
		c := NewClient("nowhere")
		c.http.Transport = answers(func(r *http.Request) (*http.Response, error) {
			_, has = r.Context().Deadline()
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewBufferString(`{"backup":{"path":"/kept"},"prune":{"failed":7}}`))}, nil
		})
		r, err := c.Do(t.Context(), engine.Command{Op: op})
		if err != nil || has != want || r.Backup.Path != "/kept" || r.Prune.Failed != 7 {
			t.Errorf("%s: a deadline %v, want %v: %+v, %v", op, has, want, r, err)
		}
	}
}

// A rule that names what this engine does not know would delete too much.
func TestAPruneRuleIsReadStrictly(t *testing.T) {
	if c, err := readCommand([]byte(`{"op":"prune","prune":{"completed_ns":3600000000000,"failed_ns":0,"classes_ns":{"404":1},"keep_failed":100},"by":{}}`)); err != nil || c.Prune.Completed.Hours() != 1 || c.Prune.Classes["404"] != 1 || c.Prune.KeepFailed != 100 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := readCommand([]byte(`{"op":"prune","prune":{"completed":"30d"}}`)); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("%v", err)
	}
}
