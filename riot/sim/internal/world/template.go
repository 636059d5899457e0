package world

import (
	"embed"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
)

// A payload is written from templates: JSON with holes, one member of an object a line.
//
//	"kills":<p.kills>                     a fact, by its path below scene
//	"wardsKilled":<57% 1..15> | rift      in 57 of 100 cases a number, small ones more often, else 0
//	"bountyGold":<33% 100.0..1000.0>      the same with a fraction
//	"firstTowerKill":<9%> | rift aram     true in 9 of 100 cases
//	"role":<SUPPORT,SOLO,DUO>             one of these
//	"position":<position>                 the section of that name, behind "=="
//	"participants":<each participant>     a list of a section, one for each participant
//	"teams":<teams>                       what Go makes of it: see words
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

// template is texts, each with the hole behind it; the last one has none.
type template []piece

type piece struct {
	text string
	hole hole
}

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

// with is t and u as one: the text at the end of t goes before u's first hole, so that most of an object is
// written by few appends.
func (t template) with(u template) template {
	end := len(t) - 1
	return append(append(t[:end:end], piece{t[end].text + u[0].text, u[0].hole}), u[1:]...)
}

// object is t in braces. Every member brings the comma before it; the first one becomes the bracket.
func (t template) object(b []byte, s *scene) []byte {
	open := len(b)
	b = t.append(b, s)
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
	only      bool    // absent on other maps, and not 0
	people    bool    // bots lack it
	share     int     // percent of participants that carry it; 0 = all
	perMinute float64 // events only: how many there are for each participant
}

var arenaNames = map[string]arena{"rift": rift, "aram": aram, "cherry": cherry, "swarm": swarm, "everywhere": everywhere}

// sections are all templates, by name: that behind "==", or that of the file.
// They are read once, and a fault in one is a panic: the files are part of the program, and a test
// reads all of them.
var sections = sync.OnceValue(func() map[string][]line {
	all := map[string][]line{}
	for _, file := range []string{"participant", "challenges", "match", "timeline"} {
		name := file
		// "== team" begins a section; what stands before the first one is named after the file.
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
func linesOf(file string) (out []string) {
	data, err := files.ReadFile("templates/" + file + ".txt")
	if err != nil {
		panic(err) // embedded
	}
	for text := range strings.Lines(strings.ReplaceAll(string(data), "\n\t", "")) {
		if text = strings.TrimSuffix(text, "\n"); text != "" && text[0] != '#' {
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
		share, isShare := strings.CutSuffix(word, "%")
		rate, isRate := strings.CutSuffix(word, "/min")
		switch {
		case arenaNames[word] != 0:
			l.on |= arenaNames[word]
		case isShare:
			l.share = atoi(share)
		case isRate:
			l.perMinute, _ = strconv.ParseFloat(rate, 64)
		case word == "only":
			l.only = true
		case word == "people":
			l.people = true
		default:
			l.from, l.to = parseEras(word)
		}
	}
	// A line that names no map is of all.
	if l.on == 0 {
		l.on = everywhere
	}
	return l
}

// parseEras reads a range of patches: 13a, 13a-14b, 13a- or -14b.
func parseEras(word string) (from, to era) {
	named := func(name string) era {
		return era(slices.IndexFunc(eras[:], func(e patches) bool { return e.name == name }))
	}
	first, second, ranged := strings.Cut(word, "-")
	// An end that is not named is open.
	from, to = e2021, last
	if first != "" {
		from = named(first)
	}
	if !ranged {
		second = first
	}
	if second != "" {
		to = named(second)
	}
	return from, to
}

// book is all templates as one map has them under one patch, with their holes found.
type book struct {
	era    era
	arena  arena
	parts  map[string]hole // by the names of their sections
	events []scattered
}

// scattered is a sort of event with its rate per participant and minute.
type scattered struct {
	perMinute float64
	hole      hole
}

// books are made on first use: there are twelve eras and four maps, of which a run sees a few.
var books sync.Map

// bookOf is the book of a map under a patch. Two that make the same one at a time get the same.
func bookOf(e era, on arena) *book {
	key := [2]uint8{uint8(e), uint8(on)}
	if bk, ok := books.Load(key); ok {
		return bk.(*book)
	}
	bk := &book{era: e, arena: on, parts: map[string]hole{}}
	for name := range sections() {
		bk.part(name)
	}
	// Made outside of any lock: it takes milliseconds.
	made, _ := books.LoadOrStore(key, bk)
	return made.(*book)
}

// part makes what a section says: an object of its members, or the one thing that stands there in braces.
func (bk *book) part(name string) hole {
	if h, ok := bk.parts[name]; ok {
		return h
	}
	members := template{{}}
	for _, l := range sections()[name] {
		on := l.on&bk.arena != 0
		switch {
		case bk.era < l.from || bk.era > l.to, !on && (l.only || l.share > 0 || l.perMinute > 0):
		case l.perMinute > 0:
			bk.events = append(bk.events, scattered{l.perMinute, bk.compile(l.text).append})
		case l.text[0] == '{':
			bk.parts[name] = bk.compile(l.text).append
			return bk.parts[name]
		// On a map where it means nothing Riot writes 0 and does not leave it out.
		case !on:
			// No key of a participant holds a colon.
			key, _, _ := strings.Cut(l.text, ":")
			members = members.with(template{{text: "," + key + ":0"}})
		default:
			members = members.with(l.sometimes(bk.compile("," + l.text)))
		}
	}
	bk.parts[name] = members.object
	return members.object
}

// sometimes is t for those participants who carry the line.
func (l line) sometimes(t template) template {
	if l.share == 0 && !l.people {
		return t
	}
	return template{{hole: func(b []byte, s *scene) []byte {
		if l.people && (s.p.bot || s.g.Shape == Arena8) || l.share > 0 && !s.r.Chance(l.share) {
			return b
		}
		return t.append(b, s)
	}}, {}}
}

var anyHole = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<([^<>]+)>`) })

// compile finds the holes of a text.
func (bk *book) compile(text string) template {
	var t template
	from := 0
	for _, at := range anyHole().FindAllStringSubmatchIndex(text, -1) {
		t = append(t, piece{text[from:at[0]], bk.hole(text[at[2]:at[3]])})
		from = at[1]
	}
	return append(t, piece{text: text[from:]})
}

var numberHole = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(\d+)% )?(?:(\d+)x )?(-?[\d.]+?)\.\.(-?[\d.]+)$`)
})

// hole finds out what a hole means.
func (bk *book) hole(text string) hole {
	// By what is most special first: a word of made, a section, a list, a number, a share, a choice, a fact.
	if h := bk.made(strings.Fields(text)); h != nil {
		return h
	}
	if sections()[text] != nil {
		return bk.part(text)
	}
	if list := lists()[text]; list != nil {
		return oneOf(list)
	}
	if m := numberHole().FindStringSubmatch(text); m != nil {
		return drawn(m[1], m[2], m[3], m[4])
	}
	if share, ok := strings.CutSuffix(text, "%"); ok {
		// "firstTowerKill":<9%>
		percent := atoi(share)
		return func(b []byte, s *scene) []byte { return strconv.AppendBool(b, s.r.Chance(percent)) }
	}
	if strings.Contains(text, ",") {
		return oneOf(strings.Split(text, ","))
	}
	return fact(text)
}

// atoi reads a number of the embedded files.
func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("sim: a template: " + err.Error())
	}
	return n
}

