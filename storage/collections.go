package storage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// A collection lists the matches of players whom nobody has added. They are accounts to whatever syncs them, and stand in
// a table of their own, where no list of accounts finds them:
//
//	collections        "01J…"                  -> name, what is asked for, where its round is
//	players            "01K…"                  -> PUUID, platform, known ranges … of collection "01J…"
//	players_of         "01J…", "01K…"          -> marker: the order in which they were found
//	player_puuid       "01J…", "kr", "8QfA1b…" -> "01K…": each player is one, whoever names it; a Riot ID that was
//	                                                     asked for leads there, too: "hide on bush#kr1"
//	collected          "01J…"                  -> its matches by status: a cache of by_account and matches
var (
	// There are a handful of collections, and only people read most of it, so a record's body is JSON.
	tCollections = collection.Declare(
		collection.New("collections", "id", "what is collected, and where its round is").CameWith(collectionsCame),
		collection.Records[engine.Collection]{
			Format: 36, Key: func(c *key.Coder, v *engine.Collection) { c.Rest(&v.ID) },
			Fields: func(c *rec.Coder, v *engine.Collection) { c.JSON(v) }})
	tPlayers = collection.Declare(
		collection.New("players", "id", "a player of a collection").Grows().CameWith(collectionsCame),
		collection.Records[league.Account]{
			Format: 37, Key: func(c *key.Coder, a *league.Account) { c.Rest(&a.ID) },
			Fields: func(c *rec.Coder, a *league.Account) {
				c.Str(&a.Collection)
				accountFields(c, a)
			},
			Indexes: []collection.Index[league.Account]{playersOf, playerPUUID},
		})
	playersOf = collection.Index[league.Account]{
		Table: collection.New("players_of", "str collection, str player", "marker").Grows().CameWith(collectionsCame),
		Rows: func(a *league.Account) []collection.Entry {
			return []collection.Entry{{Key: string(key.Strings(a.Collection, a.ID))}}
		},
		Of: func(e collection.Entry) []byte {
			read := key.Read([]byte(e.Key))
			_ = read.String()
			return []byte(read.String())
		},
		Missing: "is not listed by its collection", Wrong: "lists a player of another collection",
	}
	playerPUUID = collection.Index[league.Account]{
		Table: collection.New("player_puuid", "str collection, str platform, str PUUID", "player id").Grows().CameWith(collectionsCame),
		Rows: func(a *league.Account) (list []collection.Entry) {
			for _, puuid := range a.PUUIDs {
				if puuid != "" {
					list = append(list, collection.Entry{Key: string(key.Strings(a.Collection, a.Platform, puuid)), Text: a.ID})
				}
			}
			if id := fold(a.RiotID()); id != "" {
				list = append(list, collection.Entry{Key: string(key.Strings(a.Collection, a.Platform, id)), Text: a.ID})
			}
			return list
		},
		Of:      func(e collection.Entry) []byte { return []byte(e.Text) },
		Missing: "is not found by its PUUID", Wrong: "leads to no player of that PUUID",
	}
	tCollected = collection.Declare(
		collection.New("collected", "collection id", "its matches by status, and ids that were listed again").CameWith(collectionsCame),
		collection.Records[collected]{Format: 38, Fields: func(c *rec.Coder, v *collected) {
			for i := range v.ByStatus {
				c.Int(&v.ByStatus[i])
			}
			c.Int(&v.Had, &v.Again)
			if c.More(len(v.Days) > 0) {
				rec.List(c, &v.Days, 2, func(c *rec.Coder, d *dayPlayed) { c.Int(&d.Day, &d.Matches) })
			}
		}})
)

// collectionsCame is the schema version that the tables of collections came with.
const collectionsCame = 7

// collected counts the matches of a collection.
type collected struct {
	ByStatus   [5]int // by league.Status
	Had, Again int
	Days       []dayPlayed // of those whose time is known, the first day first
}

// dayPlayed is how many matches were played on a day, which is counted from 1970 on in UTC.
type dayPlayed struct{ Day, Matches int }

