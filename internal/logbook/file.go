// Package logbook keeps the log of a data directory: the file, the newest records of it
// in memory, and the narrator that tells it what the parts of an engine say and what
// they have done.
package logbook

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine/journal"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/sdnotify"
	"github.com/farsight-console/farsight/riot"
)

// maxLog is the size at which the log file is set aside as farsight.log.1.
const maxLog = 16 << 20

// File is the log of one data directory, and the ring of its newest records in
// memory. Nothing that looks like an API key gets through to either, whatever a
// layer above wrote. A log that cannot be written never stops the engine: what the
// file could not take is counted, and stays in the ring.
type File struct {
	Ring *journal.Ring // the newest records

	systemd bool // its journal is told what the file is

	mu    sync.Mutex
	level zerolog.Level // of the file: what is below it stays in memory
	path  string
	file  *os.File
	size  int64
}

// New makes the log of a data directory: farsight.log, mode 0600, opened with
// its first line, since whoever opens the store wants to log before the directory
// is there.
func New(dir, level string) (zerolog.Logger, *File) {
	l := &File{path: Path(dir), Ring: journal.NewRing(journal.KeepRecords, journal.KeepBytes), systemd: sdnotify.Journals(), level: zerolog.InfoLevel}
	if lvl, err := zerolog.ParseLevel(level); err == nil {
		l.level = lvl
	}
	return zerolog.New(l).Level(zerolog.DebugLevel).Hook(stampHook{}), l
}

// Durations are written with their unit: a record is read by people first.
func init() { zerolog.DurationFieldFormat = zerolog.DurationFormatString }

// Path is where the log of a data directory is.
func Path(dir string) string { return filepath.Join(dir, "farsight.log") }

// stampHook writes the instant with milliseconds, in UTC: what happens within one
// second has an order, and logs of several machines can be laid side by side.
type stampHook struct{}

// stampFormat is RFC 3339 with milliseconds: 2026-11-21T12:00:00.123Z.
const stampFormat = "2006-01-02T15:04:05.000Z07:00"

func (stampHook) Run(e *zerolog.Event, _ zerolog.Level, _ string) {
	e.Str("time", time.Now().UTC().Format(stampFormat))
}

// Area is a part's own log: its records carry the part's name.
func Area(log zerolog.Logger, area string) zerolog.Logger {
	return log.With().Str("area", area).Logger()
}

// Usable says what is in the place of the log of a data directory, if it is no file.
func Usable(dir string) error {
	info, err := os.Lstat(Path(dir))
	if err != nil || info.Mode().IsRegular() {
		return nil //nolint:nilerr // there is none yet; a log that cannot be written stops nothing
	}
	return fmt.Errorf("cannot log to %s: it is no regular file: move away what is in its place", Path(dir))
}

// open is tried again with the next line if it fails.
func (l *File) open() {
	// Nothing that somebody has put in its place: a link would have us write anywhere, a pipe wait for ever.
	f, info, err := regular.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|regular.NoFollow, 0o600)
	if err != nil {
		return
	}
	l.file, l.size = f, info.Size()
}

// Write takes one line of JSON. It never fails: the engine does not depend on
// its log.
func (l *File) Write(p []byte) (int, error) { return l.WriteLevel(zerolog.NoLevel, p) }

// WriteLevel implements zerolog.LevelWriter. What is below the level of the file
// goes into the ring alone: a console shows more than the file takes.
func (l *File) WriteLevel(level zerolog.Level, p []byte) (int, error) {
	line := safe.JSON(withoutKeys(p))
	l.mu.Lock()
	defer l.mu.Unlock()
	if level == zerolog.DebugLevel && l.level > level {
		l.Ring.Quiet(line)
		return len(p), nil
	}
	_, _ = l.Ring.Write(line)
	switch {
	case level < l.level:
		return len(p), nil
	case l.file == nil:
		l.open()
	case l.size > maxLog:
		l.rotate()
	}
	if !l.appendLine(line) {
		l.Ring.Drop()
	}
	if l.systemd {
		p, message, fields := record(line)
		_ = sdnotify.Log(p, message, fields...) // what it does not take stands in the file
	}
	return len(p), nil
}

// priorities are the levels of records, as the journal has them.
var priorities = map[string]sdnotify.Priority{"debug": sdnotify.Debug, "info": sdnotify.Info, "warn": sdnotify.Warning, "error": sdnotify.Err}

// record is a line of the log for systemd's journal: a sentence with its level, and each
// field under its name, so that `journalctl FARSIGHT_JOB=17` finds a job's.
func record(line []byte) (p sdnotify.Priority, message string, fields []sdnotify.JournalField) {
	row, _ := journal.Decode(line)
	fields = []sdnotify.JournalField{{Name: "FARSIGHT_AREA", Value: row.Area}}
	if row.Job != "" {
		fields = append(fields, sdnotify.JournalField{Name: "FARSIGHT_JOB", Value: string(row.Job)})
	}
	for _, f := range row.Fields {
		fields = append(fields, sdnotify.JournalField{Name: "FARSIGHT_" + strings.Map(journalSign, strings.ToUpper(f.Key)), Value: f.Value})
	}
	return priorities[row.Level], row.Line(), fields
}

// journalSign is a sign as names of the journal's fields may have it.
func journalSign(r rune) rune {
	if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return '_'
}

// SetLevel changes what the file takes from now on; a word that names no level changes nothing.
func (l *File) SetLevel(word string) {
	level, err := zerolog.ParseLevel(word)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.level = level
}

// appendLine appends a line to the file, if there is one.
func (l *File) appendLine(line []byte) bool {
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

// rotate sets the file aside in the place of the one before: at most two files are kept, 32 MB.
func (l *File) rotate() {
	_ = l.file.Close()
	l.file = nil
	_ = os.Rename(l.path, l.path+".1")
	l.open()
}

// Close ends the file. What is written later is in memory alone, until a line opens it
// again.
func (l *File) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
