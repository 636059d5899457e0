package pg

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// Whatever becomes of accounts, runs, matches and ranks: both stores say the same of it.
func TestBothStoresSayTheSameOfTheLeague(t *testing.T) {
	eachTwin(t, func(w *twins) {
		w.rounds(150, rand.New(rand.NewPCG(13, 2)), w.play, w.askOfTheLeague)
	})
}

var someAccounts = []string{"01A", "01B", "01C"}

func (w *twins) play(r *rand.Rand) {
	now := time.Now().UTC()
	account, match := pick(r, someAccounts...), fmt.Sprintf("EUW1_%d", 100+r.IntN(12))
	switch r.IntN(9) {
	case 0:
		a := league.Account{
			ID: account, GameName: "Faker Ü" + account, TagLine: "Kr1", Platform: pick(r, "euw1", "kr"), Tags: []string{"team"}, Tracked: r.IntN(2) == 0,
			PUUIDs: map[string]string{"dev": "puuid-" + account, "prod": fmt.Sprint("p-", account, r.IntN(2))},
			Policy: league.Policy{Queues: []int{420}, Cadence: time.Hour}, Status: pick(r, "", "never", "completed"),
			Coverage: league.Coverage{Head: match, HeadAt: now, ReachedEnd: true}, Created: now, Updated: now, LastError: pick(r, "", "no\u202e"),
		}
		w.write("account", func(s store, tx engine.Tx) (any, error) {
			if old, err := s.Account(tx, account); err == nil {
				a.Run = old.Run
			}
			return nil, s.SaveAccount(tx, a)
		})
	case 1:
		w.sync(r, account, now)
	case 2, 3, 4:
		w.fetch(r, account, match, now)
	case 5:
		rank := league.Rank{Account: account, Queue: pick(r, league.RankedSolo, league.RankedFlex), At: now, Tier: "GOLD", Division: "II", Points: r.IntN(100), Unsure: r.IntN(3) == 0}
		w.write("rank", func(s store, tx engine.Tx) (any, error) {
			last, err := s.LastRanks(tx, account)
			if err == nil && len(last) > 0 && last[0].Unsure {
				err = s.DropRank(tx, last[0])
			}
			return last, errors.Join(err, s.SaveRank(tx, rank))
		})
	case 6:
		g := league.Gap{Match: match, Run: pick(r, "R1", "R2"), Part: pick(r, league.PartMatch, league.PartTimeline), Account: account, Job: "a1", Left: r.IntN(2) == 0}
		drop := r.IntN(3) == 0
		w.write("gap", func(s store, tx engine.Tx) (any, error) {
			added, err := s.SaveGap(tx, g)
			if drop {
				err = errors.Join(err, s.DropGap(tx, g))
			}
			list, bad := s.Gaps(tx, match)
			return []any{added, list}, errors.Join(err, bad)
		})
	case 7:
		list, to := pick(r, "", "queue=420"), pick(r, someAccounts...)
		c := league.Coverage{Head: match, HeadAt: now, Timelines: league.TimelinesAll}
		ids := league.CachedIDs{At: now, Whole: true, IDs: []string{match, "EUW1_1"}}
		tag := league.Policy{Type: pick(r, "", "ranked")}
		w.write("ranges", func(s store, tx engine.Tx) (any, error) {
			errs := []error{s.SaveCoverage(tx, account, list, c), s.CacheIDs(tx, account, list, ids), s.SaveTagPolicy(tx, "team", tag), s.MoveCoverage(tx, account, to),
				s.CachePUUID(tx, "Fäker", "kr1", "dev", "puuid", now.Add(time.Hour))}
			here, err := s.Coverage(tx, account, list)
			there, bad := s.Coverage(tx, to, list)
			cached, ok, worse := s.CachedIDs(tx, account, list)
			policy, worst := s.TagPolicy(tx, "team")
			return []any{here, there, cached, ok, policy}, errors.Join(append(errs, err, bad, worse, worst)...)
		})
	default:
		report, week := engine.PlayReport{Account: account, Zone: "UTC", Built: now, Matches: r.IntN(9)}, engine.WeeklyReport{Week: pick(r, "2026-11-16", "2026-11-23"), Zone: "UTC", Played: r.IntN(9)}
		w.write("reports", func(s store, tx engine.Tx) (any, error) {
			err := errors.Join(s.SaveReport(tx, report), s.SaveWeekly(tx, week))
			return s.HasWeekly(tx, "2026-11-16"), err
		})
	}
}

