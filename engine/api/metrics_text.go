package api

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// metric is what the text says of one before its series: see
// https://prometheus.io/docs/instrumenting/exposition_formats/.
type metric struct {
	kind, name, help string
	labels           []string
	bounds           []float64 // of a histogram
}

func gauge(name, help string, labels ...string) *metric {
	return &metric{kind: "gauge", name: "farsight_" + name, help: help, labels: labels}
}

func counter(name, help string, labels ...string) *metric {
	return &metric{kind: "counter", name: "farsight_" + name, help: help, labels: labels}
}

func histogram(name, help string, bounds []float64, labels ...string) *metric {
	return &metric{kind: "histogram", name: "farsight_" + name, help: help, labels: labels, bounds: bounds}
}

// sheet is a reading, or a count: the series of metrics by their labels.
type sheet map[*metric]map[labels]*series

// labels are values in the order of the metric's labels.
type labels [4]string

type series struct {
	labels labels
	value  float64
	Histogram
}

// of is a series, which begins at 0.
func (s sheet) of(m *metric, values ...string) *series {
	all := s[m]
	if all == nil {
		all = map[labels]*series{}
		s[m] = all
	}
	var l labels
	copy(l[:], values)
	one := all[l]
	if one == nil {
		one = &series{labels: l, Histogram: Histogram{Bounds: m.bounds, Counts: make([]uint64, len(m.bounds))}}
		all[l] = one
	}
	return one
}

func (s sheet) add(m *metric, v float64, values ...string) { s.of(m, values...).value += v }

// observe counts a value in a histogram.
func (s sheet) observe(m *metric, v float64) {
	h := s.of(m)
	for i, bound := range h.Bounds {
		if v <= bound {
			h.Counts[i]++
		}
	}
	h.Count++
	h.Sum += v
}

// text is the whole sheet.
func (s sheet) text() []byte {
	var b []byte
	for _, m := range slices.SortedFunc(maps.Keys(s), func(a, b *metric) int { return strings.Compare(a.name, b.name) }) {
		b = fmt.Appendf(b, "# HELP %s %s\n# TYPE %s %s\n", m.name, m.help, m.name, m.kind)
		for _, one := range slices.SortedFunc(maps.Values(s[m]), func(a, b *series) int { return slices.Compare(a.labels[:], b.labels[:]) }) {
			b = one.line(b, m)
		}
	}
	return b
}

// line writes a series: farsight_matches{status="waiting"} 12. A histogram has a line for each bound, and two more.
func (s *series) line(b []byte, m *metric) []byte {
	var pairs []string
	for i, label := range m.labels {
		// They come from outside.
		pairs = append(pairs, label+`="`+escaped.Replace(strings.ToValidUTF8(s.labels[i], "\uFFFD"))+`"`)
	}
	one := func(part string, v float64, more ...string) {
		b = append(append(b, m.name...), part...)
		if all := append(pairs, more...); len(all) > 0 {
			b = append(append(append(b, '{'), strings.Join(all, ",")...), '}')
		}
		b = append(append(append(b, ' '), decimal(v)...), '\n')
	}
	if m.kind != "histogram" {
		one("", s.value)
		return b
	}
	for i, bound := range s.Bounds {
		one("_bucket", float64(s.Counts[i]), `le="`+decimal(bound)+`"`)
	}
	one("_bucket", float64(s.Count), `le="+Inf"`)
	one("_sum", s.Sum)
	one("_count", float64(s.Count))
	return b
}

var escaped = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
