package world

import (
	"embed"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
)

// A payload is written from templates: JSON with holes, one member of an object a line.
//
//	"kills":<p.kills>                     a fact, by its path below scene
//	"wardsKilled":<57% 1..15> | rift      in 57 of 100 cases a number, small ones more often, else 0
//	"bountyGold":<33% 100.0..1000.0>      the same with a fraction
//	"firstTowerKill":<9%> | rift aram     true in 9 of 100 cases
//	"role":<SUPPORT,SOLO,DUO>             one of these
//	"position":<position>                 what holes makes of it
//
// After the bar stands where the member belongs: the patches that carry it (13a-14b, 12b-, -15b), the maps on which
// it is other than 0 ("only": elsewhere it is absent), the share of participants that carry it (50%), "people" where
// bots lack it, and for events how many there are (.5/min). A line that begins with a tab continues the one before.

//go:embed templates
var files embed.FS

// scene is what holes are filled from.
//
// The fields are what paths begin with: <g.seconds>, <p.kills>, <t.win>, <f.level>, <e.at>.
// Reflection finds them when a book is made, and none is looked up by name while a payload is
// written.
type scene struct {
	w *World
	g *facts
	p *part
	t team
	f frame
	e event
	x blow
	r *keyed.Stream

	book *book
}

// hole writes the value at a place of a template.
type hole func(b []byte, s *scene) []byte

// piece is a text and the hole behind it; the last one of a template has none.
type piece struct {
	text string
	hole hole
}

type template []piece

// append writes the texts and what the holes make of the scene.
func (t template) append(b []byte, s *scene) []byte {
	for i := range t {
		b = append(b, t[i].text...)
		if t[i].hole != nil {
			b = t[i].hole(b, s)
		}
	}
	return b
}

// object is the members that an object has on one map under one patch. Those which all carry are one template.
type object []members

type members struct {
	share  int  // percent of participants that carry them; 0 = all
	people bool // bots lack them
	template
}

// append writes the object. Every member brings the comma before it; the first one becomes the bracket.
func (o object) append(b []byte, s *scene) []byte {
	open := len(b)
	for i := range o {
		m := &o[i]
		if m.people && (s.p.bot || s.g.Shape == Arena8) || m.share > 0 && !s.r.Chance(m.share) {
			continue
		}
		b = m.append(b, s)
	}
	if len(b) == open {
		b = append(b, ',')
	}
	b[open] = '{'
	return append(b, '}')
}

// line is one member as it stands in the files, and where it belongs.
type line struct {
	text      string
	from, to  era
	on        arena
	only      bool
	people    bool
	share     int
	perMinute float64
}

var (
	arenaNames = map[string]arena{"rift": rift, "aram": aram, "cherry": cherry, "swarm": swarm, "everywhere": everywhere}
	eraNames   = [...]string{e2021: "2021", e12a: "12a", e12b: "12b", e13a: "13a", e13b: "13b", e14a: "14a", e14b: "14b",
		e15a: "15a", e15b: "15b", e15c: "15c", e16a: "16a", e16b: "16b"}
)

// sections are all templates, by name: that behind "==", or that of the file.
// They are read once, and a fault in one is a panic: the files are part of the program, and a test
// reads all of them.
var sections = sync.OnceValue(func() map[string][]line {
	all := map[string][]line{}
	for _, file := range []string{"participant", "challenges", "match", "timeline"} {
		name := file
		for _, text := range linesOf(file) {
			if title, ok := strings.CutPrefix(text, "== "); ok {
				name = title
				continue
			}
			all[name] = append(all[name], parseLine(text))
		}
	}
	return all
})

// linesOf are the lines of a file without comments, continuations joined.
func linesOf(file string) []string {
	data, err := files.ReadFile("templates/" + file + ".txt")
	if err != nil {
		panic(err) // embedded
	}
	var out []string
	for _, text := range strings.Split(string(data), "\n") {
		switch {
		case text == "", text[0] == '#':
		case text[0] == '\t':
			out[len(out)-1] += text[1:]
		default:
			out = append(out, text)
		}
	}
	return out
}

// parseLine reads a line: what is written, and behind the bar where it belongs.
func parseLine(text string) line {
	text, guards, _ := strings.Cut(text, " | ")
	l := line{text: text, to: last}
	for _, word := range strings.Fields(guards) {
		l.guard(word)
	}
	if l.on == 0 {
		l.on = everywhere
	}
	return l
}

