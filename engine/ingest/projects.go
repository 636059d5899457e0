package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// firstProject is the alias of the project of a directory's first key.
const firstProject = "default"

const projectsState = "key projects"

// ProjectsOptions are what a Projects is made of. All are required but OnNote.
type ProjectsOptions struct {
	Store  Store
	API    API
	Limits *traffic.Limits
	// Fingerprint names the key in use without showing it; "" = there is none.
	Fingerprint func() string
	OnNote      func(engine.Note) // told what a person should see; must not block
}

// Projects knows which API project the key in use belongs to. Riot encrypts
// PUUIDs per project, so another project's key can read none that is stored: that
// is found out by one probe with a known PUUID, and then nothing is called before
// an operator has accepted the project. What is known of a key
// is stored under its fingerprint.
type Projects struct {
	opt  ProjectsOptions
	bell await.Bell

	mu      sync.Mutex
	known   map[string]string // alias by fingerprint
	current string            // alias of the last key that was known
	foreign string            // fingerprint of a key of another project, not accepted yet
}

// NewProjects makes a Projects, and lets it hold the calls of limits while the
// project of the key is not known.
func NewProjects(o ProjectsOptions) *Projects {
	p := &Projects{opt: o, bell: await.NewBell(), known: map[string]string{}, current: firstProject}
	if o.OnNote == nil {
		p.opt.OnNote = func(engine.Note) {}
	}
	o.Limits.Obey(p)
	return p
}

// KeyChanged has the project of another key found out.
func (p *Projects) KeyChanged() { p.bell.Ring() }

// Current is the alias of the key's project; while that is not known, the one of
// the key before. Handlers read and write PUUIDs under it; while [Projects.Holds] says no, none of them
// gets to call.
func (p *Projects) Current() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if alias, ok := p.known[p.opt.Fingerprint()]; ok {
		return alias
	}
	return p.current
}

// Holds says why no call may be made, "" when they may. It is asked before each
// claim.
func (p *Projects) Holds() string {
	mark := p.opt.Fingerprint()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch _, ok := p.known[mark]; {
	case ok || mark == "":
		return ""
	case p.foreign == mark:
		return whyForeign
	}
	return "finding out which project the key belongs to"
}

const whyForeign = "the key is of another project: accept it with reresolve, or put the old key back"

// Paused is Holds for what does not end by itself.
func (p *Projects) Paused() string {
	mark := p.opt.Fingerprint()
	if mark == "" || !p.isForeign(mark) {
		return ""
	}
	return whyForeign
}

// storedProjects is what learn stores. No key is in it, only fingerprints:
//
//	{"known":{"9f3c…":"default","71aa…":"project-2"},"current":"project-2"}
type storedProjects struct {
	Known   map[string]string `json:"known"` // alias by fingerprint
	Current string            `json:"current"`
}

