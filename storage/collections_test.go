package storage

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// A job goes as the most urgent of those who want it, and never less urgently than before.
func TestL4_AJobGoesAsItsMostUrgentAsker(t *testing.T) {
	db := start(t, t.TempDir()+"/data")
	ask := func(p engine.Priority, queue engine.Queue, owner string) engine.Spec {
		return engine.Spec{Kind: "match.fetch", Key: "match:KR_1", Queue: queue, Owner: owner, Priority: p}
	}
	made := enqueue(t, db, ask(engine.PriorityLow, "collect.kr", "c"))
	// A collection that is as urgent as an account, or more, keeps nothing of what an account wants from it.
	for _, c := range []struct {
		spec engine.Spec
		want engine.Job
	}{
		{ask(engine.PriorityLow, "collect.euw", "d"), engine.Job{Rev: made.Rev, Queue: "collect.kr", Owner: "c", Priority: engine.PriorityLow}},
		{ask(engine.PriorityHigh, "full", "ana"), engine.Job{Rev: made.Rev + 1, Queue: "full", Owner: "ana", Priority: engine.PriorityHigh}},
		{ask(engine.PriorityLow, "collect.kr", "c"), engine.Job{Rev: made.Rev + 1, Queue: "full", Owner: "ana", Priority: engine.PriorityHigh}},
		{ask(engine.PriorityOperator, "collect.kr", "c"), engine.Job{Rev: made.Rev + 2, Queue: "full", Owner: "ana", Priority: engine.PriorityOperator}},
	} {
		write(t, db, func(tx engine.Tx) error {
			got, err := tx.Enqueue(c.spec)
			if err == nil && (!got[0].Duplicate || got[0].ID != made.ID) {
				t.Errorf("%s made another job: %+v", c.spec.Owner, got)
			}
			j, err2 := db.Job(tx, made.ID)
			if j.Rev != c.want.Rev || j.Queue != c.want.Queue || j.Owner != c.want.Owner || j.Priority != c.want.Priority {
				t.Errorf("after %s: %+v, want %+v", c.spec.Owner, j, c.want)
			}
			return errors.Join(err, err2)
		})
	}
}

func TestL4_AnAccountTakesAJobFromACollection(t *testing.T) {
	db := start(t, t.TempDir()+"/data")
	for i, p := range []engine.Priority{engine.PriorityHigh, engine.PriorityNormal, engine.PriorityLow} {
		spec := engine.Spec{Kind: "match.fetch", Key: fmt.Sprint("match:KR_", i), Queue: "collect.kr", Owner: "c", Priority: p}
		made := enqueue(t, db, spec)
		spec.Queue, spec.Owner, spec.Priority = "full", "ana", engine.PriorityNormal
		write(t, db, func(tx engine.Tx) error {
			_, err := tx.Enqueue(spec)
			j, err2 := db.Job(tx, made.ID)
			if j.Queue != "full" || j.Owner != "ana" || j.Priority != min(p, engine.PriorityNormal) {
				t.Errorf("of a collection at %d: %+v", p, j)
			}
			return errors.Join(err, err2)
		})
	}
}

// A collection that was cancelled between two rounds is told of when its job is long deleted.
func TestL12a_ACancelledCollectionOutlivesItsJob(t *testing.T) {
	db := start(t, t.TempDir()+"/data")
	for _, result := range []string{"cancelled", ""} {
		write(t, db, func(tx engine.Tx) error {
			return db.SaveCollection(tx, engine.Collection{ID: "C" + result, CollectAsk: engine.CollectAsk{Name: "kr" + result, Every: 24 * time.Hour}, Job: jobID(999), Result: result})
		})
	}
	rows, err := db.CollectionRows(t.Context())
	if err != nil || len(rows) != 2 || !rows[0].Next.IsZero() || !rows[1].Next.IsZero() {
		t.Errorf("%+v %v", rows, err)
	}
}

