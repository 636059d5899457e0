package cron

import (
	"errors"
	"strings"
	"time"

	robfig "github.com/robfig/cron/v3"

	"github.com/farsight-console/farsight/engine"
)

// longest is the longest expression that is read; a list of all minutes has 167
// characters.
const longest = 500

// star is the bit that robfig sets for * and ?.
const star = 1 << 63

// example is what an error says to write.
const example = `write minute, hour, day, month and weekday, such as "0 3 * * *", or @hourly`

// parts are the five fields in order, with what each may hold.
var parts = [...]struct{ name, may string }{
	{"minute", "0 to 59"},
	{"hour", "0 to 23"},
	{"day of the month", "1 to 31"},
	{"month", "1 to 12 or JAN to DEC"},
	{"day of the week", "0 to 6 or SUN to SAT, 0 is Sunday"},
}

// Parse reads a cron expression: five fields with names, ranges, steps and lists,
// or a word such as @hourly, @daily, @weekly or @every 90m. Zone is an IANA name;
// "" is UTC and "Local" the host's. Errors are *engine.Problem.
func Parse(expr, zone string) (Schedule, error) {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return Schedule{}, engine.Problemf(engine.ErrInvalid, "write a name such as Europe/Berlin, UTC or Local",
			"%q is no time zone", zone)
	}
	s := Schedule{expr: strings.Join(strings.Fields(expr), " "), zone: loc}
	switch {
	case s.expr == "":
		return Schedule{}, engine.Problemf(engine.ErrInvalid, example, "the schedule is empty")
	case len(expr) > longest:
		return Schedule{}, engine.Problemf(engine.ErrInvalid, example,
			"the schedule is %d bytes long, at most %d are read", len(expr), longest)
	case strings.HasPrefix(s.expr, "TZ=") || strings.HasPrefix(s.expr, "CRON_TZ="):
		return Schedule{}, engine.Problemf(engine.ErrInvalid, "name the zone apart",
			"%q names a time zone inside of the schedule", s.expr)
	case s.expr[0] == '@':
		err = s.readWord()
	default:
		err = s.readFields()
	}
	if err != nil {
		return Schedule{}, err
	}
	return s, nil
}

// readWord reads @hourly and its like.
func (s *Schedule) readWord() error {
	got, err := robfig.ParseStandard(s.expr)
	if err != nil {
		return engine.Problemf(engine.ErrInvalid, "use @hourly, @daily, @weekly, @monthly, @yearly, or @every 90m",
			"%q is no schedule", s.expr)
	}
	if _, constant := got.(robfig.ConstantDelaySchedule); constant {
		return s.readEvery()
	}
	return s.copyFields(got)
}

// readEvery reads @every: so long in real time, counted from the Unix epoch, so
// that a restart changes nothing.
func (s *Schedule) readEvery() error {
	d, err := time.ParseDuration(strings.TrimPrefix(s.expr, "@every "))
	if err != nil || d < time.Minute || d%time.Second != 0 {
		return engine.Problemf(engine.ErrInvalid, "write a minute or more in whole seconds, such as @every 90m",
			"%q cannot be kept", s.expr)
	}
	s.every = int64(d / time.Second)
	return nil
}

// readFields reads the five fields. Each is tried alone first, so that the error can name the one that
// is wrong.
func (s *Schedule) readFields() error {
	words := strings.Fields(s.expr)
	if len(words) != len(parts) {
		return engine.Problemf(engine.ErrInvalid, example, "%q has %d fields, not five", s.expr, len(words))
	}
	for i, word := range words {
		if !readable(i, word) {
			return engine.Problemf(engine.ErrInvalid,
				"use "+parts[i].may+", with lists (1,2), ranges (1-5) and steps (*/2)",
				"%q in %q is no %s", word, s.expr, parts[i].name)
		}
	}
	got, err := robfig.ParseStandard(s.expr)
	if err != nil {
		return engine.Problemf(engine.ErrInvalid, example, "%q is no schedule: %s", s.expr, err)
	}
	return s.copyFields(got)
}

// readable reports whether a word can stand in field i. robfig does not say which
// field it stumbled over, so each is tried alone; and it takes a list of nothing.
func readable(i int, word string) bool {
	alone := [...]string{"*", "*", "*", "*", "*"}
	alone[i] = word
	_, err := robfig.ParseStandard(strings.Join(alone[:], " "))
	return err == nil && !strings.HasPrefix(word, ",") && !strings.HasSuffix(word, ",") && !strings.Contains(word, ",,")
}

var errShape = errors.New("robfig/cron gave a schedule of a kind that is not known here")

// copyFields copies the sets out of robfig's schedule: its Next is not used.
func (s *Schedule) copyFields(got robfig.Schedule) error {
	spec, ok := got.(*robfig.SpecSchedule)
	if !ok {
		return errShape
	}
	s.fields = fields{
		minute: spec.Minute &^ star, hour: spec.Hour &^ star, day: spec.Dom &^ star,
		month: spec.Month &^ star, weekday: spec.Dow &^ star,
		both: spec.Dom&star != 0 || spec.Dow&star != 0,
	}
	if _, ok := s.fields.next(0); !ok {
		return engine.Problemf(engine.ErrInvalid, "change its day or its month",
			"%q never comes: no such date exists", s.expr)
	}
	return nil
}
