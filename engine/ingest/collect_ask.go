package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// nameForm is what a collection may be called: the name is part of its queue's.
var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]{0,79}$`)

// leastEvery is the shortest time from one reading of the ladders to the next.
const leastEvery = time.Hour

// mostSpread is how many games away players may be collected: everybody is within a few of everybody.
const mostSpread = 9

// CheckCollect reads what a collection is asked to fetch, and writes it in the one form in which asks are compared. It
// tells all that is wrong with it before anything is started: *engine.Problem with engine.ErrInvalid.
func CheckCollect(a engine.CollectAsk) (engine.CollectAsk, error) {
	invalid := func(do, why string, args ...any) (engine.CollectAsk, error) {
		return a, engine.Problemf(engine.ErrInvalid, do, why, args...)
	}
	a.Queue = cmp.Or(a.Queue, "solo")
	if _, ok := rankedQueues[a.Queue]; !ok {
		return invalid("use solo or flex", "%q is no ranked queue", a.Queue)
	}
	if len(a.Platforms) == 0 {
		return invalid("name one or more: --platform kr,euw1", "no platform is named")
	}
	var platforms []string
	for _, word := range a.Platforms {
		p, err := route.ParsePlatform(word)
		if err != nil {
			return invalid("", "%s", err)
		}
		if !slices.Contains(platforms, string(p)) {
			platforms = append(platforms, string(p))
		}
	}
	a.Platforms = platforms
	if _, err := league.ParseDivisions(a.Tiers); err != nil {
		return invalid("", "%s", err)
	}
	for i, word := range a.Tiers {
		a.Tiers[i] = strings.ToLower(strings.TrimSpace(word))
	}
	span, err := league.ParseSpan(cmp.Or(a.Since, "0"))
	switch league.Timelines(a.Timelines) {
	case "", league.TimelinesAll, league.TimelinesRanked, league.TimelinesNone:
	default:
		return invalid("use all, ranked or none", "%q is no choice of timelines", a.Timelines)
	}
	switch {
	case len(a.Tiers) == 0 && len(a.Named) == 0:
		return invalid("name tiers such as master+ or diamond1..diamond4, or players", "nobody's matches are asked for")
	case len(a.Named) > 0 && len(a.Platforms) != 1:
		return invalid("name the one on which the listed players play", "%d platforms are named", len(a.Platforms))
	case err != nil:
		return invalid("", "since: %s", err)
	case a.Since != "" && span.Off():
		return invalid("write how long ago: 14d, 3mo", "a range that begins now is empty")
	case a.Matches < 0:
		return invalid("give 1 or more, or 0 for all", "%d matches cannot be collected", a.Matches)
	case a.Spread < 0 || a.Spread > mostSpread:
		return invalid(fmt.Sprintf("give 0 to %d", mostSpread), "players %d games away cannot be collected", a.Spread)
	case a.Every < 0 || a.Every > 0 && a.Every < leastEvery:
		return invalid("give an hour or more", "every %s is too often to read ladders", human.Span(a.Every))
	case a.Priority > engine.PriorityLow:
		return invalid("use 1 (first) to 4", "%d is no priority", a.Priority)
	}
	if len(a.Named) > 0 {
		named := make([]string, len(a.Named))
		for i, text := range a.Named {
			w, err := whoIs(text, "")
			if err != nil {
				return a, err
			}
			if w.id != "" {
				return invalid("write a PUUID or a Riot ID, such as Name#TAG", "%s names no player", text)
			}
			named[i] = w.String()
		}
		slices.Sort(named)
		a.Named = slices.Compact(named)
		a.Given = fmt.Sprintf("%d.%x", len(a.Named), sha256.Sum256([]byte(strings.Join(a.Named, " "))))[:16]
	}
	a.Name = cmp.Or(a.Name, a.DefaultName())
	if !nameForm.MatchString(a.Name) {
		return invalid("give another one with --name, such as kr-master", "%q is no name: use lower case letters, digits, dots, + and -, at most 80", a.Name)
	}
	return a, nil
}

// Collect starts a collection, or a further round of one that has ended, or joins the round that is under way. How much
// of one that exists is wanted is changed by what the ask gives of it. With cmd.DryRun it says what that would cost.
// Errors are *engine.Problem or of the store.
func (in *Ingest) Collect(ctx context.Context, cmd engine.Command) (r engine.Receipt, err error) {
	if cmd.Collect == nil {
		return r, engine.Problemf(engine.ErrInvalid, "", "the command does not say what to collect")
	}
	ask, err := CheckCollect(*cmd.Collect)
	if err != nil {
		return r, err
	}
	if in.opt.SyncOff {
		return r, engine.Problemf(engine.ErrRefused, "set SYNC_ENABLE=true", "syncs are switched off")
	}
	if cmd.DryRun {
		return in.wouldCollect(ctx, ask)
	}
	if err := in.fits(ctx, ask); err != nil {
		return r, err
	}
	// Listed players go in by parts, each a transaction, before the round begins: what is broken off is done anew by the
	// same command.
	for first, left := true, ask.Named; first || len(left) > 0; first = false {
		part := left[:min(len(left), ladderWrite)]
		left = left[len(part):]
		err = in.opt.Store.Write(ctx, func(tx engine.Tx) (err error) {
			r, err = in.collectPart(tx, cmd, ask, part, len(left) == 0)
			return err
		})
		if err != nil || r.Joined {
			break
		}
	}
	if err == nil && ask.Priority > 0 {
		err = in.reprioritize(ctx, ask)
	}
	return r, err
}

// reprioritize gives what waits of a collection its priority, by parts: what is broken off is done anew by the same
// command.
func (in *Ingest) reprioritize(ctx context.Context, ask engine.CollectAsk) error {
	for first, after := true, ""; first || after != ""; first = false {
		err := in.opt.Store.Write(ctx, func(tx engine.Tx) error {
			c, err := in.collectionOf(tx, ask)
			if err == nil {
				after, err = in.opt.Store.Reprioritize(tx, engine.CollectionQueue(c.Name), KindTimeline, c.Line(), after)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("move the jobs of a collection in their line: %w", err)
		}
	}
	return nil
}

// collectPart adds some of the listed players to the collection that an ask is for, and with the last of them starts its
// round.
func (in *Ingest) collectPart(tx engine.Tx, cmd engine.Command, ask engine.CollectAsk, named []string,
	last bool) (r engine.Receipt, err error) {
	c, err := in.collectionOf(tx, ask)
	if err != nil {
		return r, err
	}
	r = engine.Receipt{Matched: 1, Collection: cmp.Or(c.Name, ask.Name), Job: c.Job}
	changed := ""
	if c.ID != "" {
		changed = change(&c, ask)
	}
	if c.ID != "" && c.Result == "" {
		r.Joined, r.Text = true, fmt.Sprintf("collection %s is under way already: this is it", c.Name)
		if changed == "" {
			return r, nil
		}
		r.Applied, r.Text = 1, fmt.Sprintf("collection %s is under way, and is changed: %s", c.Name, changed)
		return r, in.collects.store.SaveCollection(tx, c)
	}
	if c.ID == "" {
		c = engine.Collection{ID: newID(), CollectAsk: ask, Created: now(), Result: resultFailed, Error: "it was not started"}
		c.Named = nil
	}
	c.By = cmd.By.User
	for _, who := range named {
		if _, err := in.addPlayer(tx, &c, ask.Platforms[0], who, now()); err != nil {
			return r, err
		}
	}
	if last {
		if err := in.newRound(tx, &c, time.Time{}); err != nil {
			return r, err
		}
		r.Job, r.Applied, r.Text = c.Job, 1, fmt.Sprintf("collection %s is under way", c.Name)
		if changed != "" {
			r.Text += "; changed: " + changed
		}
	}
	return r, in.collects.store.SaveCollection(tx, c)
}

// change gives a collection what an ask says of how much is wanted, and tells what that changes: "since 30d (was 14d)".
// What an ask leaves out stays. Players who are listed later in the round are listed by it; for those of before, of whom
// older matches are wanted now, another round follows.
func change(c *engine.Collection, ask engine.CollectAsk) string {
	var told []string
	if ask.Since != "" && ask.Since != c.Since {
		told = append(told, fmt.Sprintf("since %s (was %s)", ask.Since, cmp.Or(c.Since, "all that Riot keeps")))
		c.Since = ask.Since
		if was := c.Floor; !c.Started.IsZero() {
			c.Floor = floorOf(*c)
			c.Relist = c.Relist || c.Floor.Before(was)
		}
	}
	if ask.Matches > 0 && ask.Matches != c.Matches {
		was := "all"
		if c.Matches > 0 {
			was = strconv.Itoa(c.Matches)
		}
		told = append(told, fmt.Sprintf("matches %d (was %s)", ask.Matches, was))
		c.Matches = ask.Matches
	}
	if ask.Every > 0 && ask.Every != c.Every {
		told = append(told, "every "+human.Span(ask.Every))
		c.Every = ask.Every
	}
	if ask.Priority > 0 && ask.Line() != c.Line() {
		told = append(told, fmt.Sprintf("priority %d (was %d)", ask.Priority, c.Line()))
		c.Priority = ask.Priority
	}
	return strings.Join(told, ", ")
}

// collectionOf finds the collection that asks for the same; the zero one when there is none. A name belongs to one.
func (in *Ingest) collectionOf(tx engine.Tx, ask engine.CollectAsk) (none engine.Collection, err error) {
	all, err := in.collects.store.Collections(tx)
	if err != nil {
		return none, fmt.Errorf("list the collections: %w", err)
	}
	for _, c := range all {
		if c.Same(ask) && (c.Name == ask.Name || ask.Name == ask.DefaultName()) {
			return c, nil
		}
	}
	for _, c := range all {
		if c.Name == ask.Name {
			return none, engine.Problemf(engine.ErrConflict, "give this one another name with --name",
				"collection %s asks for something else: %s", c.Name, askText(c.CollectAsk))
		}
	}
	return none, nil
}

// askText says what a collection asks for: "master+ of kr (solo), 14d".
func askText(a engine.CollectAsk) string {
	who := strings.Join(a.Tiers, " ")
	if a.Given != "" {
		who = strings.TrimSpace(who + " and listed players")
	}
	if a.Spread > 0 {
		who += fmt.Sprintf(" and whom they met, %s away", human.Counted(a.Spread, "game", "games"))
	}
	return fmt.Sprintf("%s of %s (%s), %s", who, strings.Join(a.Platforms, ", "), a.Queue, cmp.Or(a.Since, "all that Riot keeps"))
}

// fits refuses a first round for which the disk has no room. Ladders are as large as such ladders usually are, which
// costs no call; where that would not fit they are counted.
func (in *Ingest) fits(ctx context.Context, ask engine.CollectAsk) error {
	var c engine.Collection
	err := in.opt.Store.Read(ctx, func(tx engine.Tx) (err error) {
		c, err = in.collectionOf(tx, ask)
		return err
	})
	if err != nil || c.ID != "" || in.opt.Spare == nil {
		return err
	}
	c.CollectAsk = ask
	err = in.estimate(ctx, c, len(ask.Named), false, &engine.Receipt{})
	if errors.Is(err, engine.ErrInvalid) {
		err = in.estimate(ctx, c, len(ask.Named), true, &engine.Receipt{})
	}
	return err
}

// wouldCollect says what Collect would do, and what that would cost.
func (in *Ingest) wouldCollect(ctx context.Context, ask engine.CollectAsk) (r engine.Receipt, err error) {
	var c engine.Collection
	err = in.opt.Store.Read(ctx, func(tx engine.Tx) error {
		c, err = in.collectionOf(tx, ask)
		return err
	})
	if err != nil {
		return r, err
	}
	r = engine.Receipt{Matched: 1, Would: 1, Collection: cmp.Or(c.Name, ask.Name), Job: c.Job}
	if c.ID == "" {
		c.CollectAsk = ask
	}
	changed := change(&c, ask)
	switch {
	case c.ID == "" || c.Result != "":
		err = in.estimate(ctx, c, len(ask.Named), true, &r)
	case changed != "":
		r.Joined, r.Text = true, fmt.Sprintf("collection %s is under way, and would be changed: %s", c.Name, changed)
	default:
		r.Joined, r.Would, r.Text = true, 0, fmt.Sprintf("collection %s is under way already: this is it", c.Name)
	}
	return r, err
}

// About how much there is, where nobody has counted: players of a tier on a large platform, games a day of one of them,
// how many players of one ladder share a game, and stored bytes.
const (
	gamesADay     = 2.0
	sharedBy      = 5.0
	matchBytes    = 12 << 10
	timelineBytes = 60 << 10
)

var usualPlayers = map[string]int{"CHALLENGER": 300, "GRANDMASTER": 700, "MASTER": 5000}

const (
	usualDivision = 10_000    // likewise of a division below Master
	mostPlayers   = 1_000_000 // that are reckoned with, however far a collection spreads
	countTime     = 15 * time.Second
)

// estimate says in a receipt what a round is expected to take, from one call for each ladder: a league is whole there, a
// division is where its first page is not full. What cannot be asked for, and all unless count, is as large as such
// ladders usually are. A first round that the disk has no room for is refused.
func (in *Ingest) estimate(ctx context.Context, c engine.Collection, named int, count bool, r *engine.Receipt) error {
	players, pages, from := map[string]float64{}, 0, "the players of the round before"
	if c.Players == 0 {
		var err error
		if players, pages, from, err = in.countLadders(ctx, c, count); err != nil {
			return err
		}
		players[c.Platforms[0]] += float64(named)
	}
	for _, p := range c.Platforms {
		if c.Players > 0 {
			players[p] = float64(c.Players) / float64(len(c.Platforms))
		}
	}
	cost, listed, matches := in.reckon(c, players)
	cost.Calls += pages
	each := float64(matchBytes)
	if withTimelines(c) {
		each += timelineBytes
	}
	size := human.Bytes(int64(matches * each))
	if in.opt.Spare != nil && c.ID == "" {
		if spare, ok := in.opt.Spare(); ok && matches*each > float64(spare) {
			do := "make room first"
			if fit := int(float64(spare) / each); fit > 0 {
				do = fmt.Sprintf("make room, or collect less, by --matches %d, a shorter --since or --no-timelines", fit)
			}
			return engine.Problemf(engine.ErrInvalid, do, "collection %s would fill the disk: about %s take %s, and %s are to spare",
				c.Name, human.Counted(int(matches), "match", "matches"), size, human.Bytes(max(spare, 0)))
		}
	}
	r.Cost = &cost
	r.Text = fmt.Sprintf("collection %s would list about %s and fetch about %s: about %s, %s on disk (an estimate, by %g ranked games a day and %s)",
		c.Name, human.Counted(int(listed), "player", "players"), human.Counted(int(matches), "match", "matches"),
		human.Counted(cost.Calls, "call", "calls"), size, gamesADay, from)
	if cost.Takes > 0 {
		r.Text += "; alone it takes about " + human.Span(cost.Takes)
	}
	return nil
}

// withTimelines reports whether a collection fetches any.
func withTimelines(c engine.Collection) bool {
	return league.Timelines(c.Timelines) != league.TimelinesNone
}

// reckon is what a round takes that begins with so many players of each platform: its calls, whom it lists, and the
// matches that it fetches.
func (in *Ingest) reckon(c engine.Collection, players map[string]float64) (cost engine.Cost, listed, matches float64) {
	days := 730.0
	if span, err := league.ParseSpan(c.Since); err == nil && c.Since != "" {
		days = now().Sub(span.Before(now())).Hours() / 24
	}
	each := min(gamesADay*days, indexed) // games of a player
	perHost := map[string]engine.Cost{}
	for _, p := range c.Platforms {
		n := players[p]
		for range c.Spread - c.Depth {
			n = min(n*(1+each*9/sharedBy), mostPlayers)
		}
		found := n * each / sharedBy
		if most := float64(c.Matches) / float64(len(c.Platforms)); c.Matches > 0 && found > most {
			n, found = max(1, n*most/found), most
		}
		listed, matches = listed+n, matches+found
		needs := map[route.Method]float64{route.MatchIDs: n * (3 + math.Floor(each/pageSize)), route.Match: found}
		if withTimelines(c) {
			needs[route.Timeline] = found
		}
		host := string(route.Platform(p).Region())
		calls := float64(perHost[host].Calls)
		for method, n := range needs {
			line := c.Line()
			if method == route.Timeline {
				line = engine.PriorityLow
			}
			cost.Loads = append(cost.Loads, engine.Load{Host: host, Method: string(method), Calls: n, Queue: engine.CollectionQueue(c.Name), Owner: c.ID, Priority: line})
			calls += n
		}
		eta := in.opt.Limits.ETA(host, string(route.Match), int(calls))
		if !eta.Known { // the limits of an application are the same on all hosts
			eta = in.opt.Limits.ETA(p, string(route.Match), int(calls))
		}
		perHost[host] = engine.Cost{Calls: int(calls), AtMost: true, Takes: eta.Low, Bucket: eta.Bucket}
	}
	cost.Beside(perHost)
	return cost, listed, matches
}

// countLadders counts the players of a collection's ladders by platform, and the pages that tell them all; from says how
// they are known.
func (in *Ingest) countLadders(ctx context.Context, c engine.Collection, count bool) (players map[string]float64, pages int, from string, err error) {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	players, from = map[string]float64{}, "what is asked for"
	var fault error
	full, sum := false, 0
	read := map[ladderOf][]riot.LeagueEntry{}
	for _, l := range laddersOf(c) {
		n := cmp.Or(usualPlayers[l.Tier], usualDivision)
		if count && fault == nil {
			entries, ok := in.counted.claim(l)
			if !ok {
				entries, fault = in.opt.API.League(ctx, l.platform, l.queue, l.Tier, l.Division.Division, 1)
			}
			if fault == nil {
				read[l] = entries
			}
			e, _ := errors.AsType[*riot.Error](fault)
			switch {
			case e != nil && e.Class == riot.ClassMissing: // an empty ladder
				n, fault = 0, nil
			case e != nil && e.Reason.Denied() && in.opt.API.Probe(ctx, l.platform.AccountRegion(), "") == nil: // the key works
				return nil, 0, "", engine.Problemf(engine.ErrRefused, "list the players in a file instead, with --players",
					"the API key may not read ladders (league-v4 on %s)", l.platform)
			case fault == nil && (l.Apex() || len(entries) < riot.LeaguePageSize):
				n = len(entries)
			default:
				full = true
			}
		}
		players[string(l.platform)] += float64(n)
		if pages++; !l.Apex() {
			pages += (n + riot.LeaguePageSize - 1) / riot.LeaguePageSize
		}
		sum += n
	}
	if count {
		in.counted.keep(read)
	}
	switch {
	case len(c.Tiers) == 0:
	case fault != nil:
		from = "as many players as such ladders usually have, since they cannot be asked now: " + riot.Redact(fault.Error())
	case sum == 0 && c.Given == "":
		err = engine.Problemf(engine.ErrRefused, "run the same command again when games were played",
			"the ladders name nobody: a season may just have begun")
	case full:
		from = "as many players as such divisions usually have"
	default:
		from = "the players that the ladders list"
	}
	return players, pages, from, err
}

// lastPlayers is how many are told of a collection.
const lastPlayers = 15

// collections answers engine.CollectionsQuery.
func (s Stored) collections(ctx context.Context, q engine.CollectionsQuery) (a engine.CollectionsAnswer, err error) {
	rows, err := s.Store.CollectionRows(ctx)
	if err != nil {
		return a, fmt.Errorf("list the collections: %w", err)
	}
	a.Collections = []engine.CollectionRow{}
	for _, row := range rows {
		if q.Name == "" || q.Name == row.Name {
			ladders := laddersOf(row.Collection)
			if row.Ladders = len(ladders); q.Name != "" {
				row.Parts = partsOf(&row, ladders)
				if row.Last, err = s.Store.LastPlayers(ctx, row.ID, rankedQueues[row.Queue].ladder, row.After, lastPlayers); err != nil {
					return a, fmt.Errorf("list the last players: %w", err)
				}
			} else {
				row.Days = nil
			}
			a.Collections = append(a.Collections, row)
		}
	}
	if q.Name != "" && len(a.Collections) == 0 {
		return a, engine.NoCollection(q.Name)
	}
	return a, nil
}

// partsOf are the players of a collection in the order in which they were found, which is that in which they are listed:
// those that were named, those of each ladder, and who was found since.
func partsOf(row *engine.CollectionRow, ladders []ladderOf) (parts []engine.CollectionPart) {
	known, done := 0, row.Done()
	add := func(p engine.CollectionPart, upto int) {
		p.Players = max(upto-known, 0)
		p.Done = min(p.Players, done)
		known, done = known+p.Players, done-p.Done
		parts = append(parts, p)
	}
	if n, _, named := strings.Cut(row.Given, "."); named {
		listed, _ := strconv.Atoi(n)
		add(engine.CollectionPart{Name: "listed"}, listed)
	}
	for i, l := range ladders {
		p := engine.CollectionPart{Name: string(l.platform) + " " + strings.ToLower(l.Tier), Ladder: true,
			Read: i < row.Ladder}
		if !l.Apex() {
			p.Name += " " + l.Division.Division
		}
		if i == row.Ladder && row.Stands() == "running" {
			p.Page = max(row.Page, 1)
		}
		upto := known
		switch {
		case i < len(row.Upto):
			upto = row.Upto[i]
		case i == row.Ladder && i == len(row.Upto): // it is being read for the first time
			upto = row.Players
		}
		add(p, upto)
	}
	if row.Players > known && len(parts) > 0 {
		add(engine.CollectionPart{Name: "found since"}, row.Players)
	}
	return parts
}
