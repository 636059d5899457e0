package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// Accounts of the worlds of these tests; the first one is forgotten.
var forgetters = []string{"01JFORGETMEPLEASE000000001", "01JKEEPONE0000000000000002", "01JKEEPTWO0000000000000003"}

func puuidOf(account string) string { return "puuid-of-" + strings.ToLower(account) }

func nameOf(account string) string { return "Player" + account[18:] }

// traces is what may be left nowhere.
func traces(account string) []string {
	return []string{account, puuidOf(account), nameOf(account), fold(nameOf(account))}
}

func player(id string) league.Account {
	a := account(id, nameOf(id), "EUW")
	a.PUUIDs = map[string]string{"dev": puuidOf(id), "dev until 2026-11-01 00:00:00": puuidOf(id) + "-old"}
	a.Status = engine.SyncCompleted.String()
	a.Run = "RUN" + id
	a.LastError = ""
	return a
}

func seatOf(match, account string, i int) league.Participant {
	return league.Participant{Match: match, Index: i, PUUID: puuidOf(account), RiotID: nameOf(account) + "#EUW", Champion: "Ahri", Kills: i}
}

// game is a match of a world: who has it, who sits in it, and how it stands.
type game struct {
	id     string
	of     []string // accounts in whose list it is
	also   []string // that sit in it without that
	status league.Status
}

// crowd is what is stored, and where the work on it is cut off.
type crowd struct {
	games      []game
	batch, cut int
}

func drawWorld(rt *rapid.T) crowd {
	return crowd{drawGames(rt), rapid.IntRange(1, 4).Draw(rt, "batch"), rapid.IntRange(0, 25).Draw(rt, "cut after")}
}

func drawGames(rt *rapid.T) (games []game) {
	for i := range rapid.IntRange(0, 9).Draw(rt, "games") {
		g := game{id: fmt.Sprintf("EUW1_%d", i), status: league.Status(rapid.SampledFrom([]league.Status{league.Success, league.Success, league.PermanentlyUnfetchable, league.TemporaryFailure}).Draw(rt, "status"))}
		for _, a := range forgetters {
			switch rapid.IntRange(0, 3).Draw(rt, "has") {
			case 0:
			case 1:
				g.also = append(g.also, a)
			default:
				g.of = append(g.of, a)
			}
		}
		if len(g.of) > 0 {
			games = append(games, g)
		}
	}
	return games
}

// aCollection is the id of one that has ended, in the worlds that have it.
const aCollection = "01JCOLLECTION0000000000001"

// people stores a world: the games, and for each account a sync with its children and all else that there may be of one.
// Those that are named are players of aCollection, and no accounts.
func people(t testing.TB, db *DB, games []game, players ...string) {
	t.Helper()
	ctx := context.Background()
	ref, body := gzipped(`{"metadata":{},"info":{"players":"` + strings.Join(forgetters, " ") + `"}}`)
	for _, g := range games {
		if g.status == league.Success {
			must(t, db.PutPayload(ctx, g.id, league.PartMatch, ref, body))
			must(t, db.PutPayload(ctx, g.id, league.PartTimeline, ref, body))
		}
	}
	write(t, db, func(tx engine.Tx) error { // seats before accounts: nobody's list has them yet
		var errs []error
		for _, g := range games {
			m := league.Match{ID: g.id, Played: noon, Match: league.Fetch{Status: g.status}}
			if g.status == league.Success {
				m.Match.Ref, m.Timeline = ref, league.Fetch{Status: league.Success, Ref: ref}
			}
			var seats []league.Participant
			for i, a := range slices.Concat(g.of, g.also) {
				seats = append(seats, seatOf(g.id, a, i))
			}
			errs = append(errs, db.SaveMatch(tx, m, true), db.SaveParticipants(tx, g.id, seats), db.AddHistory(tx, g.id, engine.Transition{At: noon, To: "x"}))
		}
		return errors.Join(errs...)
	})
	var round engine.JobID
	if len(players) > 0 {
		write(t, db, func(tx engine.Tx) error {
			made, err := tx.Enqueue(engine.Spec{Kind: "collect", Queue: "collect.kr", Key: "collect:" + aCollection, Owner: aCollection, Args: []byte(`{"collection":"` + aCollection + `"}`)})
			if err == nil {
				round = made[0].ID
			}
			return errors.Join(err, db.SaveCollection(tx, engine.Collection{ID: aCollection, CollectAsk: engine.CollectAsk{Name: "kr"}, Job: round, Players: len(players), Result: "completed"}))
		})
	}
	for _, id := range forgetters {
		a := player(id)
		if slices.Contains(players, id) {
			a.Collection = aCollection
		}
		write(t, db, func(tx engine.Tx) error { return onePerson(db, own(tx), a, round, games) })
	}
	write(t, db, func(tx engine.Tx) error {
		if round != "" {
			must(t, endJob(db, own(tx), round, engine.MarkDone))
		}
		w := engine.WeeklyReport{Week: "2026-11-16", Played: 3, Complete: 3}
		for _, id := range forgetters {
			if slices.Contains(players, id) {
				continue
			}
			w.Accounts = append(w.Accounts, engine.WeeklyAccount{ID: id, RiotID: nameOf(id) + "#EUW", Games: 1})
		}
		var evidence []string
		for _, id := range forgetters {
			evidence = append(evidence, "account "+id, nameOf(id)+"#EUW: 404", "by-puuid/"+puuidOf(id))
		}
		for _, g := range games {
			evidence = append(evidence, "match:"+g.id+": 404")
		}
		blob, err := json.Marshal(evidence)
		return errors.Join(err, db.PutState(tx, "alerts", blob), db.SaveWeekly(tx, w))
	})
}

