package storage

import (
	"encoding/json"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/key"
)

// accounts checks that each account is found by its name and PUUIDs, and that nothing else is.
func (c *checker) accounts() error {
	n := 0
	for r := range c.rows(tAccounts, nil) {
		n++
		a, err := decodeAccount(r.k, r.v)
		if err := c.fault(err); err != nil {
			return err
		}
		if err != nil {
			continue
		}
		if !c.has(tAccountName, nameKey(a)) {
			c.bad(tAccounts.name, r.k, "is not found by its Riot ID")
		}
		for _, puuid := range a.PUUIDs {
			if id, _, err := c.text(tAccountPUUID, []byte(puuid)); puuid != "" && err == nil && id != a.ID {
				c.bad(tAccounts.name, r.k, "is not found by its PUUID, which leads to %q", id)
			}
		}
		c.liveRun(r.k, a)
	}
	for r := range c.rows(tAccountName, nil) {
		read := key.Read(r.k)
		_, _, _ = read.String(), read.String(), read.String()
		a, err := c.account(read.String())
		if isNotFound(err) || err == nil && string(nameKey(a)) != string(r.k) {
			c.bad(tAccountName.name, r.k, "leads to no account of that name")
		}
	}
	c.counter(countAccounts, n)
	return nil
}

// liveRun: an account whose sync is open has the run that it names.
func (c *checker) liveRun(k []byte, a league.Account) {
	var s engine.SyncStatus
	if err := s.UnmarshalText([]byte(a.Status)); a.Status != "" && err != nil {
		c.bad(tAccounts.name, k, "status %q is not known", a.Status)
	}
	if s.Open() && !c.has(tRuns, []byte(a.Run)) {
		c.bad(tAccounts.name, k, "is %s, but its run %q is not there", a.Status, a.Run)
	}
}

func (c *checker) runs() error {
	for r := range c.rows(tRuns, nil) {
		run, err := decodeRun(r.k, r.v)
		if err := c.fault(err); err != nil {
			return err
		}
		if err != nil {
			continue
		}
		if !c.has(tAccounts, []byte(run.Account)) && !c.has(tState, forgetKey(run.Account)) {
			c.bad(tRuns.name, r.k, "its account %q is not there", run.Account)
		}
		if k, err := jobKey(engine.JobID(run.Job)); run.Job != "" && (err != nil || !c.has(tRunOfJob, k)) {
			c.bad(tRuns.name, r.k, "its job %q does not lead back to it", run.Job)
		}
	}
	for r := range c.rows(tReports, nil) {
		d, err := tReports.open(r.k, r.v, fReport)
		if err != nil {
			continue
		}
		if !json.Valid(d.Bytes()) {
			c.bad(tReports.name, r.k, "is no JSON")
		}
	}
	return nil
}

// matches checks each match with its payloads and its index rows, and recounts the totals.
func (c *checker) matches() error {
	counts := map[string]int{}
	for r := range c.rows(tMatches, nil) {
		m, err := decodeMatch(r.k, r.v)
		if err := c.fault(err); err != nil {
			return err
		}
		if err != nil {
			continue
		}
		counts[countMatches+m.Match.Status.String()]++
		if m.Timeline.Status == league.Success {
			counts[countTimelines]++
		}
		if s := m.Match.Status; statusListed(s) && !c.has(tMatchStatus, statusKey(s, m.ID)) {
			c.bad(tMatches.name, r.k, "is not listed as %s", s)
		}
		c.hasPayload(m.ID, league.PartMatch, m.Match)
		c.hasPayload(m.ID, league.PartTimeline, m.Timeline)
	}
	for r := range c.rows(tMatchStatus, nil) {
		read := key.Read(r.k[1:])
		m, err := c.match(read.String())
		if isNotFound(err) || err == nil && byte(m.Match.Status) != r.k[0] {
			c.bad(tMatchStatus.name, r.k, "lists a match that has another status")
		}
	}
	c.recount(counts)
	return nil
}

// hasPayload: success implies that the payload is there and whole (P3), unless retention took it.
func (c *checker) hasPayload(id string, p league.Part, f league.Fetch) {
	if f.Status != league.Success || f.Ref.Dropped() {
		return
	}
	if _, err := c.payloads.Get(id, p, f.Ref); err != nil {
		c.bad(tMatches.name, []byte(id), "the %s is stored, but: %v", p, err)
	}
}

// recount compares the counters of matches with the rows (P6).
func (c *checker) recount(counts map[string]int) {
	for r := range c.rows(tCounters, nil) {
		name := string(r.k)
		if _, known := counts[name]; !known && (strings.HasPrefix(name, countMatches) || name == countTimelines) {
			counts[name] = 0
		}
	}
	for name, n := range counts {
		c.counter(name, n)
	}
}

func (c *checker) counter(name string, want int) {
	stored, _, err := c.number(tCounters, []byte(name))
	if err == nil && int(stored) != want {
		c.bad(tCounters.name, []byte(name), "says %d, the rows say %d", stored, want)
	}
}

// lists checks the lists of accounts in both directions, and that each row stands at its match's time.
func (c *checker) lists() error {
	for r := range c.rows(tByAccount, nil) {
		id, err := listedMatch(r.k)
		if err := c.fault(err); err != nil {
			return err
		}
		if err == nil && !c.has(tAccountsOf, reverseKey(r.k, id)) {
			c.bad(tByAccount.name, r.k, "match %s does not know that it is listed", id)
		}
	}
	for r := range c.rows(tAccountsOf, nil) {
		read := key.Read(r.k)
		match, account := read.String(), read.String()
		d, err := tAccountsOf.open(r.k, r.v, fTime)
		if err != nil {
			continue
		}
		at := d.Time()
		if !c.has(tByAccount, byAccountKey(account, at, match)) {
			c.bad(tAccountsOf.name, r.k, "match %s is not in the list of account %s", match, account)
		}
		if m, err := c.match(match); err == nil && !m.Played.Equal(at) {
			c.bad(tAccountsOf.name, r.k, "match %s is listed at another time than it was played", match)
		}
	}
	return nil
}