func appendInt(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }

// appendFloat writes a float as Riot does: the shortest form, without an exponent.
func appendFloat(b []byte, f float64) []byte { return strconv.AppendFloat(b, f, 'f', -1, 64) }

// drawn is a number between lo and hi in percent of the cases, else 0; "" means all cases. Whole numbers are small
// more often. Those with a fraction, and multiples (50 times 3 to 14), are spread evenly.
func drawn(percent, times, lo, hi string) hole {
	least, err1 := strconv.ParseFloat(lo, 64)
	most, err2 := strconv.ParseFloat(hi, 64)
	if err1 != nil || err2 != nil {
		panic("sim: a template: no number in " + lo + ".." + hi)
	}
	value := func(b []byte, s *scene) []byte { return appendInt(b, s.r.Low(int(least), int(most))) }
	if times != "" {
		n := atoi(times)
		value = func(b []byte, s *scene) []byte { return appendInt(b, n*s.r.Between(int(least), int(most))) }
	} else if strings.Contains(lo, ".") {
		value = func(b []byte, s *scene) []byte { return appendFloat(b, least+(most-least)*s.r.Unit()) }
	}
	if percent == "" {
		return value
	}
	share := atoi(percent)
	return func(b []byte, s *scene) []byte {
		// One draw to decide, and another only where there is a value.
		if !s.r.Chance(share) {
			return append(b, '0')
		}
		return value(b, s)
	}
}

// oneOf is one of the words: numbers as they are, others as strings.
func oneOf(words []string) hole {
	values := make([]string, len(words))
	for i, w := range words {
		// 5001 stays a number, SUPPORT becomes "SUPPORT".
		if _, err := strconv.Atoi(w); err != nil {
			w = `"` + w + `"`
		}
		values[i] = w
	}
	return func(b []byte, s *scene) []byte { return append(b, values[s.r.Below(len(values))]...) }
}

// fact is the value of a path such as p.items.2. Of a text only what JSON demands is escaped: hostile runes reach the
// client as Riot would send them.
func fact(path string) hole {
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
		return func(b []byte, s *scene) []byte { return appendString(b, at.in(s).String()) }
	}
	panic("sim: a template: " + path + " is no value")
}

func appendString(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text) // of a name that was asked for, what is no UTF-8 becomes U+FFFD
	return b
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
		// Fields are found by their Go names, so that renaming one fails every test and not only some payloads.
		f, ok := of.FieldByName(name)
		if !ok {
			panic("sim: a template: there is no " + path)
		}
		at, of = append(at, f.Index...), f.Type // of embedded structs, too
	}
	return at, of
}

// lists are what is drawn from, by name.
var lists = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, text := range linesOf("lists") {
		// dragons = FIRE_DRAGON WATER_DRAGON
		name, values, _ := strings.Cut(text, " = ")
		all[name] = strings.Fields(values)
	}
	return all
})