// Each match of a collection counts once, at the status that it has; check recounts them. Players are in no list of
// accounts.
func TestL1a_ACollectionCountsItsMatches(t *testing.T) {
	db := start(t, t.TempDir()+"/data")
	status := func(id string, s league.Status) func(engine.Tx) error {
		m := league.Match{ID: id, Match: league.Fetch{Status: s}}
		if s == league.Success {
			m.Match.Ref = league.PayloadRef{Codec: league.CodecDropped}
		}
		return func(tx engine.Tx) error { return db.SaveMatch(tx, m, true) }
	}
	link := func(id string) func(engine.Tx) error {
		return func(tx engine.Tx) error { return db.LinkMatch(tx, "C", id) }
	}
	write(t, db, func(tx engine.Tx) error {
		return errors.Join(db.SaveCollection(tx, engine.Collection{ID: "C", CollectAsk: engine.CollectAsk{Name: "kr"}}),
			db.SaveAccount(tx, league.Account{ID: "P", Collection: "C", Platform: "kr", PUUIDs: map[string]string{"": "p"}, Created: time.Unix(1, 0)}))
	})
	for _, do := range []func(engine.Tx) error{
		status("KR_1", league.Success), link("KR_1"), link("KR_1"),
		status("KR_2", league.Unfetched), link("KR_2"), status("KR_2", league.TemporaryFailure), status("KR_2", league.PermanentlyUnfetchable),
		status("KR_3", league.Unfetched), link("KR_3"), status("KR_3", league.Success), link("KR_3"),
		status("KR_4", league.Unfetched), link("KR_4"),
	} {
		write(t, db, do)
	}
	rows, err := db.CollectionRows(t.Context())
	must(t, err)
	if want := (engine.Collected{Found: 4, Stored: 2, Had: 1, Lost: 1, Again: 2}); len(rows) != 1 || rows[0].Collected != want || rows[0].Collected.Open() != 1 {
		t.Errorf("%+v, want %+v", rows, want)
	}
	page, err := db.Accounts(t.Context(), engine.AccountsQuery{})
	must(t, err)
	if page.Total != 0 || len(page.Accounts) != 0 {
		t.Errorf("a player is an account: %+v", page)
	}
	report, err := db.Check(t.Context())
	must(t, err)
	for _, f := range report.Findings {
		t.Errorf("check: %+v", f)
	}
	var right collected
	write(t, db, func(tx engine.Tx) (err error) {
		right, err = own(tx).collectedOf("C")
		return errors.Join(err, tCollected.Put(own(tx), []byte("C"), &collected{}))
	})
	if report, err = db.Check(t.Context()); err != nil || len(report.Findings) == 0 {
		t.Errorf("wrong counts are not found: %v", err)
	}
	write(t, db, func(tx engine.Tx) error { return tCollected.Put(own(tx), []byte("C"), &right) })
}

