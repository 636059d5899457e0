// Package bundle packs what a bug report needs into one archive for a person to read
// before it is sent: never an API key and, unless names are kept, nobody who plays.
package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot"
)

// How much of what there is goes into a bundle.
const (
	mostJobs  = 200
	mostAudit = 200
	mostLog   = 1 << 20 // bytes, from the end
	pageSize  = 100
)

// Options say for whom a bundle is.
type Options struct {
	Version string    // of the program
	At      time.Time // when it is made
	Key     riot.Key  // cut out wherever it stands; may be the zero Key
	Names   bool      // Riot IDs and PUUIDs stay
}

// Bundle is a bug report in the making: files for a person to read before they are
// sent.
type Bundle struct {
	opt   Options
	mask  *masker
	files []file
}

// file is one of a bundle.
type file struct {
	name, what string
	body       []byte
}

// New is a bundle without files.
func New(o Options) *Bundle { return &Bundle{opt: o, mask: newMasker(o.Key, o.Names)} }

// Add takes a file, masked whatever it is; what says in the list what it holds.
func (b *Bundle) Add(name, what string, body []byte) {
	b.files = append(b.files, file{name, what, b.mask.bytes(body)})
}

// AddJSON takes a value as a file.
func (b *Bundle) AddJSON(name, what string, v any) {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		body = fmt.Appendf(nil, "%q", err.Error())
	}
	b.Add(name, what, append(safe.JSON(body), '\n'))
}

// addLines takes one JSON value per line.
func addLines[T any](b *Bundle, name, what string, values []T) {
	var body bytes.Buffer
	for _, v := range values {
		line, err := json.Marshal(v)
		if err != nil {
			line = fmt.Appendf(nil, "%q", err.Error())
		}
		body.Write(append(safe.JSON(line), '\n'))
	}
	b.Add(name, what, body.Bytes())
}

// AddStored adds what a console can tell: of the running engine, else of the stored
// data. A part that cannot be had is named, and the others go on. It goes first: who
// plays is learnt there, to be found in all that follows.
func (b *Bundle) AddStored(ctx context.Context, c engine.Console) {
	b.mask.learn(ctx, c)
	b.answers(ctx, c)
	b.jobs(ctx, c)
	b.audit(ctx, c)
}

func (b *Bundle) answers(ctx context.Context, c engine.Console) {
	// Each answer is a file by itself: one that cannot be had leaves the others whole.
	for _, part := range []struct {
		name, what string
		query      engine.Query
	}{
		{"status.json", "the engine, its queues and what syncs", engine.StatusQuery{}},
		{"limits.json", "the rate limits as last known", engine.LimitsQuery{}},
		{"schedules.json", "what recurs", engine.SchedulesQuery{}},
		{"alerts.json", "the alerts", engine.AlertsQuery{}},
		{"classes.json", "the error classes of failed jobs", engine.ClassesQuery{}},
		{"metrics.json", "what jobs and calls add up to", engine.MetricsQuery{Days: 14}},
	} {
		a, err := c.Find(ctx, part.query)
		if err != nil {
			b.Add(part.name, part.what+" (could not be had)", fmt.Appendf(nil, "%q\n", err.Error()))
			continue
		}
		b.AddJSON(part.name, part.what, a)
	}
}

// jobs adds the newest jobs, live and ended ones, with their attempts.
func (b *Bundle) jobs(ctx context.Context, c engine.Console) {
	// Jobs, and as the last entry a sentence where no more could be read.
	var list []any
	q := engine.JobsQuery{Ended: true, Page: engine.Page{Limit: pageSize}}
	for len(list) < mostJobs {
		page, err := engine.Ask[engine.JobsPage](ctx, c, q)
		if err != nil {
			list = append(list, fmt.Sprintf("no more jobs could be read: %v", err))
			break
		}
		// The detail has the attempts with their errors; a job that has been pruned meanwhile is left
		// out.
		for _, j := range page.Jobs {
			if d, err := c.Find(ctx, engine.JobQuery{ID: j.ID}); err == nil {
				list = append(list, d)
			}
		}
		if page.Next == "" {
			break
		}
		q.After = page.Next
	}
	addLines(b, "jobs.ndjson", fmt.Sprintf("the newest jobs with their attempts, at most %d", mostJobs), list[:min(len(list), mostJobs)])
}