// sync starts, feeds or ends a run of an account, with its job and children.
func (w *twins) sync(r *rand.Rand, account string, now time.Time) {
	id, stage := fmt.Sprint("R", account, r.IntN(3)), r.IntN(3)
	w.write("sync", func(s store, tx engine.Tx) (any, error) {
		a, err := s.Account(tx, account)
		if err != nil {
			return nil, err
		}
		run, err := s.Run(tx, id)
		if errors.Is(err, engine.ErrNotFound) {
			out, err := tx.Enqueue(engine.Spec{Kind: "account.sync", Queue: "q1", Owner: account})
			if err != nil {
				return nil, err
			}
			run = league.Run{ID: id, Account: account, Job: string(out[0].ID), Ask: league.Ask{Mode: "full", Timelines: league.TimelinesAll}, Before: a.Run, Triggered: now, By: "ana", Phase: "list"}
			a.Run, a.Status = id, "syncing"
			if err := s.SaveAccount(tx, a); err != nil {
				return nil, err
			}
		} else if err != nil {
			return nil, err
		}
		parent := engine.JobID(run.Job)
		g := engine.GroupID{Parent: parent, Group: 1 + stage%2}
		kids, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q1", Key: fmt.Sprint("match:", id, stage), Parents: []engine.GroupID{g}})
		if err != nil {
			return nil, err
		}
		run.Phase, run.Had, run.Listed, run.Lost = "matches", stage, 3, 1
		added, err := s.Stage(tx, id, []league.Staged{{ID: "EUW1_5"}, {ID: fmt.Sprint("EUW1_", stage), TooOld: stage == 1}})
		if err != nil {
			return nil, err
		}
		staged, err := s.Staged(tx, id)
		if err != nil {
			return nil, err
		}
		if stage == 2 {
			err = errors.Join(s.Unstage(tx, id), s.Leave(tx, g, kids[0].ID))
		}
		_, bad := s.Mark(tx, kids[0].ID, engine.MarkDone, 2, 1)
		worse := s.AddAttempt(tx, parent, engine.Attempt{Number: 1, Round: 1, Try: 1, Status: []int{200, 429}[stage%2], HTTP: time.Second, End: now})
		return []any{kids, added, staged}, errors.Join(err, bad, worse, s.SaveRun(tx, run))
	})
}

// fetch lists a match for an account, or ends one of its parts.
func (w *twins) fetch(r *rand.Rand, account, match string, now time.Time) {
	to := pick(r, league.Success, league.TemporaryFailure, league.PermanentlyUnfetchable, league.OutsideRetentionWindow)
	part, byOperator, sit, list := pick(r, league.PartMatch, league.PartTimeline), r.IntN(4) == 0, r.IntN(2) == 0, r.IntN(2) == 0
	played := now.Add(-time.Duration(r.IntN(1000)) * time.Hour)
	ref, body := gzipped(`{"info":{"of":"` + match + `"}}`)
	if to == league.Success {
		w.same("payload", func(s store) (any, error) { return nil, s.PutPayload(context.Background(), match, part, ref, body) })
	}
	w.write("fetch", func(s store, tx engine.Tx) (any, error) {
		m, err := s.Match(tx, match)
		if errors.Is(err, engine.ErrNotFound) {
			m, err = league.Match{ID: match, Listed: now}, nil
		}
		if err != nil {
			return nil, err
		}
		f := m.Of(part)
		f.Status, f.LastAttemptAt, f.Attempts = to, now, f.Attempts+1
		if to == league.Success {
			f.FetchedAt, f.LastError = now, ""
			f.Ref = ref
			m.Played, m.Duration, m.QueueID, m.Mode, m.Participants = played, 1800*time.Second, 420, "CLASSIC", 2
		} else {
			f.LastError, f.LastClass, f.Ref = "503\u202e", "503", league.PayloadRef{}
		}
		if err := s.SaveMatch(tx, m, byOperator); err != nil {
			return nil, err
		}
		if list {
			if err := s.LinkMatch(tx, account, match); err != nil {
				return nil, err
			}
		}
		if sit {
			seats := []league.Participant{
				{Match: match, PUUID: "puuid-" + account, RiotID: "x#y", Champion: "Ahri", Won: true, Kills: 3},
				{Match: match, Index: 1, PUUID: "BOT", Champion: "Annie", Team: 200},
			}
			if err := s.SaveParticipants(tx, match, seats); err != nil {
				return nil, err
			}
		}
		return s.AccountsOf(tx, match), nil
	})
}

// gzipped is a payload as Riot sends it, of November 2026.
func gzipped(raw string) (ref league.PayloadRef, body []byte) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(raw))
	_ = z.Close()
	return league.PayloadRef{Month: "2026-11", Codec: both.CodecGzip, Size: b.Len(), RawLen: len(raw), CRC: crc32.Checksum([]byte(raw), crc32.MakeTable(crc32.Castagnoli))}, b.Bytes()
}

// all collects what an iteration gives, in an order of its own where it has none.
func all[T any](seq iter.Seq2[T, error]) (list []T, err error) {
	for v, bad := range seq {
		list, err = append(list, v), errors.Join(err, bad)
	}
	return list, err
}