func onePerson(db *DB, t *txn, a league.Account, round engine.JobID, games []game) error {
	id, owner, parents := a.ID, a.ID, []engine.GroupID(nil)
	if a.Collection != "" {
		owner, parents = a.Collection, []engine.GroupID{{Parent: round, Group: 1}}
	}
	errs := []error{db.SaveAccount(t, a)}
	sync, err := t.Enqueue(engine.Spec{Kind: "account.sync", Queue: "q", Key: "full:" + id, Lock: "account:" + id, Owner: owner, Parents: parents, Args: []byte(`{"account":"` + id + `"}`)})
	if err != nil {
		return err
	}
	parent := sync[0].ID
	errs = append(errs, db.SaveRun(t, league.Run{ID: "RUN" + id, Account: id, Job: string(parent)}))
	of := league.Run{ID: "RUN" + id}.Ranges()
	for _, owner := range []string{of.Making, of.Own, of.Filters} {
		errs = append(errs, db.SaveCoverage(t, owner, "420", league.Coverage{Head: "x"}))
	}
	_, err = db.SaveGap(t, league.Gap{Match: "EUW1_missed", Part: league.PartTimeline, Run: "RUN" + id, Account: id})
	errs = append(errs, err)
	_, err = db.Stage(t, "RUN"+id, []league.Staged{{ID: "EUW1_0"}, {ID: "EUW1_1"}})
	errs = append(errs, err)
	for _, g := range games {
		if !slices.Contains(g.of, id) {
			continue
		}
		errs = append(errs, db.LinkMatch(t, owner, g.id))
		_, err := t.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:" + g.id, Owner: owner, Parents: []engine.GroupID{{Parent: parent}}})
		errs = append(errs, err)
		if id != g.of[len(g.of)-1] {
			continue // the next one joins it
		}
		j, err := db.JobByKey(t, "match:"+g.id)
		errs = append(errs, err, endJob(db, t, j.ID, engine.MarkDone))
	}
	errs = append(errs, endJob(db, t, parent, engine.MarkDone))
	if a.Collection == "" { // nobody is told of a player
		event, err := t.Enqueue(engine.Spec{Kind: "event.webhook", Queue: "q", Args: []byte(`{"account":"` + id + `"}`)})
		errs = append(errs, err, endJob(db, t, event[0].ID, engine.MarkDone))
	}
	for i, unsure := range []bool{false, true, false} {
		errs = append(errs, db.SaveRank(t, league.Rank{Account: id, Queue: "solo", At: noon.Add(time.Duration(i) * time.Hour), Unsure: unsure}))
	}
	if a.Collection == "" {
		errs = append(errs, db.SaveReport(t, engine.PlayReport{Account: id, Zone: "UTC"}))
	}
	return errors.Join(append(errs,
		db.SaveCoverage(t, id, "420", league.Coverage{Head: "x"}), db.CacheIDs(t, id, "420", league.CachedIDs{IDs: []string{"EUW1_0"}}),
		db.CachePUUID(t, nameOf(id), "EUW", "dev", puuidOf(id), noon.AddDate(1, 0, 0)), db.CachePUUID(t, "Older", "EUW", "dev", puuidOf(id)+"-old", noon),
		db.AddHistory(t, id, engine.Transition{At: noon, To: "x", Reason: nameOf(id)}))...)
}