// audit adds the newest of the operators' commands: what somebody did before it broke.
func (b *Bundle) audit(ctx context.Context, c engine.Console) {
	page, err := engine.Ask[engine.AuditPage](ctx, c, engine.AuditQuery{Page: engine.Page{Limit: mostAudit}})
	if err != nil {
		b.Add("audit.ndjson", "the operators' commands (could not be had)", fmt.Appendf(nil, "%q\n", err.Error()))
		return
	}
	addLines(b, "audit.ndjson", "the operators' commands, newest first", page.Entries)
}

// AddLog adds the end of the log file.
func (b *Bundle) AddLog(path string) {
	f, st, err := regular.Open(path, regular.NoFollow)
	if err != nil {
		b.Add("log.ndjson", "the end of the log (could not be read)", fmt.Appendf(nil, "%q\n", err.Error()))
		return
	}
	defer f.Close()
	// The end alone: a log of weeks would be too large to attach.
	if st.Size() > mostLog {
		_, _ = f.Seek(-mostLog, io.SeekEnd)
	}
	body, err := io.ReadAll(io.LimitReader(f, mostLog))
	if len(body) == mostLog { // the first line is not whole
		_, body, _ = bytes.Cut(body, []byte("\n"))
	}
	if err != nil {
		body = append(body, fmt.Sprintf("%q\n", err.Error())...)
	}
	b.Add("log.ndjson", "the end of the log", body)
}

// readme lists what is inside.
func (b *Bundle) readme() []byte {
	var s strings.Builder
	fmt.Fprintf(&s, "Farsight %s, bundle of %s for a bug report.\n\n", b.opt.Version, b.opt.At.UTC().Format(time.RFC3339))
	s.WriteString("The API key is in none of these files.\n")
	if b.opt.Names {
		s.WriteString("Riot IDs and PUUIDs are in them as they are, as was asked for.\n")
	} else {
		s.WriteString("Riot IDs and PUUIDs are replaced: the same player has the same name everywhere in here,\nand another one in the next bundle. Match ids are as they are.\n")
	}
	s.WriteString("Look through it before you send it.\n\n")
	for _, f := range b.files {
		fmt.Fprintf(&s, "%-16s %8d bytes  %s\n", f.name, len(f.body), f.what)
	}
	return b.mask.bytes([]byte(s.String()))
}

// Written is a bundle that is on disk.
type Written struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	Names  bool   `json:"names"` // Riot IDs are in it
	Files  []File `json:"files"`
	Readme string `json:"-"` // its list of files, for people
}

// File is one that is in it.
type File struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
	What  string `json:"what"`
}

// Write makes the archive, mode 0600. It overwrites nothing; what was begun in vain is
// removed.
func (b *Bundle) Write(path string) (Written, error) {
	readme := b.readme()
	if err := b.pack(path, readme); err != nil {
		return Written{}, err
	}
	w := Written{Path: path, Names: b.opt.Names, Readme: string(readme)}
	if st, err := os.Stat(path); err == nil {
		w.Bytes = st.Size()
	}
	for _, f := range b.files {
		w.Files = append(w.Files, File{f.name, len(f.body), f.what})
	}
	return w, nil
}

// pack writes the archive: one folder, so that unpacking it anywhere makes no mess.
func (b *Bundle) pack(path string, readme []byte) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already: name another file with --out", path)
	}
	if err != nil {
		return fmt.Errorf("the bundle cannot be written: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(path)
			err = fmt.Errorf("write the bundle %s: %w", path, err)
		}
	}()
	// They are closed from the inside out: each writes its last bytes into the next.
	zip := gzip.NewWriter(f)
	archive := tar.NewWriter(zip)
	for _, file := range append([]file{{name: "README.txt", body: readme}}, b.files...) {
		head := &tar.Header{Name: "farsight-bundle/" + file.name, Mode: 0o600, Size: int64(len(file.body)), ModTime: b.opt.At.UTC().Truncate(time.Second), Format: tar.FormatPAX}
		if err := archive.WriteHeader(head); err != nil {
			return errors.Join(err, f.Close())
		}
		if _, err := archive.Write(file.body); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(archive.Close(), zip.Close(), f.Sync(), f.Close())
}
