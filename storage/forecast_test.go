package storage

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/storage/internal/disk"
)

func TestForecastDrawsALine(t *testing.T) {
	day := 24 * time.Hour
	cases := map[string]struct {
		samples []sizeSample
		used    int64
		free    uint64
		perDay  int64
		full    time.Duration // from now; 0 = not in sight
	}{
		"nothing seen":         {nil, 5 << 30, 9 << 30, 0, 0},
		"too short":            {[]sizeSample{{noon.Add(-time.Minute), 0}}, 5 << 30, 9 << 30, 0, 0},
		"1 GiB a day":          {[]sizeSample{{noon.Add(-2 * day), 3 << 30}, {noon.Add(-day), 3 << 30}}, 5 << 30, 10<<30 + disk.MinRoom, 1 << 30, 10 * day},
		"too old to count":     {[]sizeSample{{noon.Add(-30 * day), 0}, {noon.Add(-day), 4 << 30}}, 5 << 30, 1<<30 + disk.MinRoom, 1 << 30, day},
		"full already":         {[]sizeSample{{noon.Add(-day), 4 << 30}}, 5 << 30, 1 << 20, 1 << 30, 1},
		"shrinks":              {[]sizeSample{{noon.Add(-day), 6 << 30}}, 5 << 30, 1 << 30, -1 << 30, 0},
		"from the future":      {[]sizeSample{{noon.Add(day), 1 << 30}}, 5 << 30, 1 << 30, 0, 0},
		"beyond any lifetime":  {[]sizeSample{{noon.Add(-day), 5<<30 - 1}}, 5 << 30, 1 << 50, 1, 0},
		"now is not yesterday": {[]sizeSample{{noon, 0}}, 5 << 30, 1 << 30, 0, 0},
	}
	for name, c := range cases {
		f := Forecast{Used: c.used, Free: c.free}
		extrapolate(&f, c.samples, noon)
		var full time.Duration
		if !f.Full.IsZero() {
			full = max(f.Full.Sub(noon), 1)
		}
		if f.PerDay != c.perDay || full != c.full {
			t.Errorf("%s: %d a day, full in %s, want %d and %s", name, f.PerDay, full, c.perDay, c.full)
		}
	}
}

func TestTheStoreNotesItsSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := Open(Options{Dir: t.TempDir() + "/data"})
		must(t, err)
		stop := serve(t, db)
		time.Sleep(15 * 24 * time.Hour)
		must(t, storeMatch(db, "EUW1_1"))
		time.Sleep(7 * time.Hour)
		synctest.Wait()
		var samples []sizeSample
		read(t, db, func(tx *txn) error { samples, err = tx.sizes(); return err })
		if n := len(samples); n != keptSamples || samples[n-1].used <= samples[0].used || !samples[0].at.Before(samples[1].at) {
			t.Errorf("%d notes: %+v", n, samples)
		}
		f, err := db.Forecast(context.Background())
		if err != nil || f.PerDay <= 0 || f.Over == 0 || f.Used < samples[keptSamples-1].used || f.Free == 0 {
			t.Errorf("%+v %v", f, err)
		}
		stop()
		must(t, db.Close())
	})
}

func TestRoomAsksTheDisk(t *testing.T) {
	db := start(t, "")
	free, ok := db.Room()
	if free == 0 || ok != (free >= disk.MinRoom) {
		t.Errorf("%d %t", free, ok)
	}
	gone := &DB{dir: "/nowhere/at/all"}
	if _, ok := gone.Room(); ok {
		t.Error("a disk that does not answer has room")
	}
}
