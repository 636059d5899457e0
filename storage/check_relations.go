package storage

import (
	"errors"
	"fmt"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/key"
)

// What must hold between tables, which no declaration of one of them can say.

// relations adds what is looked at of a row while its table is read.
func (c *checker) relations() {
	collection.Also(c.tables, tAccounts, c.soundAccount)
	collection.Also(c.tables, tPlayers, c.soundPlayer)
	collection.Also(c.tables, tCollected, c.soundCollected)
	collection.Also(c.tables, tRuns, c.soundRun)
	collection.Also(c.tables, tGaps, c.soundGap)
	collection.Also(c.tables, tMatches, c.soundMatch)
	collection.Also(c.tables, tParticipants, c.soundSeats)
	collection.Also(c.tables, tAccountsOf, c.soundListing)
	collection.Also(c.tables, tJobState, c.soundLive)
	collection.Also(c.tables, tJobSpec, c.soundPart(tJobSpec.Table))
	collection.Also(c.tables, tJobError, c.soundPart(tJobError.Table))
	collection.Also(c.tables, tArchive, c.soundEnded)
	collection.Also(c.tables, tAttempts, c.soundAttempt)
	collection.Also(c.tables, tRecent, c.soundRecent)
}

// soundAccount checks that an account whose sync is open has the run that it names.
func (c *checker) soundAccount(k []byte, a *league.Account) {
	var s engine.SyncStatus
	if err := s.UnmarshalText([]byte(a.Status)); a.Status != "" && err != nil {
		c.bad(tAccounts.Name, k, "status %q is not known", a.Status)
	}
	// A sync that is open goes on from its run after a start: without it, it would be open for
	// ever.
	if s.Open() && !c.Has(tRuns.Table, []byte(a.Run)) {
		c.bad(tAccounts.Name, k, "is %s, but its run %q is not there", a.Status, a.Run)
	}
}

// soundPlayer checks that a player's collection is there, and likewise its run.
func (c *checker) soundPlayer(k []byte, a *league.Account) {
	c.soundAccount(k, a)
	if !c.Has(tCollections.Table, []byte(a.Collection)) && !c.halfForgotten(a.Collection) {
		c.bad(tPlayers.Name, k, "its collection %q is not there", a.Collection)
	}
	if onePUUID(*a) != "" && !c.Has(feedOf.Table, feedOfKey(tagPlayers, a.ID)) {
		c.bad(tPlayers.Name, k, "has no place in the feed")
	}
}

// soundCollected recounts the matches of a collection by their status and day.
func (c *checker) soundCollected(k []byte, stored *collected) {
	want, err := c.counted(string(k), stored) // a match that cannot be read is named by its own table
	if err == nil && (stored.ByStatus != want.ByStatus || !slices.Equal(stored.Days, want.Days)) {
		c.bad(tCollected.Name, k, "says %v, its matches say %v", *stored, want)
	}
}

// soundRun checks that a run's account and its job lead to it and are there.
func (c *checker) soundRun(k []byte, r *league.Run) {
	// The runs of an account that is half forgotten outlive the account.
	if !c.Has(tAccounts.Table, []byte(r.Account)) && !c.Has(tPlayers.Table, []byte(r.Account)) && !c.halfForgotten(r.Account) {
		c.bad(tRuns.Name, k, "its account %q is not there", r.Account)
	}
	if job, err := jobKey(engine.JobID(r.Job)); r.Job != "" && (err != nil || !c.Has(tRunOfJob.Table, job)) {
		c.bad(tRuns.Name, k, "its job %q does not lead back to it", r.Job)
	}
}

// halfForgotten reports whether rows of an account, a player or a collection may outlive it for now.
func (c *checker) halfForgotten(id string) bool {
	list, _ := c.forgetting() // a mark that cannot be read is named by its own table
	return slices.ContainsFunc(list, func(f Forgotten) bool { return f.Account == id || slices.Contains(f.Players, id) })
}

// soundGap: it is of a run that is there, and of a match that has not that part.
func (c *checker) soundGap(k []byte, g *league.Gap) {
	if !c.Has(tRuns.Table, []byte(g.Run)) {
		c.bad(tGaps.Name, k, "its run is not there")
	}
	m, err := c.match(g.Match)
	if err == nil && m.Of(g.Part).Status == league.Success {
		c.bad(tGaps.Name, k, "is of a part that is stored")
	}
}