// guard takes one word behind the bar.
func (l *line) guard(word string) {
	if on, ok := arenaNames[word]; ok {
		l.on |= on
		return
	}
	if share, ok := strings.CutSuffix(word, "%"); ok {
		l.share, _ = strconv.Atoi(share)
		return
	}
	if rate, ok := strings.CutSuffix(word, "/min"); ok {
		l.perMinute, _ = strconv.ParseFloat(rate, 64)
		return
	}
	switch word {
	case "only":
		l.only = true
	case "people":
		l.people = true
	default:
		l.eras(word)
	}
}

// eras takes a range of patches: 13a, 13a-14b, 13a- or -14b.
func (l *line) eras(word string) {
	from, to, ranged := strings.Cut(word, "-")
	if !ranged {
		to = from
	}
	if i := slices.Index(eraNames[:], from); i >= 0 {
		l.from = era(i)
	}
	if i := slices.Index(eraNames[:], to); i >= 0 {
		l.to = era(i)
	}
}

// book is all templates as one map has them under one patch, with their holes found.
type book struct {
	era       era
	arena     arena
	objects   map[string]object
	templates map[string]template
	events    []scattered
}

// scattered is a sort of event with its rate per participant and minute.
type scattered struct {
	perMinute float64
	template
}

// books are made on first use: there are twelve eras and four maps, of which a run sees a few.
var books sync.Map

// bookOf is the book of a map under a patch. Two that make the same one at a time get the same.
func bookOf(e era, on arena) *book {
	key := [2]uint8{uint8(e), uint8(on)}
	if bk, ok := books.Load(key); ok {
		return bk.(*book)
	}
	bk := &book{era: e, arena: on, objects: map[string]object{}, templates: map[string]template{}}
	for name := range sections() {
		bk.object(name)
	}
	made, _ := books.LoadOrStore(key, bk)
	return made.(*book)
}

// object makes the object of a section, or for one whose lines are no members its templates.
func (bk *book) object(name string) object {
	if o, ok := bk.objects[name]; ok {
		return o
	}
	// A template that leads to itself would be made for ever; it is empty there.
	bk.objects[name] = nil
	var o object
	for _, l := range sections()[name] {
		on := l.on&bk.arena != 0
		switch {
		case bk.era < l.from || bk.era > l.to, !on && (l.only || l.share > 0 || l.perMinute > 0):
		case l.perMinute > 0:
			bk.events = append(bk.events, scattered{l.perMinute, bk.compile(l.text)})
		case l.text[0] == '{':
			bk.templates[name] = bk.compile(l.text)
		// On a map where it means nothing Riot writes 0 and does not leave it out.
		case !on:
			key, _, _ := strings.Cut(l.text, ":")
			o = o.with(l, bk.compile(","+key+":0"))
		default:
			o = o.with(l, bk.compile(","+l.text))
		}
	}
	bk.objects[name] = o
	return o
}

// with is o and one member more.
// Members that everybody has are put into one template: most of an object is written by one append.
func (o object) with(l line, t template) object {
	if n := len(o) - 1; n >= 0 && o[n].share == 0 && !o[n].people && l.share == 0 && !l.people {
		o[n].template = o[n].template.joined(t)
		return o
	}
	return append(o, members{l.share, l.people, t})
}

// joined is t and u as one: the text at the end of t goes before u's first hole.
func (t template) joined(u template) template {
	end := len(t) - 1
	u[0].text = t[end].text + u[0].text
	return append(t[:end], u...)
}

var anyHole = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<([^<>]+)>`) })

// compile finds the holes of a text.
func (bk *book) compile(text string) template {
	var t template
	from := 0
	for _, at := range anyHole().FindAllStringSubmatchIndex(text, -1) {
		inQuotes := text[at[0]-1] != ':' && at[1] < len(text) && text[at[1]] == '"'
		t = append(t, piece{text[from:at[0]], bk.hole(text[at[2]:at[3]], inQuotes)})
		from = at[1]
	}
	return append(t, piece{text: text[from:]})
}

var numberHole = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(\d+)% )?(?:(\d+)x )?(-?[\d.]+?)\.\.(-?[\d.]+)$`)
})

