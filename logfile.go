package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot"
)

// maxLog is the size at which the log file is set aside as farsight.log.1.
const maxLog = 16 << 20

// logFile is the log of one data directory. Nothing that looks like an API key
// gets through it, whatever a layer above wrote. A log that cannot be written
// never stops the engine.
type logFile struct {
	mu   sync.Mutex
	path string
	file *os.File
	size int64
}

// newLog makes the log of a data directory: farsight.log, mode 0600, opened with
// its first line, since whoever opens the store wants to log before the directory
// is there.
func newLog(dir, level string) (zerolog.Logger, io.Closer) {
	l := &logFile{path: filepath.Join(dir, "farsight.log")}
	lvl, err := zerolog.ParseLevel(level)
	if err != nil {
		lvl = zerolog.InfoLevel
	}
	return zerolog.New(l).Level(lvl).With().Timestamp().Logger(), l
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
	line := p
	if bytes.Contains(p, []byte("RGAPI-")) {
		line = []byte(riot.Redact(string(p)))
	}
	line = safe.JSON(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.file == nil:
		l.open()
	case l.size > maxLog:
		l.rotate()
	}
	if l.file != nil {
		n, _ := l.file.Write(line)
		l.size += int64(n)
	}
	return len(p), nil
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
