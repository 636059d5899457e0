package main

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine/journal"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot"
)

// maxLog is the size at which the log file is set aside as farsight.log.1.
const maxLog = 16 << 20

// logFile is the log of one data directory, and the ring of its newest records in
// memory. Nothing that looks like an API key gets through to either, whatever a
// layer above wrote. A log that cannot be written never stops the engine: what the
// file could not take is counted, and stays in the ring.
type logFile struct {
	ring *journal.Ring

	mu   sync.Mutex
	path string
	file *os.File
	size int64
}

// newLog makes the log of a data directory: farsight.log, mode 0600, opened with
// its first line, since whoever opens the store wants to log before the directory
// is there.
func newLog(dir, level string) (zerolog.Logger, *logFile) {
	l := &logFile{path: logPath(dir), ring: journal.NewRing(journal.KeepRecords, journal.KeepBytes)}
	lvl, err := zerolog.ParseLevel(level)
	if err != nil {
		lvl = zerolog.InfoLevel
	}
	return zerolog.New(l).Level(lvl).Hook(stampHook{}), l
}

// Durations are written with their unit: a record is read by people first.
func init() { zerolog.DurationFieldFormat = zerolog.DurationFormatString }

func logPath(dir string) string { return filepath.Join(dir, "farsight.log") }

// stampHook writes the instant with milliseconds, in UTC: what happens within one
// second has an order, and logs of several machines can be laid side by side.
type stampHook struct{}

const stampFormat = "2006-01-02T15:04:05.000Z07:00"

func (stampHook) Run(e *zerolog.Event, _ zerolog.Level, _ string) {
	e.Str("time", time.Now().UTC().Format(stampFormat))
}

// areaLog is a part's own log: its records carry the part's name.
func areaLog(log zerolog.Logger, area string) zerolog.Logger {
	return log.With().Str("area", area).Logger()
}

// open is tried again with the next line if it fails.
func (l *logFile) open() {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	l.file, l.size = f, 0
	if st, err := f.Stat(); err == nil {
		l.size = st.Size()
	}
}

// Write takes one line of JSON. It never fails: the engine does not depend on
// its log.
func (l *logFile) Write(p []byte) (int, error) {
	line := safe.JSON(withoutKeys(p))
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.ring.Write(line)
	switch {
	case l.file == nil:
		l.open()
	case l.size > maxLog:
		l.rotate()
	}
	if !l.put(line) {
		l.ring.Drop()
	}
	return len(p), nil
}

// put appends a line to the file, if there is one.
func (l *logFile) put(line []byte) bool {
	if l.file == nil {
		return false
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return err == nil
}

// withoutKeys masks what looks like an API key in a line of the log.
func withoutKeys(line []byte) []byte {
	if !bytes.Contains(line, []byte("RGAPI-")) {
		return line
	}
	return []byte(riot.Redact(string(line)))
}

func (l *logFile) rotate() {
	_ = l.file.Close()
	l.file = nil
	_ = os.Rename(l.path, l.path+".1")
	l.open()
}

func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
