// Command pictures makes the pictures of the documentation: it runs the demo in a
// terminal of its own, goes through the screens, and writes what stands there as SVG
// files, one of them moving. It is a module of its own, so that Farsight needs no
// terminal emulator.
//
// Run it through docs/make.sh, or: go run . -farsight ../../farsight -out ..
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	binary := flag.String("farsight", "../../farsight", "the program, built")
	out := flag.String("out", "..", "folder of the pictures")
	flag.Parse()
	if err := run(*binary, *out); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// step is something a person does at the keyboard.
type step struct {
	keys string        // typed one after the other; "\r" is enter
	wait string        // text that must be on the screen then, in capitals or not
	rest time.Duration // what happens meanwhile
}

// picture is one file: what was done since the last one, and its name.
type picture struct {
	name  string
	steps []step
}

// scene is one run of the demo.
type scene struct {
	size     [2]int
	args     []string
	back     paper
	pictures []picture
}

const (
	settle = 1200 * time.Millisecond // lists have been read
	atWork = 25 * time.Second        // limits have been reached, retries wait
)

// faults make the retries worth looking at.
var faults = []step{{keys: ":chaos 503 10%\r", wait: "503", rest: settle}, {keys: "1", wait: "calls", rest: atWork}}

var scenes = []scene{
	{
		size: [2]int{120, 40}, args: []string{"demo", "--seed", "7", "--theme", "dark"}, back: darkPaper,
		pictures: []picture{
			{"overview", append([]step{{wait: "SYNCING", rest: settle}}, faults...)},
			{"jobs", []step{{keys: "3", wait: "Jobs", rest: settle}}},
			{"retries", []step{{keys: "4", wait: "due", rest: settle}}},
			{"job", []step{{keys: "G\r", wait: "tries used", rest: settle}}},
			{"limits", []step{{keys: "5", wait: "recorder", rest: settle}}},
			{"account", []step{{keys: "2", wait: "Accounts", rest: settle}, {keys: "\r", wait: "takes", rest: settle}}},
			{"logs", []step{{keys: "8", wait: "FOLLOW", rest: settle}}},
			{"chaos", []step{{keys: "X", wait: "Chaos", rest: settle}}},
			{"report", []step{{keys: ":report 달빛 여우#DEMO\r", wait: "by mode", rest: settle}}},
		},
	},
	{
		size: [2]int{120, 40}, args: []string{"demo", "--seed", "7", "--theme", "light"}, back: lightPaper,
		pictures: []picture{{"overview-light", append([]step{{wait: "SYNCING", rest: settle}}, faults...)}},
	},
}

// film is the animation: what is done while it runs.
var film = struct {
	name  string
	size  [2]int
	args  []string
	every time.Duration // between two frames
	steps []step
}{
	"tour", [2]int{100, 30}, []string{"demo", "--seed", "7", "--theme", "dark"}, 500 * time.Millisecond,
	[]step{
		{wait: "SYNCING", rest: 3 * time.Second},
		{keys: ":chaos 503 20%\r", wait: "WHAT THE ENGINE DID", rest: 4 * time.Second},
		{keys: "2", wait: "Accounts", rest: 2 * time.Second}, {keys: "\r", wait: "sync", rest: 3 * time.Second},
		{keys: "4", wait: "due", rest: 2 * time.Second}, {keys: "5", wait: "recorder", rest: 3 * time.Second},
		{keys: "3", wait: "Jobs", rest: time.Second}, {keys: "b", wait: "jobs", rest: 3 * time.Second},
	},
}

func run(binary, out string) error {
	for _, s := range scenes {
		if err := s.shoot(binary, out); err != nil {
			return err
		}
	}
	t, err := start(binary, film.size, film.args)
	if err != nil {
		return err
	}
	defer t.close()
	frames, err := t.record(film.steps, film.every)
	if err != nil {
		return err
	}
	return write(out, film.name, moving(frames, film.every, darkPaper))
}

// shoot makes the pictures of one run.
func (s scene) shoot(binary, out string) error {
	t, err := start(binary, s.size, s.args)
	if err != nil {
		return err
	}
	defer t.close()
	for _, p := range s.pictures {
		for _, step := range p.steps {
			if err := t.do(step); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		if err := write(out, p.name, still(t.look(), s.back)); err != nil {
			return err
		}
	}
	return nil
}

func write(out, name, svg string) error {
	path := filepath.Join(out, name+".svg")
	fmt.Printf("%s: %d KB\n", path, (len(svg)+1023)/1024)
	return os.WriteFile(path, []byte(svg), 0o644)
}