// endJob ends a job with an attempt. Every third one is discarded.
func endJob(db *DB, t *txn, id engine.JobID, mark engine.Mark) error {
	_, err := db.Mark(t, id, mark, 1, 0)
	err = errors.Join(err, db.AddAttempt(t, id, engine.Attempt{Number: 1, Start: noon, End: noon}))
	j, jobErr := t.job(id)
	j.State, j.Finished, j.Attempts = engine.Completed, noon, 1
	if mustNumber(id)%3 == 0 {
		j.State = engine.Discarded
	}
	j.Rev++
	return errors.Join(err, jobErr, db.SaveJob(t, j))
}

// seen is what a console shows of an account.
func seen(t testing.TB, db *DB, id string) map[string]any {
	t.Helper()
	ctx := context.Background()
	all := map[string]any{}
	keep := func(name string, v any, err error) {
		must(t, err)
		all[name] = v
	}
	row, err := db.AccountRow(ctx, id)
	keep("row", row, err)
	ids, err := db.Identities(ctx, id)
	keep("identities", ids, err)
	page, err := db.Matches(ctx, engine.MatchesQuery{Account: id, All: true})
	keep("matches", page, err)
	report, err := db.Report(ctx, id)
	keep("report", report, err)
	ranks, err := db.RankHistory(ctx, engine.RanksQuery{Account: id})
	keep("ranks", ranks, err)
	read(t, db, func(tx *txn) error {
		run, err := db.Run(tx, "RUN"+id)
		keep("run", run, err)
		staged, err := db.Staged(tx, run.ID)
		keep("staged", staged, err)
		groups, err := db.Groups(tx, engine.JobID(run.Job))
		keep("groups", groups, err)
		var games []league.Game
		for g, err := range db.Games(tx, id) {
			must(t, err)
			games = append(games, g)
		}
		all["games"] = games
		for _, m := range page.Matches {
			one, err := tx.match(m.ID)
			keep("match "+m.ID, one, err)
			seats, err := tx.seats(m.ID)
			for i := range seats {
				if s := &seats[i]; s.PUUID == puuidOf(forgetters[0]) || strings.HasPrefix(s.PUUID, maskedSeat) {
					s.PUUID, s.RiotID = "", ""
				}
			}
			keep("seats "+m.ID, seats, err)
			if one.Match.Status == league.Success {
				raw, err := db.files.Raw(m.ID, league.PartTimeline, one.Timeline.Ref)
				keep("raw "+m.ID, string(raw), err)
			}
			j, err := db.Detail(ctx, engine.JobQuery{Key: "match:" + m.ID})
			keep("job "+m.ID, []any{j.Attempts, j.Job.State}, err)
		}
		return nil
	})
	return all
}

// wantNoTrace looks for what tells of an account in every row of every table but some.
func wantNoTrace(t testing.TB, db *DB, of []string, but ...*collection.Table) {
	t.Helper()
	read(t, db, func(tx *txn) error {
		for _, tb := range collection.Tables {
			if slices.Contains(but, tb) {
				continue
			}
			for r := range tx.Rows(tb, nil) {
				for _, trace := range of {
					if bytes.Contains(r.Key, []byte(trace)) || bytes.Contains(r.Value, []byte(trace)) {
						t.Errorf("table %s has %q in the row of %q", tb.Name, trace, r.Key)
					}
				}
			}
		}
		return nil
	})
}

// wantToldOnce: the audit says once that an account was forgotten, by whom and why, and not whose it was.
func wantToldOnce(t testing.TB, db *DB, done engine.ForgetDone) {
	t.Helper()
	all, err := db.Audit(context.Background(), 10)
	must(t, err)
	if len(all) != 1 {
		t.Fatalf("the audit has %d entries: %+v", len(all), all)
	}
	if a := all[0]; a.Op != engine.OpForget || a.Target != done.Target() || a.By.User != "ana" || a.Reason != "asked for" || !strings.HasPrefix(a.Result, done.Text(false)) {
		t.Errorf("the audit says %+v of %+v", a, done)
	}
}

// storedIn lists the matches that have a payload in any month.
func storedIn(t testing.TB, db *DB) (ids []string) {
	t.Helper()
	months, err := db.files.Months()
	must(t, err)
	for _, m := range months {
		must(t, db.files.With(m, false, func(s *payload.Shard) error {
			return s.Bolt.View(func(b *bolt.Tx) error {
				return b.Bucket([]byte(payload.Table)).ForEachBucket(func(k []byte) error {
					ids = append(ids, string(k))
					return nil
				})
			})
		}))
	}
	return ids
}