// Load reads what is known of keys. Call it before the backend runs. A record that cannot be read is no
// error: it holds nothing that a probe cannot find out again.
func (p *Projects) Load(ctx context.Context) error {
	blob, err := p.opt.Store.LoadState(ctx, projectsState)
	if err != nil {
		return fmt.Errorf("load the key projects: %w", err)
	}
	var s storedProjects
	if blob == nil || json.Unmarshal(blob, &s) != nil { // each key is probed again
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if maps.Copy(p.known, s.Known); s.Current != "" {
		p.current = s.Current
	}
	return nil
}

// Waits between two tries to find out a project.
const (
	probeAgain = 5 * time.Second
	probeMost  = time.Minute
)

// Run finds out the project of each key that it does not know yet, until ctx
// ends.
func (p *Projects) Run(ctx context.Context) error {
	wait := probeAgain
	for {
		again, err := p.check(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		var timer <-chan time.Time
		if again {
			timer = time.After(wait)
			wait = min(2*wait, probeMost)
		} else {
			wait = probeAgain
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.bell:
		case <-timer:
		}
	}
}

// check finds out the project of the key in use, if it is not known. again means
// that nobody could tell: ask later. A key fits one project at most, so that the first sample it can
// read settles it, and it is foreign when it can read none. Of a sample that is refused nothing is known: the
// next one is asked for.
func (p *Projects) check(ctx context.Context) (again bool, err error) {
	mark := p.opt.Fingerprint()
	if p.Holds() == "" || p.isForeign(mark) {
		return false, nil
	}
	samples, err := p.samples(ctx)
	if err != nil {
		return false, err
	}
	if len(samples) == 0 { // nothing was ever resolved: there is no other project
		return false, p.learn(ctx, mark, p.Current())
	}
	for _, s := range samples {
		fits, known := p.probe(ctx, s)
		if fits {
			return false, p.learn(ctx, mark, s.project)
		}
		again = again || !known
	}
	if again {
		return true, nil
	}
	return false, p.foreignKey(ctx, mark)
}

// Identify finds out the project of the key in use once, for whoever works without
// Run. known is false when Riot could not be asked, or refuses the key.
func (p *Projects) Identify(ctx context.Context) (known bool, err error) {
	again, err := p.check(ctx)
	return !again, err
}

func (p *Projects) isForeign(mark string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.foreign == mark
}

// sample is a PUUID that was resolved under a project.
type sample struct {
	project, puuid string
	region         route.Region
}

// samplesMost is how many PUUIDs of a project are asked for: one of them may be refused, or misread.
const samplesMost = 3

// samples gives some PUUIDs per project, those of the last key first.
func (p *Projects) samples(ctx context.Context) (list []sample, err error) {
	found := map[string][]sample{}
	aliases := p.aliases()
	err = p.opt.Store.Read(ctx, func(tx engine.Tx) error {
		for a := range p.opt.Store.AllAccounts(tx) {
			for project, puuid := range a.PUUIDs {
				if len(found[project]) < samplesMost && puuid != "" && aliases[project] {
					found[project] = append(found[project],
						sample{project, puuid, route.Platform(a.Platform).AccountRegion()})
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for a known PUUID: %w", err)
	}
	list = found[p.Current()]
	delete(found, p.Current())
	for _, project := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[project]...)
	}
	return list, nil
}

// aliases are the projects that any key ever had. PUUIDs that were put aside
// stand under other names, such as "default until 2026-11-20 12:31:02", and prove
// nothing.
func (p *Projects) aliases() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	set := map[string]bool{firstProject: true, p.current: true}
	for _, alias := range p.known {
		set[alias] = true
	}
	return set
}

// probe asks Riot whether the key can read a PUUID. known is false when the
// answer told nothing: the key or this one PUUID is refused, or Riot was not reached.
func (p *Projects) probe(ctx context.Context, s sample) (fits, known bool) {
	const job = "key project"
	ctx = riot.AsProof(riot.WithJob(ctx, job, limit.Interactive))
	err := p.opt.API.Probe(ctx, s.region, s.puuid)
	e, ok := errors.AsType[*riot.Error](err)
	switch {
	case err == nil:
		p.opt.Limits.KeyWorks()
		return true, true
	case ok && e.Reason == riot.WrongProject:
		p.opt.Limits.KeyWorks()
		return false, true
	case ok && e.Reason.Denied():
		if e, ok = errors.AsType[*riot.Error](p.opt.API.Probe(ctx, s.region, "")); ok && e.Reason.Denied() {
			p.opt.Limits.DenyKey(job)
		}
	}
	return false, false
}

// learn stores that a key belongs to a project, and lets work go on. It is stored before it holds in
// memory, since accounts keep PUUIDs under its alias from then on: after a crash it must be known.
func (p *Projects) learn(ctx context.Context, mark, project string) error {
	p.mu.Lock()
	s := storedProjects{Known: maps.Clone(p.known), Current: project}
	p.mu.Unlock()
	s.Known[mark] = project
	if err := engine.SaveStored(ctx, p.opt.Store, projectsState, s); err != nil {
		return err
	}
	p.mu.Lock()
	p.known, p.current, p.foreign = s.Known, project, ""
	p.mu.Unlock()
	p.opt.Limits.Signal()
	return nil
}

// foreignKey pauses everything until an operator has decided. This is kept in memory alone: after a
// restart one probe finds it out again.
func (p *Projects) foreignKey(ctx context.Context, mark string) error {
	cost, err := p.cost(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.foreign = mark
	p.mu.Unlock()
	p.opt.Limits.Signal()
	p.opt.OnNote(engine.Note{At: now(), Level: engine.LevelErr, Text: fmt.Sprintf(
		"the key is of another project, syncs are paused: `reresolve` resolves all accounts again with %s in about %s",
		human.Counted(cost.Calls, "call", "calls"), human.Span(cost.Takes))})
	return nil
}
