package storage

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

const (
	// sampleEvery is how often the size of the store is noted, and keptSamples how many notes are
	// kept: two weeks of them.
	sampleEvery = 6 * time.Hour
	keptSamples = 56
	// forecastOver is how far back a forecast looks, and minForecast how much it must have seen to
	// say anything.
	forecastOver = 7 * 24 * time.Hour
	minForecast  = time.Hour

	stateSizes = "storage.sizes" // name in table state
)

// Room is how many bytes the disk of the data directory still takes, and whether that is enough to
// go on: 512 MiB. ok is false too when the disk does not answer. While it is enough, some are kept for
// orders on a full disk: see giveUpBallast.
func (db *DB) Room() (free uint64, ok bool) {
	if crash.Fault("room") != nil {
		return 0, false
	}
	free, err := disk.FreeBytes(db.dir)
	if err != nil {
		db.log.Warn().Err(err).Msg("the disk does not say how much room it has")
		return 0, false
	}
	ok = free >= disk.MinRoom
	if ok && !db.readOnly {
		// Without it all works but for orders on a full disk. It is asked for every ten seconds.
		if made, err := disk.MakeBallast(db.dir); made || err != nil {
			db.log.Debug().Err(err).Bool("made", made).Msg("keep some room for orders on a full disk")
		}
	}
	return free, ok
}

// Forecast says how the disk fills.
type Forecast struct {
	Used   int64         // bytes in use in state.db and all payload files
	Free   uint64        // bytes on the disk
	PerDay int64         // growth, over the span that was seen; less than 0 after a compaction
	Over   time.Duration // that span; 0 = too short to tell
	Full   time.Time     // when less than 512 MiB will be free; the zero time when not in sight
}

// sizeSample is the size of the store at one instant.
type sizeSample struct {
	at   time.Time
	used int64
}

// Forecast compares the size of the store with what it was over the last days.
func (db *DB) Forecast(ctx context.Context) (f Forecast, err error) {
	if f.Free, err = disk.FreeBytes(db.dir); err != nil {
		return f, err
	}
	if f.Used, err = db.usedBytes(); err != nil {
		return f, err
	}
	samples, err := readIn(ctx, db, (*txn).sizes)
	if disk.IsDamage(err) {
		err = nil // check names it; the next note begins anew
	}
	extrapolate(&f, samples, disk.Now())
	return f, err
}

// extrapolate draws a line from the oldest note that counts to now.
func extrapolate(f *Forecast, samples []sizeSample, now time.Time) {
	for _, s := range samples { // oldest first
		over := now.Sub(s.at)
		// Notes are six hours apart, so the first one that is young enough is about a week old in a
		// store that has run so long.
		if over > forecastOver || over < minForecast {
			continue
		}
		days := over.Hours() / 24
		f.Over = over
		f.PerDay = int64(float64(f.Used-s.used) / days)
		break
	}
	// A store that does not grow never fills the disk: Full stays zero.
	if f.PerDay <= 0 {
		return
	}
	left := float64(f.Free) - disk.MinRoom
	// Less than MinRoom already: it is full now.
	days := max(left, 0) / float64(f.PerDay)
	if days < 100*365 { // beyond that it is no forecast, and no time.Duration
		f.Full = now.Add(time.Duration(days * 24 * float64(time.Hour)))
	}
}

// usedBytes adds up what is in use in all files; one that is damaged counts nothing.
func (db *DB) usedBytes() (total int64, err error) {
	months, err := db.files.Files()
	if err != nil {
		return 0, err
	}
	// A file may go between the list and this look: an archive or retention has replaced or deleted
	// it.
	for _, path := range append(months, disk.StatePath(db.dir)) {
		n, err := disk.UsedBytes(path)
		if err != nil && !disk.IsDamage(err) && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		if err == nil {
			total += n
		}
	}
	return total, nil
}

// noteSize writes down how large the store is, when it is time to. It runs between groups, where
// Write would wait for itself.
func (db *DB) noteSize() error {
	if time.Since(db.sized) < sampleEvery && !db.sized.IsZero() {
		return nil
	}
	if db.share != nil {
		if _, err := db.share.leads(); err != nil {
			return nil //nolint:nilerr // who leads notes it
		}
	}
	// It counts as tried even if it fails: a disk that does not answer is asked again in six hours,
	// and not each minute.
	db.sized = time.Now()
	used, err := db.usedBytes()
	if err != nil {
		db.log.Warn().Err(err).Msg("could not tell the size of the store")
		return nil
	}
	_, err = db.writer.Now(func(tx engine.Tx) error { return own(tx).addSize(used) })
	return err
}

func (t *txn) addSize(used int64) error {
	samples, err := t.sizes()
	if err != nil && !disk.IsDamage(err) {
		return err
	}
	if n := len(samples); n > 0 && t.Now.Sub(samples[n-1].at).Abs() < sampleEvery {
		return nil // this process is not the first of these hours
	}
	samples = append(samples, sizeSample{t.Now, used})
	samples = samples[max(len(samples)-keptSamples, 0):]
	return sizes.Put(t, tState, []byte(stateSizes), samples)
}

// sizes reads the notes, oldest first.
func (t *txn) sizes() ([]sizeSample, error) {
	list, _, err := sizes.Get(t, tState, []byte(stateSizes))
	return list, err
}

var sizes = collection.Shape[[]sizeSample]{Format: rec.Sizes, Fields: func(c *rec.Coder, list *[]sizeSample) {
	rec.List(c, list, 2, func(c *rec.Coder, s *sizeSample) {
		c.Time(&s.at)
		c.Int64(&s.used)
	})
}}

// WriteTimes gives the p95 of the commits of the last minute: of "state", the group commits, and of
// "payload". A store to which nothing was written is left out.
func (db *DB) WriteTimes(now time.Time) map[string]time.Duration {
	out := map[string]time.Duration{}
	for name, w := range map[string]*disk.WriteTimes{"state": &db.commits, "payload": db.files.Commits} {
		if d, ok := w.P95(now); ok {
			out[name] = d
		}
	}
	return out
}

// WriteBounds are the upper bounds of the counts of WriteSums.
var WriteBounds = disk.WriteBounds

// WriteSums gives the sums of the commits since the start: of "state", the group commits, and of
// "payload".
func (db *DB) WriteSums() map[string]disk.WriteSum {
	return map[string]disk.WriteSum{"state": db.commits.Sum(), "payload": db.files.Commits.Sum()}
}

// Sizes are how large a store is, in bytes.
type Sizes struct {
	State    int64
	Payloads int64
	Free     uint64 // on the disk
}

// Sizes looks at the files of the store.
func (db *DB) Sizes() (s Sizes, err error) {
	if s.Free, err = disk.FreeBytes(db.dir); err != nil {
		return s, err
	}
	if s.State, err = disk.Size(disk.StatePath(db.dir)); err != nil {
		return s, err
	}
	if db.share != nil {
		s.Payloads, err = db.share.DiskBytes(context.Background())
		return s, err
	}
	months, err := db.files.Files()
	if err == nil {
		s.Payloads, err = disk.Size(months...)
	}
	return s, err
}