// Whatever is shared, whatever the size of a batch and wherever the work is cut off: what is left of the others is as it
// was, nothing names the one who was forgotten, and the store is sound at every cut.
func TestAForgottenAccountLeavesNoTrace(t *testing.T) {
	cuts := 0
	for seed := range 24 {
		rt := t
		w := rapid.Custom(drawWorld).Example(seed)
		games := w.games
		db, stop := w.store(t)
		people(t, db, games)
		ctx := context.Background()
		gone := forgetters[0]
		before := []map[string]any{seen(t, db, forgetters[1]), seen(t, db, forgetters[2])}
		would, err := db.WouldForget(ctx, nameOf(gone)+"#euw")
		must(t, err)

		done, whole := w.forget(t, &db, &stop, gone, gone)
		if !whole {
			cuts++
		}
		wantNoTrace(t, db, traces(gone))
		evidence, err := db.LoadState(ctx, "alerts")
		must(t, err)
		for _, g := range games {
			if told, alone := strings.Contains(string(evidence), "match:"+g.id+":"), slices.Equal(g.of, []string{gone}); told == alone {
				rt.Errorf("evidence of %s, in the lists of %v: %t", g.id, g.of, told)
			}
		}
		wantSound(t, db)
		wantToldOnce(t, db, done)
		if done.Seats = 0; !reflect.DeepEqual(done, would) {
			rt.Errorf("did %+v\nwould %+v", done, would)
		}
		for i, want := range before {
			if got := seen(t, db, forgetters[i+1]); !reflect.DeepEqual(got, want) {
				for name := range want {
					if !reflect.DeepEqual(got[name], want[name]) {
						rt.Errorf("%s of %s:\n%+v\nwas\n%+v", name, forgetters[i+1], got[name], want[name])
					}
				}
			}
		}
		w.wantStored(t, db, func(g game) bool { return len(g.of) > 1 || g.of[0] != gone })
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

// store makes an empty store that deletes so few rows at a time as the world says.
func (w crowd) store(t testing.TB) (*DB, func()) {
	t.Helper()
	few := fewRows
	few.Forget = w.batch
	db, err := Open(Options{Dir: t.TempDir() + "/data", pages: few})
	must(t, err)
	return db, serve(t, db)
}

// forget lets what be forgotten, whose mark is of id. It is cut off where the world says, if it comes that far, and then
// goes on in a store that was opened anew; whole is false then.
func (w crowd) forget(t testing.TB, db **DB, stop *func(), what, id string) (done engine.ForgetDone, whole bool) {
	t.Helper()
	half, cancel := context.WithCancel(context.Background())
	n := 0
	disarm := crash.Arm(func(name string) {
		if n++; strings.HasPrefix(name, "forget-") && n > w.cut {
			cancel()
		}
	})
	done, _, err := (*db).Forget(half, what, engine.Actor{User: "ana"}, "asked for", 0)
	disarm()
	cancel()
	if err == nil {
		return done, true
	}
	wantSound(t, *db)
	*db = reopen(t, *db, *stop)
	*stop = serve(t, *db)
	wantSound(t, *db)
	must(t, (*db).FinishForgotten(context.Background(), func(f Forgotten) {
		if done = f.Done; f.By.User != "ana" || f.Account != id {
			t.Errorf("finished %+v", f)
		}
	}))
	return done, false
}

// A player who was forgotten and comes back starts from nothing, and finds the seat in a match that had stayed.
func TestAForgottenAccountComesBackAsANewOne(t *testing.T) {
	db := start(t, "")
	gone, other := forgetters[0], forgetters[1]
	people(t, db, []game{{id: "EUW1_0", of: []string{gone, other}}, {id: "EUW1_1", of: []string{gone}, status: league.Success}})
	ctx := context.Background()
	if _, _, err := db.Forget(ctx, nameOf(gone)+"#EUW", engine.Actor{}, "", 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.Forget(ctx, gone, engine.Actor{}, "", 0); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("again: %v", err)
	}
	if err := db.FinishForgotten(ctx, func(f Forgotten) { t.Errorf("half done: %+v", f) }); err != nil {
		t.Error(err)
	}
	again := player(gone)
	again.ID, again.Run, again.GameName = "01JBACKAGAIN00000000000004", "", "Renamed"
	saveAccount(t, db, again)
	read(t, db, func(tx *txn) error {
		if _, here, err := tx.seatOf(again, "EUW1_0"); here || err != nil {
			t.Errorf("it sits there before it was listed: %v", err)
		}
		return nil
	})
	write(t, db, func(tx engine.Tx) error { return db.LinkMatch(tx, again.ID, "EUW1_0") })
	read(t, db, func(tx *txn) error {
		if seat, here, err := tx.seatOf(again, "EUW1_0"); !here || seat.RiotID != "Renamed#EUW" || err != nil {
			t.Errorf("its seat: %+v %t %v", seat, here, err)
		}
		return nil
	})
	page, err := db.Matches(ctx, engine.MatchesQuery{Account: again.ID, All: true})
	if err != nil || len(page.Matches) != 1 {
		t.Errorf("%+v %v", page, err)
	}
}

// A payload that is put again while its match is on its way out stays; one that is only there is not found any more.
func TestAPayloadThatIsWantedAgainIsNotErased(t *testing.T) {
	p, ctx := payloads(t), context.Background()
	ref, body := gzipped(`{"info":{}}`)
	for _, id := range []string{"EUW1_0", "EUW1_1"} {
		must(t, p.Put(ctx, id, league.PartMatch, ref, body))
	}
	p.Doomed.Add([]string{"EUW1_0", "EUW1_1"})
	if _, _, found, err := p.Find(ctx, "EUW1_0", league.PartMatch); found || err != nil {
		t.Errorf("found on its way out: %t %v", found, err)
	}
	must(t, p.Put(ctx, "EUW1_1", league.PartMatch, ref, body))
	if left, err := p.Erase([]string{"EUW1_0", "EUW1_1", "EUW1_2"}); len(left) > 0 || err != nil {
		t.Fatalf("%v %v", left, err)
	}
	for id, want := range map[string]bool{"EUW1_0": false, "EUW1_1": true} {
		if has, err := hasPayload(p, id); has != want || err != nil {
			t.Errorf("%s: %t %v", id, has, err)
		}
	}
}

// While a job of the account lives nothing is deleted.
func TestAnAccountWithLiveJobsIsNotForgotten(t *testing.T) {
	db := start(t, "")
	people(t, db, nil)
	gone := forgetters[0]
	enqueue(t, db, engine.Spec{Kind: "rank.fetch", Queue: "q", Key: "rank:" + gone, Owner: gone})
	_, _, err := db.Forget(context.Background(), gone, engine.Actor{}, "", 0)
	if !errors.Is(err, engine.ErrRefused) {
		t.Errorf("%v", err)
	}
	if jobs, err := db.LiveJobsOf(context.Background(), nameOf(gone)+"#EUW"); err != nil || len(jobs) != 1 {
		t.Errorf("%v %v", jobs, err)
	}
	if _, err := db.AccountRow(context.Background(), gone); err != nil {
		t.Error(err)
	}
}

// A waiting job that another account's sync counts, too, becomes that account's; one that runs stands in the way.
func TestALiveJobOfTwoAccountsIsNotCancelled(t *testing.T) {
	db := start(t, "")
	people(t, db, nil)
	gone, other := forgetters[0], forgetters[1]
	theirs := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "q", Owner: other})
	j := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:EUW1_0", Owner: gone, Parents: []engine.GroupID{{Parent: theirs.ID}}})
	j = move(t, db, j, engine.Running)
	ctx := context.Background()
	if _, _, err := db.Forget(ctx, gone, engine.Actor{}, "", 0); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("while it runs: %v", err)
	}
	j = move(t, db, j, engine.Available)
	if jobs, err := db.LiveJobsOf(ctx, gone); err != nil || len(jobs) > 0 {
		t.Errorf("to be cancelled: %v %v", jobs, err)
	}
	if _, _, err := db.Forget(ctx, gone, engine.Actor{}, "", 0); err != nil {
		t.Fatal(err)
	}
	read(t, db, func(tx *txn) error {
		if now, err := tx.job(j.ID); err != nil || now.Owner != other || now.State != engine.Available {
			t.Errorf("%+v %v", now, err)
		}
		return nil
	})
	wantNoTrace(t, db, traces(gone))
}

// BenchmarkForgetAmongManyJobs measures how long the look at 100,000 live jobs of others takes, which keeps writers waiting.
func BenchmarkForgetAmongManyJobs(b *testing.B) {
	db := start(b, "")
	const jobs, page = 100_000, 1000
	for i := range jobs / page {
		write(b, db, func(tx engine.Tx) error {
			for n := range page {
				match := fmt.Sprintf("match:EUW1_%d", i*page+n)
				if _, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q", Key: match, Owner: forgetters[1], Args: []byte(`{"match":"EUW1_1234567890"}`)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	ctx := context.Background()
	for b.Loop() {
		must(b, db.view(ctx, func(t *txn) error {
			_, _, err := t.liveOf(&Forgotten{Account: forgetters[0]})
			return err
		}))
	}
}