func (w *twins) askOfTheLeague(r *rand.Rand) {
	ctx := context.Background()
	page := engine.Page{Limit: pick(r, 0, 1, 3)}
	w.same("totals", func(s store) (any, error) { return s.Totals(ctx) })
	for _, q := range []engine.AccountsQuery{{}, {Page: page}, {Text: "FAKER ü01a"}, {Text: "01B"}, {Open: true}} {
		w.same(fmt.Sprintf("accounts %+v", q), func(s store) (any, error) { return s.Accounts(ctx, q) })
	}
	w.same("by name", func(s store) (any, error) { return s.AccountRowOn(ctx, "faker ü01a#KR1", "KR") })
	for _, id := range slices.Concat(someAccounts, []string{"faker ü01b#kr1", "01Z"}) {
		w.same("account", func(s store) (any, error) { return s.AccountRow(ctx, id) })
		w.same("identities", func(s store) (any, error) { return s.Identities(ctx, id) })
		w.same("runs", func(s store) (any, error) { return s.Runs(ctx, id, 5) })
		w.same("settled", func(s store) (any, error) { return s.Settled(ctx, id, 4) })
		w.same("report", func(s store) (any, error) { return s.Report(ctx, id) })
		w.same("spent", func(s store) (any, error) { return s.Spent(ctx, id, 9) })
		for _, q := range []engine.MatchesQuery{{Account: id}, {Account: id, All: true, Page: page}, {All: true, Page: page}, {}} {
			w.same(fmt.Sprintf("matches %+v", q), func(s store) (any, error) {
				var pages []any
				for q := q; ; {
					page, err := s.Matches(ctx, q)
					q.After = page.Next
					page.Next = "" // each store's own
					if pages = append(pages, page); err != nil || q.After == "" {
						return pages, err
					}
				}
			})
		}
		for _, queue := range []string{"", league.RankedSolo} {
			w.same("ranks", func(s store) (any, error) {
				var rows []engine.RankRow
				for q := (engine.RanksQuery{Account: id, Queue: queue, Page: page}); ; {
					page, err := s.RankHistory(ctx, q)
					rows = append(rows, page.Ranks...)
					if q.After = page.Next; err != nil || q.After == "" {
						return rows, err
					}
				}
			})
		}
		w.same("games", func(s store) (v any, err error) {
			err = s.Read(ctx, func(tx engine.Tx) error {
				games, err := all(s.Games(tx, id))
				since, bad := all(s.GamesSince(tx, id, time.Now().Add(-500*time.Hour)))
				of, worse := all(s.MatchesOf(tx, id))
				slices.SortFunc(of, func(a, b league.Match) int { return cmp.Compare(a.ID, b.ID) })
				last, worst := s.LastPlayed(tx, id)
				v = []any{games, since, of, last}
				return errors.Join(err, bad, worse, worst)
			})
			return v, err
		})
	}
	for _, monday := range []string{"", "2026-11-16", "2020-01-01"} {
		w.same("weekly", func(s store) (any, error) { return s.Weekly(ctx, monday) })
	}
	w.same("what is read in one go", func(s store) (v any, err error) {
		err = s.Read(ctx, func(tx engine.Tx) error {
			strays, total, err := s.Strays(tx, func(*league.Match) bool { return true }, 3, func(match string) string { return "match:" + match })
			whose, known, bad := s.AccountOfPUUID(tx, "puuid-01A")
			cached, fresh, worse := s.CachedPUUID(tx, "FÄKER", "KR1", "dev", time.Now())
			v = []any{
				strays, total, whose, known, cached, fresh, slices.Collect(s.AllAccounts(tx)),
				s.Fetched(tx, league.PartMatch, 4, func(string) bool { return true }), s.Fetched(tx, league.PartTimeline, 2, func(m string) bool { return m > "EUW1_104" }),
			}
			return errors.Join(err, bad, worse)
		})
		return v, err
	})
	for _, kind := range []engine.FeedKind{engine.FeedMatches, engine.FeedTimelines, engine.FeedParticipants, engine.FeedRanks, engine.FeedJobs, engine.FeedLive} {
		w.same(fmt.Sprint("feed of ", kind), func(s store) (any, error) {
			rows, err := readFeed(s, kind, "", 1+len(kind)%4)
			for i := range rows {
				rows[i].Cursor = "" // each store's own
			}
			return rows, err
		})
	}
}

// readFeed reads a feed to its end, a few rows at a time.
func readFeed(s store, kind engine.FeedKind, after string, limit int) (rows []engine.FeedRow, err error) {
	for {
		page, err := s.Feed(context.Background(), engine.FeedQuery{Kind: kind, Page: engine.Page{After: after, Limit: limit}})
		rows = append(rows, page.Rows...)
		after = page.Next
		if err != nil || !page.More {
			return rows, err
		}
	}
}