// The matches of a collection are counted by the day on which they were played, as soon as that is known; check recounts
// them, and a store from before that was counted gets it.
func TestL30_ACollectionCountsItsMatchesByDay(t *testing.T) {
	db := start(t, t.TempDir()+"/data")
	save := func(id string, played time.Time, status league.Status) {
		write(t, db, func(tx engine.Tx) error {
			return db.SaveMatch(tx, league.Match{ID: id, Played: played, Match: league.Fetch{Status: status, Ref: league.PayloadRef{Codec: league.CodecDropped}}}, true)
		})
	}
	link := func(id string) {
		write(t, db, func(tx engine.Tx) error { return db.LinkMatch(tx, "C", id) })
	}
	write(t, db, func(tx engine.Tx) error {
		return db.SaveCollection(tx, engine.Collection{ID: "C", CollectAsk: engine.CollectAsk{Name: "kr"}})
	})
	save("KR_1", noon, league.Success) // stored before it was found
	link("KR_1")
	link("KR_1")
	for i, played := range []time.Time{noon.AddDate(0, 0, -2), noon.Add(11 * time.Hour), noon.Add(13 * time.Hour)} {
		id := fmt.Sprint("KR_", i+2)
		link(id)
		save(id, time.Time{}, league.Unfetched)
		save(id, played, league.Success)
	}
	save("KR_4", noon.AddDate(0, 0, -2), league.Success) // told otherwise
	link("KR_9")
	want := []engine.DayPlayed{{Day: engine.UTCDay(noon.AddDate(0, 0, -2)), Matches: 2}, {Day: engine.UTCDay(noon), Matches: 2}}
	days := func() []engine.DayPlayed {
		rows, err := db.CollectionRows(t.Context())
		must(t, err)
		return rows[0].Days
	}
	if have := days(); !slices.Equal(have, want) {
		t.Errorf("%v, want %v", have, want)
	}
	wantSound(t, db)
	write(t, db, func(tx engine.Tx) error {
		n, err := own(tx).collectedOf("C")
		n.Days = n.Days[:1]
		return errors.Join(err, tCollected.Put(own(tx), []byte("C"), &n))
	})
	if report, err := db.Check(t.Context()); err != nil || len(report.Findings) != 1 {
		t.Errorf("a wrong day is not found: %v %v", report.Findings, err)
	}
	write(t, db, func(tx engine.Tx) error { return own(tx).daysOfCollections() })
	if have := days(); !slices.Equal(have, want) {
		t.Errorf("recounted: %v, want %v", have, want)
	}
	write(t, db, func(tx engine.Tx) error { return own(tx).unlist("C", "KR_1") })
	if have := days(); have[1].Matches != 1 {
		t.Errorf("one less: %v", have)
	}
}

