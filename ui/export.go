package ui

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
)

// tabbed writes rows as lines with tabs. Every cell is cleaned: what leaves by the clipboard may be
// pasted into a shell.
func tabbed(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		for n, cell := range row {
			if n > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(safe.Text(cell))
		}
	}
	return b.String()
}

// written is how writing a list to a file ended.
type written struct {
	path string
	rows int
	err  error
}

// writeRows writes rows as CSV to a file that must not exist yet, readable by its owner alone. A
// cell that a spreadsheet would take for a formula is made harmless.
func writeRows(path string, rows [][]string) (err error) {
	// O_EXCL: a slip in the name must not overwrite a file.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	// A full disk may show only when the file is closed.
	defer func() { err = errors.Join(err, f.Close()) }()
	w := csv.NewWriter(f)
	for _, row := range rows {
		// The rows are this function's own by now, so they may be changed in place.
		for i := range row {
			row[i] = safe.CSV(row[i])
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// note says what became of the file, with its whole path: it may be in another folder than the
// operator thinks.
func (w written) note() engine.Note {
	n := engine.Note{Level: engine.LevelOK}
	path, err := filepath.Abs(w.path)
	if err != nil {
		path = w.path
	}
	switch {
	case errors.Is(w.err, fs.ErrExist):
		n.Level, n.Text = engine.LevelWarn, path+" exists already and was left as it is: name another file"
	case w.err != nil:
		n.Level, n.Text = engine.LevelWarn, fmt.Sprintf("the list was not written: %v", w.err)
	default:
		n.Text = "wrote " + human.Counted(w.rows, "row", "rows") + " to " + path
	}
	return n
}
