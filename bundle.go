package main

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
	"path/filepath"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/cli"
)

// How much of what there is goes into a bundle.
const (
	bundleJobs  = 200
	bundleAudit = 200
	bundleLog   = 1 << 20 // bytes, from the end
	bundlePage  = 100
)

// bundle is a bug report in the making: files for a person to read before they are
// sent.
type bundle struct {
	mask  *masker
	files []bundled
}

// bundled is one file of it.
type bundled struct {
	name, what string
	body       []byte
}

// add takes a file, masked whatever it is.
func (b *bundle) add(name, what string, body []byte) {
	b.files = append(b.files, bundled{name, what, b.mask.bytes(body)})
}

func (b *bundle) addJSON(name, what string, v any) {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		body = fmt.Appendf(nil, "%q", err.Error())
	}
	b.add(name, what, append(safe.JSON(body), '\n'))
}

// addLines takes one JSON value per line.
func addLines[T any](b *bundle, name, what string, values []T) {
	var body bytes.Buffer
	for _, v := range values {
		line, err := json.Marshal(v)
		if err != nil {
			line = fmt.Appendf(nil, "%q", err.Error())
		}
		body.Write(append(safe.JSON(line), '\n'))
	}
	b.add(name, what, body.Bytes())
}

// stored adds what a console can tell: of the running engine, else of the stored
// data. A part that cannot be had is named, and the others go on.
func (b *bundle) stored(ctx context.Context, c engine.Console) {
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
			b.add(part.name, part.what+" (could not be had)", fmt.Appendf(nil, "%q\n", err.Error()))
			continue
		}
		b.addJSON(part.name, part.what, a)
	}
	b.jobs(ctx, c)
	b.audit(ctx, c)
}

// jobs adds the newest jobs, live and ended ones, with their attempts.
func (b *bundle) jobs(ctx context.Context, c engine.Console) {
	var list []any
	q := engine.JobsQuery{Ended: true, Page: engine.Page{Limit: bundlePage}}
	for len(list) < bundleJobs {
		a, err := c.Find(ctx, q)
		page, ok := a.(engine.JobsPage)
		if err != nil || !ok {
			list = append(list, fmt.Sprintf("no more jobs could be read: %v", err))
			break
		}
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
	addLines(b, "jobs.ndjson", fmt.Sprintf("the newest jobs with their attempts, at most %d", bundleJobs), list[:min(len(list), bundleJobs)])
}

func (b *bundle) audit(ctx context.Context, c engine.Console) {
	a, err := c.Find(ctx, engine.AuditQuery{Page: engine.Page{Limit: bundleAudit}})
	page, ok := a.(engine.AuditPage)
	if err != nil || !ok {
		b.add("audit.ndjson", "the operators' commands (could not be had)", fmt.Appendf(nil, "%q\n", fmt.Sprint(err)))
		return
	}
	addLines(b, "audit.ndjson", "the operators' commands, newest first", page.Entries)
}

// log adds the end of the log file.
func (b *bundle) log(dir string) {
	f, err := os.Open(filepath.Join(dir, "farsight.log"))
	if err != nil {
		b.add("log.ndjson", "the end of the log (could not be read)", fmt.Appendf(nil, "%q\n", err.Error()))
		return
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() > bundleLog {
		_, _ = f.Seek(-bundleLog, io.SeekEnd)
	}
	body, err := io.ReadAll(io.LimitReader(f, bundleLog))
	if len(body) == bundleLog { // the first line is not whole
		_, body, _ = bytes.Cut(body, []byte("\n"))
	}
	if err != nil {
		body = append(body, fmt.Sprintf("%q\n", err.Error())...)
	}
	b.add("log.ndjson", "the end of the log", body)
}

// readme lists what is inside.
func (b *bundle) readme(at time.Time, names bool) []byte {
	var s strings.Builder
	fmt.Fprintf(&s, "Farsight %s, bundle of %s for a bug report.\n\n", version(), at.UTC().Format(time.RFC3339))
	s.WriteString("The API key is in none of these files.\n")
	if names {
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

// write makes the file. It overwrites nothing; what was begun in vain is removed.
func (b *bundle) write(path string, at time.Time, readme []byte) (err error) {
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
	zip := gzip.NewWriter(f)
	archive := tar.NewWriter(zip)
	for _, file := range append([]bundled{{name: "README.txt", body: readme}}, b.files...) {
		head := &tar.Header{Name: "farsight-bundle/" + file.name, Mode: 0o600, Size: int64(len(file.body)), ModTime: at.UTC().Truncate(time.Second), Format: tar.FormatPAX}
		if err := archive.WriteHeader(head); err != nil {
			return errors.Join(err, f.Close())
		}
		if _, err := archive.Write(file.body); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(archive.Close(), zip.Close(), f.Sync(), f.Close())
}

// bundleReport is what `farsight bundle --json` prints.
type bundleReport struct {
	Path  string        `json:"path"`
	Bytes int64         `json:"bytes"`
	Names bool          `json:"names"` // Riot IDs are in it
	Files []bundledFile `json:"files"`
}

type bundledFile struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
	What  string `json:"what"`
}

func (b *bundle) report(path string, readme []byte, names bool, out cli.Out) error {
	r := bundleReport{Path: path, Names: names}
	if st, err := os.Stat(path); err == nil {
		r.Bytes = st.Size()
	}
	for _, f := range b.files {
		r.Files = append(r.Files, bundledFile{f.name, len(f.body), f.what})
	}
	if out.JSON {
		return cli.JSON(out, r)
	}
	for line := range strings.Lines(string(readme)) {
		_, _ = fmt.Fprintln(out.W, safe.Text(strings.TrimSuffix(line, "\n")))
	}
	_, err := fmt.Fprintf(out.W, "\nwritten to %s, %s\n", safe.Text(path), mib(r.Bytes))
	return err
}