// soundMatch checks that what is stored is there and whole, unless retention took it, and has its
// place in the feeds.
func (c *checker) soundMatch(k []byte, m *league.Match) {
	for _, part := range []league.Part{league.PartMatch, league.PartTimeline} {
		f := m.Of(part)
		// A success promises its payload, down to the checksum. Retention is the one exception, and
		// says so in the reference.
		if f.Status != league.Success || f.Ref.Dropped() {
			continue
		}
		if _, err := c.payloads.Get(m.ID, part, f.Ref); err != nil {
			c.report.badPayload(tMatches.Name, m.ID, part, "the %s is stored, but: %v", part, err)
		}
	}
	if !c.Has(feedOf.Table, feedOfKey(tagMatches, m.ID)) {
		c.bad(tMatches.Name, k, "has no place in the feed")
	}
	if !sameTimeline(*m, league.Match{}) && !c.Has(feedOf.Table, feedOfKey(tagTimelines, m.ID)) {
		c.bad(tMatches.Name, k, "its timeline has no place in the feed")
	}
}

// soundSeats checks that the seats of a match are exported.
func (c *checker) soundSeats(k []byte, s *seating) {
	if !c.Has(feedOf.Table, feedOfKey(tagParticipants, s.match)) {
		c.bad(tParticipants.Name, k, "has no place in the feed")
	}
}

// soundListing checks the time under which a match stands in an account's list: by a wrong one it
// would stand in the wrong place for good, since it moves only when its time changes.
func (c *checker) soundListing(k []byte, l *listing) {
	if m, err := c.match(l.Match); err == nil && !m.Played.Equal(l.Played) {
		c.bad(tAccountsOf.Name, k, "match %s is listed at another time than it was played", l.Match)
	}
}

// soundLive checks what no record of a live job can tell by itself: that its state belongs among
// the live ones, that it is not in the archive too, and that its key leads back to it.
func (c *checker) soundLive(k []byte, j *engine.Job) {
	if _, err := c.readRest(k, j); errors.Is(err, collection.ErrMissing) {
		c.tables.BadRecord(err)
	}
	if j.State.Terminal() {
		c.bad(tJobState.Name, k, "job %s is %s but not in the archive", j.ID, j.State)
	}
	if c.Has(tArchive.Table, k) {
		c.bad(tJobState.Name, k, "job %s is live and in the archive", j.ID)
	}
	if n, held, err := c.Number(tJobKey, []byte(j.Key)); j.Key != "" && err == nil && (!held || jobID(n) != j.ID) {
		c.bad(tJobState.Name, k, "job %s does not hold its key %q", j.ID, j.Key)
	}
}

// soundPart checks that a spec or an error is that of a live job.
func (c *checker) soundPart(tb *collection.Table) func([]byte, *engine.Job) {
	return func(k []byte, _ *engine.Job) {
		if !c.Has(tJobState.Table, k) {
			c.bad(tb.Name, k, "belongs to no live job")
		}
	}
}

// soundEnded checks that an archived job has ended, and that a failed one is found by its key: that
// is how an operator finds what became of a match.
func (c *checker) soundEnded(k []byte, j *engine.Job) {
	if !j.State.Terminal() {
		c.bad(tArchive.Name, k, "job %s is %s", j.ID, j.State)
	}
	// Of completed ones the latest may have been pruned.
	if j.Key != "" && listed(j.State) && !c.Has(tArchiveKey, []byte(j.Key)) {
		c.bad(tArchive.Name, k, "job %s is not found by its key %q", j.ID, j.Key)
	}
}

// soundAttempt checks that an attempt is of a job that is there, live or ended.
func (c *checker) soundAttempt(k []byte, _ *engine.Attempt) {
	if len(k) != 16 || !c.Has(tJobState.Table, k[:8]) && !c.Has(tArchive.Table, k[:8]) {
		c.bad(tAttempts.Name, k, "belongs to no job")
	}
}

// soundRecent checks that what an owner did last leads to an attempt.
func (c *checker) soundRecent(k []byte, a *attemptAt) {
	if !c.Has(tAttempts.Table, a.key()) {
		c.bad(tRecent.Name, k, "names an attempt that is not there")
	}
}

// heldKeys checks that each unique key leads to a job that has it.
func (c *checker) heldKeys() {
	for _, tb := range []*collection.Table{tJobKey, tArchiveKey} {
		for r := range c.Rows(tb, nil) {
			n, _, err := c.Number(tb, r.Key)
			if err != nil {
				continue // named by sums
			}
			j, ok, err := c.readJob(key.Uint64(n))
			switch {
			case err != nil: // named by its own table
			case !ok:
				c.bad(tb.Name, r.Key, "names job %s, which is not there", jobID(n))
			case j.Key != string(r.Key):
				c.bad(tb.Name, r.Key, "names job %s, whose key is %q", j.ID, j.Key)
			case tb == tJobKey && j.State.Terminal():
				c.bad(tb.Name, r.Key, "is held by job %s, which has ended", j.ID)
			}
		}
	}
}