// played counts a match, or by -1 takes it back.
func (c *collected) played(at time.Time, by int) {
	if at.IsZero() {
		return
	}
	day := int(at.Unix() / (24 * 60 * 60))
	i, found := slices.BinarySearchFunc(c.Days, day, func(d dayPlayed, day int) int { return cmp.Compare(d.Day, day) })
	if !found && by < 0 { // its row could not be read when the days were counted
		return
	}
	if !found {
		c.Days = slices.Insert(c.Days, i, dayPlayed{Day: day})
	}
	if c.Days[i].Matches += by; c.Days[i].Matches == 0 {
		c.Days = slices.Delete(c.Days, i, i+1)
	}
}

// savePlayer stores a player of a collection; k is its id.
func (t *txn) savePlayer(k []byte, a league.Account) error {
	was, known, err := tPlayers.Get(t, k)
	if err != nil {
		return err
	}
	old := &was
	if !known {
		old = nil
	}
	return errors.Join(tPlayers.Save(t, k, old, &a), t.feedPlayer(old, a))
}

// feedPlayer moves a player of a collection, once its PUUID is known, when what exports show of it has changed.
func (t *txn) feedPlayer(old *league.Account, a league.Account) error {
	puuid := onePUUID(a)
	same := old != nil && puuid == onePUUID(*old) && a.RiotID() == old.RiotID()
	if puuid == "" || same && t.Has(feedOf.Table, feedOfKey(tagPlayers, a.ID)) {
		return nil
	}
	return t.toEnd(tagPlayers, a.ID)
}

// erasePlayer deletes a player of a collection.
func (t *txn) erasePlayer(k []byte, a league.Account) error {
	return errors.Join(tPlayers.Drop(t, k, &a), t.dropPlace(tagPlayers, a.ID))
}

// Collection gives a collection by its id; engine.ErrNotFound.
func (db *DB) Collection(tx engine.Tx, id string) (engine.Collection, error) {
	return tCollections.Want(own(tx), []byte(id), "collection %q", id)
}

// SaveCollection stores a collection. A new one counts its matches from then on.
func (db *DB) SaveCollection(tx engine.Tx, c engine.Collection) error {
	t := own(tx)
	if t.Has(tCollected.Table, []byte(c.ID)) {
		return tCollections.Put(t, []byte(c.ID), &c)
	}
	return errors.Join(tCollections.Put(t, []byte(c.ID), &c), tCollected.Put(t, []byte(c.ID), &collected{}))
}

// Collections lists all collections, in the order in which they were made.
func (db *DB) Collections(tx engine.Tx) ([]engine.Collection, error) {
	return collection.All(tCollections.Under(own(tx), nil))
}

// collectionNamed gives the id of the collection of a name.
func (t *txn) collectionNamed(name string) (string, error) {
	for c, err := range tCollections.Under(t, nil) {
		if err != nil || c.Name == name {
			return c.ID, err
		}
	}
	return "", engine.NoCollection(name)
}

