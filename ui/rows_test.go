package ui

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

func TestToastsFade(t *testing.T) {
	var x toasts
	x.add(engine.Note{Level: engine.LevelInfo, Text: "a"}, uitest.Noon)
	x.add(engine.Note{Level: engine.LevelErr, Text: "b"}, uitest.Noon)
	if next := x.next(uitest.Noon); !next.Equal(uitest.Noon.Add(4 * time.Second)) {
		t.Errorf("the next one fades at %v", next)
	}
	x.expire(uitest.Noon.Add(4 * time.Second))
	if top := x.top(time.UTC); top.Text != "b" || top.More != 0 {
		t.Errorf("shows %+v", top)
	}
	if !x.next(uitest.Noon).IsZero() {
		t.Error("an error fades")
	}
}