// A feed of a collection has its matches and the ranks of its players, and no others.
func TestL11_FeedsOfACollection(t *testing.T) {
	db := start(t, t.TempDir()+"/data")
	write(t, db, func(tx engine.Tx) error {
		errs := []error{db.SaveCollection(tx, engine.Collection{ID: "C", CollectAsk: engine.CollectAsk{Name: "kr"}})}
		for _, a := range []league.Account{{ID: "P", Collection: "C"}, {ID: "A"}} {
			a.Platform, a.PUUIDs, a.Created = "kr", map[string]string{"": "puuid " + a.ID}, time.Unix(1, 0)
			errs = append(errs, db.SaveAccount(tx, a), db.SaveRank(tx, league.Rank{Account: a.ID, Queue: "RANKED_SOLO_5x5", At: time.Unix(2, 0), Tier: "MASTER"}))
		}
		for id, owner := range map[string]string{"KR_1": "C", "KR_2": "A", "KR_3": "C"} {
			m := league.Match{ID: id, Match: league.Fetch{Status: league.Success, Ref: league.PayloadRef{Codec: league.CodecDropped}}}
			errs = append(errs, db.SaveMatch(tx, m, true), db.LinkMatch(tx, owner, id),
				db.SaveParticipants(tx, id, []league.Participant{{Match: id, Index: 1}, {Match: id, Index: 2}}))
		}
		return errors.Join(errs...)
	})
	for kind, want := range map[engine.FeedKind]string{engine.FeedMatches: "KR_1 KR_3", engine.FeedParticipants: "KR_1 KR_1 KR_3 KR_3", engine.FeedRanks: "P", engine.FeedPlayers: "P"} {
		var ids []string
		q := engine.FeedQuery{Kind: kind, Collection: "kr", Page: engine.Page{Limit: 1}}
		for more := true; more; {
			page, err := db.Feed(t.Context(), q)
			must(t, err)
			for _, row := range page.Rows {
				ids = append(ids, row.ID)
				if p := row.Player; p != nil && (p.PUUID != "puuid P" || p.Collection != "kr" || p.Platform != "kr") {
					t.Errorf("a player: %+v", p)
				}
				if row.Rank != nil && row.Rank.PUUID != "puuid P" {
					t.Errorf("a rank leads to no seat: %+v", row.Rank)
				}
			}
			q.After, more = page.Next, page.More
		}
		slices.Sort(ids)
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
	if _, err := db.Feed(t.Context(), engine.FeedQuery{Kind: engine.FeedMatches, Collection: "none"}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("of no collection: %v", err)
	}
}

// The players that were listed last are told, the last one first, with what came of it.
func TestL26_TheLastPlayersAreTold(t *testing.T) {
	db := start(t, t.TempDir()+"/data")
	write(t, db, func(tx engine.Tx) error {
		errs := []error{db.SaveCollection(tx, engine.Collection{ID: "C", CollectAsk: engine.CollectAsk{Name: "kr"}})}
		for i, id := range []string{"P1", "P2", "P3", "P4"} {
			a := league.Account{ID: id, Collection: "C", Platform: "kr", PUUIDs: map[string]string{"": "puuid " + id}, Created: time.Unix(1, 0)}
			if id != "P3" {
				a.Run, a.Status = "R"+id, "completed"
				errs = append(errs, db.SaveRun(tx, league.Run{ID: a.Run, Account: id, Listed: 10 * (i + 1), Had: 7, TooOld: 1, Triggered: time.Unix(int64(i), 0)}))
			}
			errs = append(errs, db.SaveAccount(tx, a), db.SaveRank(tx, league.Rank{Account: id, Queue: "RANKED_SOLO_5x5", At: time.Unix(2, 0), Tier: "MASTER", Points: i}),
				db.SaveRank(tx, league.Rank{Account: id, Queue: "RANKED_FLEX_SR", At: time.Unix(2, 0), Tier: "GOLD"}), db.SaveRank(tx, league.Rank{Account: id, Queue: "RANKED_TFT", At: time.Unix(2, 0), Tier: "IRON"}))
		}
		return errors.Join(errs...)
	})
	names := func(upto string, n int) (all string) {
		list, err := db.LastPlayers(t.Context(), "C", "RANKED_SOLO_5x5", upto, n)
		must(t, err)
		for _, p := range list {
			all += p.Name[len("puuid "):] + " "
		}
		return all
	}
	for _, c := range []struct {
		upto string
		n    int
		want string
	}{{"", 9, "P4 P2 P1 "}, {"P2", 9, "P2 P1 "}, {"P4", 1, "P4 "}, {"P3", 9, "P2 P1 "}} {
		if got := names(c.upto, c.n); got != c.want {
			t.Errorf("%d up to %q: %s, want %s", c.n, c.upto, got, c.want)
		}
	}
	list, err := db.LastPlayers(t.Context(), "C", "RANKED_SOLO_5x5", "P2", 1)
	must(t, err)
	want := engine.CollectionPlayer{Name: "puuid P2", Platform: "kr", Tier: "MASTER", Points: 1, Status: "completed", Listed: 20, New: 12, At: time.Unix(1, 0)}
	if p := list[0]; !p.At.Equal(want.At) {
		t.Errorf("listed at %s", p.At)
	} else if p.At = want.At; p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
}

// A player stands in the feed once, when the PUUID is known, and again with another; who is forgotten stands there no more,
// and players of a store from before that get their place.
func TestL22_PlayersStandInTheFeed(t *testing.T) {
	db := start(t, t.TempDir()+"/data")
	p := league.Account{ID: "P", Collection: "C", GameName: "Name", TagLine: "TAG", Platform: "kr", Created: time.Unix(1, 0)}
	save := func() {
		write(t, db, func(tx engine.Tx) error { return db.SaveAccount(tx, p) })
	}
	after := ""
	wants := func(what string, want int) {
		t.Helper()
		page, err := db.Feed(t.Context(), engine.FeedQuery{Kind: engine.FeedPlayers, Page: engine.Page{After: after}})
		must(t, err)
		if after = page.Next; len(page.Rows) != want {
			t.Errorf("%s: %d rows, want %d", what, len(page.Rows), want)
		}
	}
	write(t, db, func(tx engine.Tx) error {
		return db.SaveCollection(tx, engine.Collection{ID: "C", CollectAsk: engine.CollectAsk{Name: "kr"}})
	})
	save()
	wants("by a Riot ID", 0)
	p.PUUIDs = map[string]string{"": "one"}
	save()
	wants("with a PUUID", 1)
	p.LastSync = time.Unix(2, 0)
	save()
	wants("listed", 0)
	wantSound(t, db)
	write(t, db, func(tx engine.Tx) error { return own(tx).dropPlace(tagPlayers, "P") })
	if report, err := db.Check(t.Context()); err != nil || len(report.Findings) != 1 {
		t.Errorf("a player without a place is not found: %v %v", report.Findings, err)
	}
	write(t, db, func(tx engine.Tx) error { return own(tx).orderOfPlayers() })
	wants("of before", 1)
	wantSound(t, db)
	after = ""
	write(t, db, func(tx engine.Tx) error { return own(tx).dropPlayer(p) })
	wants("forgotten", 0)
}

// Wherever it is cut off: of a collection nothing is left but who sat in the matches that an account has, and what is of
// that account is as it was.
func TestL12a_AForgottenCollectionLeavesNoTrace(t *testing.T) {
	cuts := 0
	for seed := range 16 {
		w := rapid.Custom(drawWorld).Example(seed)
		db, stop := w.store(t)
		players, stays := forgetters[:2], forgetters[2]
		people(t, db, w.games, players...)
		before := seen(t, db, stays)
		would, err := db.WouldForget(t.Context(), aCollection)
		must(t, err)
		done, whole := w.forget(t, &db, &stop, aCollection, aCollection)
		if !whole {
			cuts++
		}
		// What speaks for an alert is of calls, and goes as they do.
		wantNoTrace(t, db, append([]string{aCollection}, players...), tState)
		wantSound(t, db)
		wantToldOnce(t, db, done)
		if !reflect.DeepEqual(done, would) || done.Players != 2 || done.Collection != "kr" || done.Runs != 2 || done.Ranks != 6 {
			t.Errorf("did %+v\nwould %+v", done, would)
		}
		if got := seen(t, db, stays); !reflect.DeepEqual(got, before) {
			t.Errorf("of the account:\n%+v\nwas\n%+v", got, before)
		}
		w.wantStored(t, db, func(g game) bool { return slices.Contains(g.of, stays) })
		stop()
		must(t, db.Close())
		if t.Failed() {
			t.Fatalf("world %d: %+v", seed, w)
		}
	}
	if cuts < 5 {
		t.Errorf("only %d worlds were cut off", cuts)
	}
}

// wantStored wants the payloads of the fetched games of a world that fit, and no others.
func (w crowd) wantStored(t testing.TB, db *DB, fits func(g game) bool) {
	t.Helper()
	var kept []string
	for _, g := range w.games {
		if g.status == league.Success && fits(g) {
			kept = append(kept, g.id)
		}
	}
	if got := storedIn(t, db); !slices.Equal(got, kept) {
		t.Errorf("payloads of %v, want %v", got, kept)
	}
}

// Wherever it is cut off: of a player of a collection nothing is left. The matches stay that an account has, or in which
// another player of it sits, and it counts what it has left.
func TestL12b_AForgottenPlayerLeavesNoTrace(t *testing.T) {
	cuts := 0
	for seed := range 16 {
		w := rapid.Custom(drawWorld).Example(seed)
		db, stop := w.store(t)
		gone, other, stays := forgetters[0], forgetters[1], forgetters[2]
		people(t, db, w.games, gone, other)
		before := seen(t, db, stays)
		would, err := db.WouldForget(t.Context(), nameOf(gone)+"#euw")
		must(t, err)
		done, whole := w.forget(t, &db, &stop, puuidOf(gone), gone)
		if !whole {
			cuts++
		}
		wantNoTrace(t, db, traces(gone))
		wantSound(t, db)
		wantToldOnce(t, db, done)
		if done.Seats = 0; !reflect.DeepEqual(done, would) || done.Players != 1 || done.Runs != 1 || done.Ranks != 3 {
			t.Errorf("did %+v\nwould %+v", done, would)
		}
		if got := seen(t, db, stays); !reflect.DeepEqual(got, before) {
			t.Errorf("of the account:\n%+v\nwas\n%+v", got, before)
		}
		theirs := func(g game) bool { return slices.Contains(g.of, other) || slices.Contains(g.also, other) }
		w.wantStored(t, db, func(g game) bool { return slices.Contains(g.of, stays) || theirs(g) })
		rows, err := db.CollectionRows(t.Context())
		must(t, err)
		if len(rows) != 1 || rows[0].Players != 1 || rows[0].Listed+rows[0].Failed != 1 {
			t.Errorf("%+v", rows)
		}
		stop()
		must(t, db.Close())
		if t.Failed() {
			t.Fatalf("world %d: %+v", seed, w)
		}
	}
	if cuts < 5 {
		t.Errorf("only %d worlds were cut off", cuts)
	}
}

// An account that is a player of a collection as well goes as both, and a match that only these two have is counted once.
func TestL12b_AnAccountGoesWithThePlayerThatItIs(t *testing.T) {
	db := start(t, "")
	gone, other := forgetters[0], forgetters[1]
	games := []game{
		{id: "EUW1_1", of: []string{gone}, status: league.Success}, {id: "EUW1_2", of: []string{gone, other}, status: league.Success},
		{id: "EUW1_3", of: []string{other}, also: []string{gone}, status: league.Success},
	}
	people(t, db, games, other)
	write(t, db, func(tx engine.Tx) error {
		c, err := db.Collection(tx, aCollection)
		c.Players++
		same := league.Account{ID: "01JTHESAMEPERSON0000000001", Collection: aCollection, Platform: "euw1", PUUIDs: map[string]string{"": puuidOf(gone)}, Created: noon}
		return errors.Join(err, db.SaveCollection(tx, c), db.SaveAccount(tx, same), db.LinkMatch(tx, aCollection, "EUW1_1"),
			db.SaveRun(tx, league.Run{ID: "RUNSAME", Account: same.ID}))
	})
	would, err := db.WouldForget(t.Context(), nameOf(gone)+"#EUW")
	must(t, err)
	done, _, err := db.Forget(t.Context(), gone, engine.Actor{User: "ana"}, "asked for", 0)
	must(t, err)
	wantNoTrace(t, db, append(traces(gone), "01JTHESAMEPERSON0000000001"))
	wantSound(t, db)
	if done.Seats != 2 || done.Matches != 1 || done.Shared != 1 || done.Players != 1 {
		t.Errorf("%+v", done)
	}
	if done.Seats = 0; !reflect.DeepEqual(done, would) {
		t.Errorf("did %+v\nwould %+v", done, would)
	}
	if got := storedIn(t, db); !slices.Equal(got, []string{"EUW1_2", "EUW1_3"}) {
		t.Errorf("payloads of %v", got)
	}
}

// Nothing is forgotten that a collection is at work on.
func TestL12c_WhatIsBeingCollectedIsNotForgotten(t *testing.T) {
	db := start(t, "")
	people(t, db, nil, forgetters[0])
	write(t, db, func(tx engine.Tx) error {
		c, err := db.Collection(tx, aCollection)
		c.Result = ""
		return errors.Join(err, db.SaveCollection(tx, c))
	})
	for _, what := range []string{aCollection, puuidOf(forgetters[0]), nameOf(forgetters[0]) + "#euw"} {
		_, _, err := db.Forget(t.Context(), what, engine.Actor{}, "", 0)
		_, dry := db.WouldForget(t.Context(), what)
		if p, _ := errors.AsType[*engine.Problem](err); p == nil || !errors.Is(err, engine.ErrRefused) || !strings.Contains(p.Do, "collections --cancel kr") || !errors.Is(dry, engine.ErrRefused) {
			t.Errorf("%s: %v, dry %v", what, err, dry)
		}
	}
	for _, what := range []string{"", "01JNOBODY", "no#body"} {
		if _, _, err := db.Forget(t.Context(), what, engine.Actor{}, "", 0); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%q: %v", what, err)
		}
	}
}
