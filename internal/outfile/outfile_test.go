package outfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A whole export is there when it is complete, and never in the place of another file.
func TestAppearsWhole(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out")
	for _, w := range []struct {
		fault, want error
		intruder    bool
	}{{fault: context.Canceled}, {intruder: true}, {}} {
		f, err := Open(name, false, false)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.WriteString("line\n")
		if _, err := os.Lstat(name); err == nil {
			t.Error("the file is there before the export is complete")
		}
		if w.intruder {
			if err := os.WriteFile(name, []byte("precious"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err = f.Finish(w.fault)
		raw, _ := os.ReadFile(name)
		switch {
		case w.fault != nil && (!errors.Is(err, w.fault) || len(raw) > 0),
			w.intruder && (err == nil || string(raw) != "precious"),
			w.fault == nil && !w.intruder && (err != nil || string(raw) != "line\n"):
			t.Errorf("%+v: %v, %q", w, err, raw)
		}
		_ = os.Remove(name)
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%+v: left %v", w, left)
		}
	}
}

// One that follows goes on behind whole lines, and only when it is told where.
func TestFollows(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	for _, w := range []struct {
		before string // what is in the file; "-" = there is none
		after  bool
		says   string // the error; "" = none
		behind bool   // lines that are there already
	}{
		{"-", false, "", false}, {"-", true, "", false}, {"a\n", false, "--after", false},
		{"a\n", true, "", true}, {"", true, "", false}, {"a\nb", true, "its last line is cut", false},
	} {
		_ = os.Remove(name)
		if w.before != "-" {
			if err := os.WriteFile(name, []byte(w.before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f, err := Open(name, true, w.after)
		if w.says != "" {
			if err == nil || !strings.Contains(err.Error(), w.says) {
				t.Errorf("%+v: %v", w, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", w, err)
			continue
		}
		_, _ = f.WriteString("next\n")
		if err := f.Finish(context.Canceled); !errors.Is(err, context.Canceled) || f.Headless != w.behind {
			t.Errorf("%+v: %v, headless %v", w, err, f.Headless)
		}
		want := strings.TrimPrefix(w.before, "-") + "next\n"
		if raw, err := os.ReadFile(name); err != nil || string(raw) != want {
			t.Errorf("%+v: the file holds %q, %v", w, raw, err)
		}
	}
}