// membership recounts every group from its members (P6, P-16). The sums decide when a sync ends:
// wrong ones would end it early, or never.
func (c *checker) membership() {
	derived := map[string]engine.GroupStat{}
	for r := range c.Rows(tMembers.Table, nil) {
		m, err := tMembers.Decode(r.Key, r.Value)
		if err != nil {
			continue
		}
		// A group is named by its key: the number of its parent, and its own.
		g := string(m.groupKey())
		stat := derived[g]
		addMember(&stat, m, 1)
		derived[g] = stat
		j, ok, err := c.readJob(key.Uint64(m.child))
		// An open child that has ended would keep its parent waiting for ever.
		if err == nil && (!ok || !m.mark.Settled() && j.State.Terminal()) {
			c.bad(tMembers.Name, r.Key, "child %s is open in its group, but has ended", jobID(m.child))
		}
	}
	for r := range c.Rows(tGroups.Table, nil) {
		stored, err := tGroups.Decode(r.Key, r.Value)
		want := derived[string(r.Key)]
		want.GroupID = stored.GroupID
		if err == nil && stored != want {
			c.bad(tGroups.Name, r.Key, "says %+v, its members say %+v", stored, want)
		}
		delete(derived, string(r.Key))
	}
	// What is left of derived are groups without a row of sums.
	for g := range derived {
		c.bad(tMembers.Name, []byte(g), "has members but no totals")
	}
}

// days recounts every day's sums from the jobs and attempts that are there (P-33).
func (c *checker) days() {
	derived := map[string]engine.DaySum{}
	for j, err := range tArchive.Under(c.txn, nil) {
		if err == nil && !j.Finished.IsZero() {
			d := derived[engine.UTCDay(j.Finished)]
			d.CountEnded(j.State, 1)
			derived[engine.UTCDay(j.Finished)] = d
		}
	}
	for a, err := range tAttempts.Under(c.txn, nil) {
		if err == nil && !a.End.IsZero() {
			d := derived[engine.UTCDay(a.End)]
			d.CountAttempt(a, 1)
			derived[engine.UTCDay(a.End)] = d
		}
	}
	for r := range c.Rows(tDays.Table, nil) {
		stored, err := tDays.Decode(r.Key, r.Value)
		if want := derived[string(r.Key)].Plus(stored.pruned); err == nil && stored.all != want {
			c.bad(tDays.Name, r.Key, "says %s, the jobs and attempts say %s", sumWords(stored.all), sumWords(want))
		}
		delete(derived, string(r.Key))
	}
	// What is left of derived are days that have no row.
	for day, want := range derived {
		if want != (engine.DaySum{}) {
			c.bad(tDays.Name, []byte(day), "has no sums, the jobs and attempts say %s", sumWords(want))
		}
	}
}

func sumWords(d engine.DaySum) string {
	return fmt.Sprintf("%d completed, %d discarded, %d cancelled, %d attempts, %d retries, %d won",
		d.Completed, d.Discarded, d.Cancelled, d.Attempts, d.Retries, d.Won)
}

// feeds checks that each ended job has its place. Those of the others are an index.
func (c *checker) feeds() {
	// Places of jobs that have been run again since are left behind until the next prune: they
	// count as none.
	ended := 0
	for place, err := range tFeed.Under(c.txn, []byte{tagJobs}) {
		if err != nil {
			continue
		}
		if _, here, err := c.endedAt(place); here || err != nil { // what is corrupt is named by its own table
			ended++
		}
	}
	if n := c.report.Rows[tArchive.Name]; n != ended {
		c.bad(tFeed.Name, []byte{tagJobs}, "has a place for %d ended jobs, there are %d", ended, n)
	}
}

// calledBy checks that every external id leads to a call that has it.
func (c *checker) calledBy() {
	for r := range c.Rows(tCallSID, nil) {
		n, _, err := c.Number(tCallSID, r.Key)
		if err != nil {
			continue // named by sums
		}
		attempts, holds := c.attempts(key.Uint64(n))
		has := func(a engine.Attempt) bool { return a.External == string(r.Key) }
		if !slices.ContainsFunc(append(attempts, holds...), has) {
			c.bad(tCallSID.Name, r.Key, "names job %s, none of whose attempts has that id", jobID(n))
		}
	}
}