// CollectionRows lists all collections with how far they are, the newest first.
func (db *DB) CollectionRows(ctx context.Context) (rows []engine.CollectionRow, err error) {
	err = db.view(ctx, func(t *txn) error {
		for c, err := range tCollections.Under(t, nil) {
			if err != nil {
				return err
			}
			row, err := t.collectionRow(c)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		return nil
	})
	slices.Reverse(rows)
	return rows, err
}

func (t *txn) collectionRow(c engine.Collection) (row engine.CollectionRow, err error) {
	row.Collection = c
	n, err := t.collectedOf(c.ID)
	if err != nil {
		return row, err
	}
	for _, of := range n.ByStatus {
		row.Collected.Found += of
	}
	row.Collected.Stored, row.Collected.Had, row.Collected.Again = n.ByStatus[league.Success], n.Had, n.Again
	for _, d := range n.Days {
		at := time.Unix(int64(d.Day)*24*60*60, 0)
		row.Days = append(row.Days, engine.DayPlayed{Day: engine.UTCDay(at), Matches: d.Matches})
	}
	row.Collected.Lost, row.Collected.TooOld = n.ByStatus[league.PermanentlyUnfetchable], n.ByStatus[league.OutsideRetentionWindow]
	q, paused, err := tQueues.Get(t, []byte(engine.CollectionQueue(c.Name)))
	if err != nil {
		return row, err
	}
	row.Paused = paused && q.Paused
	if c.Job == "" { // its listed players were being added when it was broken off
		return row, nil
	}
	switch {
	case c.Every == 0 || c.Result != "":
	case !c.Started.IsZero():
		row.Next = c.Started.Add(c.Every)
	default:
		j, err := t.job(c.Job)
		if row.Next = j.Due; err != nil && !errors.Is(err, engine.ErrNotFound) {
			return row, err
		}
	}
	groups, err := t.groups(c.Job)
	for _, g := range groups {
		row.Listed, row.Failed, row.Calls = row.Listed+g.Done, row.Failed+g.Dead+g.Cancelled, row.Calls+g.Calls
	}
	return row, err
}

func (t *txn) collectedOf(id string) (collected, error) {
	return tCollected.Want(t, []byte(id), "the counts of collection %q", id)
}

// counted are the counts of a collection, made anew of its matches; Had and Again are as they were stored.
func (t *txn) counted(id string, stored *collected) (collected, error) {
	n := collected{Again: stored.Again, Had: stored.Had}
	for m, err := range t.matchesOf(id) {
		if err != nil {
			return n, err
		}
		n.ByStatus[m.Match.Status]++
		n.played(m.Played, 1)
	}
	return n, nil
}

// CollectedMatches is how many matches a collection has found.
func (db *DB) CollectedMatches(tx engine.Tx, id string) (n int, err error) {
	c, err := own(tx).collectedOf(id)
	for _, of := range c.ByStatus {
		n += of
	}
	return n, err
}

// dropPlayer deletes a player of a collection that stays.
func (t *txn) dropPlayer(a league.Account) error {
	c, ok, err := tCollections.Get(t, []byte(a.Collection))
	if ok {
		c.Players--
		err = tCollections.Put(t, []byte(c.ID), &c)
	}
	return errors.Join(err, t.erasePlayer([]byte(a.ID), a))
}

// platformsOf are those on which a collection has players.
func (t *txn) platformsOf(id string) (platforms []string) {
	for before := []byte(nil); ; {
		found := false
		for r := range t.RowsBack(playerPUUID.Table, key.Strings(id), before) {
			read := key.Read(r.Key)
			_ = read.String()
			platforms, found = append(platforms, read.String()), true
			break
		}
		if !found {
			return platforms
		}
		before = key.Strings(id, platforms[len(platforms)-1])
	}
}

// PlayerOf finds a player of a collection by a PUUID, or by the Riot ID that it was asked for by.
func (db *DB) PlayerOf(tx engine.Tx, id, platform, who string) (a league.Account, ok bool, err error) {
	return own(tx).playerOf(id, platform, who)
}

func (t *txn) playerOf(id, platform, who string) (a league.Account, ok bool, err error) {
	if strings.Contains(who, "#") {
		who = fold(who)
	}
	player, ok, err := t.Text(playerPUUID.Table, key.Strings(id, platform, who))
	if !ok || err != nil {
		return a, false, err
	}
	return tPlayers.Get(t, []byte(player))
}

// NextPlayer is the player of a collection that was found behind another; after "" the first one.
func (db *DB) NextPlayer(tx engine.Tx, id, after string) (a league.Account, ok bool, err error) {
	t := own(tx)
	from := key.Strings(id)
	if after != "" {
		from = key.Strings(id, after)
	}
	for r := range t.RowsFrom(playersOf.Table, key.Strings(id), from) {
		if after != "" && bytes.Equal(r.Key, from) {
			continue
		}
		return tPlayers.Get(t, playersOf.Of(collection.Entry{Key: string(r.Key)}))
	}
	return a, false, nil
}

// LastPlayers are the n players of a collection that were listed last, up to one of them ("" = to the last that it has),
// which comes first, with where they stand on a ladder (RANKED_SOLO_5x5).
func (db *DB) LastPlayers(ctx context.Context, id, ladder, upto string, n int) (list []engine.CollectionPlayer, err error) {
	err = db.view(ctx, func(t *txn) error {
		var before []byte
		if upto != "" {
			before = append(key.Strings(id, upto), 0) // the least key behind it: the walk back begins with upto itself
		}
		seen := 0 // in a first round nobody was listed before all ladders are read
		for r := range t.RowsBack(playersOf.Table, key.Strings(id), before) {
			if seen++; seen > 50*n {
				return nil
			}
			a, ok, err := tPlayers.Get(t, playersOf.Of(collection.Entry{Key: string(r.Key)}))
			if err != nil || len(list) == n {
				return err
			}
			if !ok || a.Run == "" {
				continue
			}
			run, _, err := tRuns.Get(t, []byte(a.Run))
			if err != nil {
				return err
			}
			p := engine.CollectionPlayer{Name: cmp.Or(a.RiotID(), onePUUID(a)), Platform: a.Platform, Status: a.Status, Listed: run.Listed,
				New: max(run.Listed-run.Had-run.TooOld, 0), At: run.Triggered, Error: a.LastError}
			ranks, err := db.LastRanks(t, a.ID)
			for _, rank := range ranks {
				if rank.Queue != ladder {
					continue
				}
				p.Tier, p.Division, p.Points = rank.Tier, rank.Division, rank.Points
			}
			if err != nil {
				return err
			}
			list = append(list, p)
		}
		return nil
	})
	return list, err
}

// SeatsOf gives the seats of some matches of an owner, those behind a place in its list; next is the place where to go
// on, "" = at the end.
func (db *DB) SeatsOf(tx engine.Tx, owner, after string, matches int) (seats []league.Participant, next string, err error) {
	t := own(tx)
	page, last := t.KeysAfter(byAccount.Table, key.Strings(owner), []byte(after), matches)
	for _, k := range page {
		l, err := listingAt(k)
		if err != nil {
			return nil, "", err
		}
		of, err := t.seats(l.Match)
		if err != nil {
			return nil, "", err
		}
		seats = append(seats, of...)
	}
	return seats, string(last), nil
}

// collect counts a match that an owner lists, if that is a collection. It comes before the listing is written.
func (t *txn) collect(owner string, m league.Match, match string) error {
	n, ok, err := tCollected.Get(t, []byte(owner))
	if !ok || err != nil {
		return err
	}
	switch _, listed, err := tAccountsOf.Get(t, key.Strings(match, owner)); {
	case err != nil:
		return err
	case listed:
		n.Again++
	default:
		n.ByStatus[m.Match.Status]++
		n.played(m.Played, 1)
		if m.Match.Status == league.Success {
			n.Had++
		}
	}
	return tCollected.Put(t, []byte(owner), &n)
}

// recount moves a match of an owner to another status and day, if that is a collection.
func (t *txn) recount(owner string, from, to league.Match) error {
	n, ok, err := tCollected.Get(t, []byte(owner))
	if !ok || err != nil {
		return err
	}
	n.ByStatus[from.Match.Status]--
	n.ByStatus[to.Match.Status]++
	n.played(from.Played, -1)
	n.played(to.Played, 1)
	return tCollected.Put(t, []byte(owner), &n)
}

// unlist takes a match out of an owner's list, and out of the counts of one that is a collection.
func (t *txn) unlist(owner, match string) error {
	n, ok, err := tCollected.Get(t, []byte(owner))
	if ok {
		m, _, bad := tMatches.Get(t, []byte(match)) // one that nobody has fetched yet counts as unfetched
		n.ByStatus[m.Match.Status]--
		n.played(m.Played, -1)
		n.Had = min(n.Had, n.ByStatus[league.Success])
		err = errors.Join(bad, tCollected.Put(t, []byte(owner), &n))
	}
	return errors.Join(err, t.RemoveRow(tAccountsOf.Table, key.Strings(match, owner)))
}