// hole finds out what a hole means.
func (bk *book) hole(text string, inQuotes bool) hole {
	words := strings.Fields(text)
	if of := holes[words[0]]; of != nil {
		return of(bk, words[1:])
	}
	if list := lists()[words[0]]; list != nil {
		return oneOf(list)
	}
	if m := numberHole().FindStringSubmatch(text); m != nil {
		return drawn(m[1], m[2], m[3], m[4])
	}
	if share, ok := strings.CutSuffix(text, "%"); ok {
		percent := atoi(share)
		return func(b []byte, s *scene) []byte { return strconv.AppendBool(b, s.r.Chance(percent)) }
	}
	if strings.Contains(text, ",") {
		return oneOf(strings.Split(text, ","))
	}
	return fact(text, inQuotes)
}

// atoi reads a number of the embedded files.
func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("sim: a template: " + err.Error())
	}
	return n
}

// drawn is a number between lo and hi in percent of the cases, else 0; times and all cases unless told. Without a
// percentage a multiple is spread evenly.
func drawn(percent, times, lo, hi string) hole {
	if times != "" {
		n, lo, hi := atoi(times), atoi(lo), atoi(hi)
		return func(b []byte, s *scene) []byte { return appendInt(b, n*s.r.Between(lo, hi)) }
	}
	if percent == "" {
		return ranged(lo, hi)
	}
	value, share := ranged(lo, hi), atoi(percent)
	return func(b []byte, s *scene) []byte {
		if !s.r.Chance(share) {
			return append(b, '0')
		}
		return value(b, s)
	}
}

// ranged is a number between lo and hi: whole ones small more often, those with a fraction evenly.
func ranged(lo, hi string) hole {
	least, err1 := strconv.ParseFloat(lo, 64)
	most, err2 := strconv.ParseFloat(hi, 64)
	if err1 != nil || err2 != nil {
		panic("sim: a template: no number in " + lo + ".." + hi)
	}
	if strings.Contains(lo, ".") {
		return func(b []byte, s *scene) []byte { return appendFloat(b, least+(most-least)*s.r.Unit()) }
	}
	return func(b []byte, s *scene) []byte { return appendInt(b, s.r.Low(int(least), int(most))) }
}

// oneOf is one of the words: numbers as they are, others as strings.
func oneOf(words []string) hole {
	values := make([]string, len(words))
	for i, w := range words {
		if _, err := strconv.Atoi(w); err != nil {
			w = `"` + w + `"`
		}
		values[i] = w
	}
	return func(b []byte, s *scene) []byte { return append(b, values[s.r.Below(len(values))]...) }
}

// fact is the value of a path such as p.items.2; raw inside of quotes.
func fact(path string, raw bool) hole {
	at, of := find(path)
	switch of.Kind() {
	case reflect.Bool:
		return func(b []byte, s *scene) []byte { return strconv.AppendBool(b, at.in(s).Bool()) }
	case reflect.Int, reflect.Int64:
		return func(b []byte, s *scene) []byte { return strconv.AppendInt(b, at.in(s).Int(), 10) }
	case reflect.Uint64:
		return func(b []byte, s *scene) []byte { return strconv.AppendUint(b, at.in(s).Uint(), 10) }
	case reflect.Float64:
		return func(b []byte, s *scene) []byte { return appendFloat(b, at.in(s).Float()) }
	case reflect.String:
		if raw {
			return func(b []byte, s *scene) []byte { return append(b, at.in(s).String()...) }
		}
		return func(b []byte, s *scene) []byte { return appendString(b, at.in(s).String()) }
	}
	panic("sim: a template: " + path + " is no value")
}

// place is where a value lies below a scene: the fields, and places in arrays, that lead to it.
type place []int

// in follows the path in one scene.
func (pl place) in(s *scene) reflect.Value {
	v := reflect.ValueOf(s)
	for _, n := range pl {
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() == reflect.Array {
			v = v.Index(n)
		} else {
			v = v.Field(n)
		}
	}
	return v
}

// find looks a path up below scene, and gives its type.
func find(path string) (at place, of reflect.Type) {
	of = reflect.TypeFor[scene]()
	for _, name := range strings.Split(path, ".") {
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() == reflect.Array {
			at, of = append(at, atoi(name)), of.Elem()
			continue
		}
		f, ok := of.FieldByName(name)
		if !ok {
			panic(fmt.Sprintf("sim: a template: there is no %s: use one of %v", path, slices.Sorted(maps.Keys(holes))))
		}
		at, of = append(at, f.Index...), f.Type // of embedded structs, too
	}
	return at, of
}

// lists are what is drawn from, by name.
var lists = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, text := range linesOf("lists") {
		name, values, _ := strings.Cut(text, " = ")
		all[name] = strings.Fields(values)
	}
	return all
})
