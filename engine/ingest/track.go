package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
)

// defaultPolicy is what removes a policy.
const defaultPolicy = "default"

// tracking is what a track command asks for besides being tracked. Without setPolicy the account keeps the
// policy that it has; with it the zero policy takes that away.
type tracking struct {
	tags      []string
	policy    league.Policy
	setPolicy bool
}

const (
	maxTags = 20
	maxTag  = 40 // characters
)

// trackingOf reads the tags and the policy of a track command, such as
// "cadence=6h timelines=ranked". Errors are *engine.Problem.
func trackingOf(ask engine.SyncAsk) (t tracking, err error) {
	if t.tags, err = tagsOf(ask.Tags); err != nil {
		return t, err
	}
	if t.setPolicy = ask.Policy != ""; !t.setPolicy || ask.Policy == defaultPolicy {
		return t, nil
	}
	if t.policy, err = league.ParsePolicy(ask.Policy); err != nil {
		return t, engine.Problemf(engine.ErrInvalid, "", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return t, nil
}

// tagsOf tidies tags: spaces at their ends and repetitions go. Commas would split a tag
// in the list that an import reads.
func tagsOf(words []string) (tags []string, err error) {
	for _, w := range words {
		w = strings.TrimSpace(w)
		switch {
		case w == "" || slices.Contains(tags, w):
			continue
		case len([]rune(w)) > maxTag || strings.ContainsAny(w, ",;\x00\n\r\t"):
			return nil, engine.Problemf(engine.ErrInvalid, "use at most 40 characters without commas",
				"%.60q is no tag", w)
		}
		tags = append(tags, w)
	}
	if len(tags) > maxTags {
		return nil, engine.Problemf(engine.ErrInvalid, "give at most 20", "%d tags are too many", len(tags))
	}
	return tags, nil
}

// on marks the account, and reports whether anything changed.
func (t tracking) on(a *league.Account) (changed bool) {
	changed = !a.Tracked
	a.Tracked = true
	for _, tag := range t.tags {
		if !slices.Contains(a.Tags, tag) {
			a.Tags, changed = append(slices.Clip(a.Tags), tag), true
		}
	}
	if t.setPolicy && a.Policy.String() != t.policy.String() {
		a.Policy, changed = t.policy, true
	}
	return changed
}

// Track marks an account for recurring syncs, and creates it if it is new. The
// ask's platform, tags and policy count; without an account, the policy is set
// for the tags.
func (in *Ingest) Track(ctx context.Context, account string, ask engine.SyncAsk) (out engine.Receipt, err error) {
	want, err := trackingOf(ask)
	if err != nil {
		return out, err
	}
	if account == "" {
		return in.setTagPolicies(ctx, want)
	}
	return in.setTracked(ctx, account, ask.Platform, true, func(a *league.Account) (bool, string) {
		return want.on(a), "tracked"
	})
}

// Untrack takes the mark off; what is stored stays. A sync that runs goes on to its end.
func (in *Ingest) Untrack(ctx context.Context, account, platform string) (engine.Receipt, error) {
	return in.setTracked(ctx, account, platform, false, func(a *league.Account) (bool, string) {
		was := a.Tracked
		a.Tracked = false
		return was, "not tracked"
	})
}

// setTracked finds an account and changes it, or says that it is so already. mayMake
// lets one be made that is not known yet.
func (in *Ingest) setTracked(ctx context.Context, account, platform string, mayMake bool,
	change func(*league.Account) (bool, string)) (out engine.Receipt, err error) {
	who, err := whoIs(account, platform)
	if err != nil {
		return out, err
	}
	err = in.store.Write(ctx, func(tx engine.Tx) error {
		a, err := in.findOrMake(tx, who, mayMake)
		if err != nil {
			return err
		}
		changed, word := change(&a)
		out = engine.Receipt{Account: a.ID, Matched: 1}
		if !changed {
			out.Nothing, out.Text = true, fmt.Sprintf("%s is %s already", a.RiotID(), word)
			return nil
		}
		a.Updated = now()
		out.Applied, out.Text = 1, fmt.Sprintf("%s is %s now", a.RiotID(), word)
		if err := in.store.SaveAccount(tx, a); err != nil {
			return fmt.Errorf("save account %s: %w", a.RiotID(), err)
		}
		return nil
	})
	return out, err
}

// setTagPolicies sets how accounts with a tag are synced. The policy of an account
// itself goes before it.
func (in *Ingest) setTagPolicies(ctx context.Context, want tracking) (engine.Receipt, error) {
	if len(want.tags) == 0 || !want.setPolicy {
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "name an account, or a tag and a policy",
			"there is nothing to track")
	}
	err := in.store.Write(ctx, func(tx engine.Tx) error {
		for _, tag := range want.tags {
			if err := in.store.SaveTagPolicy(tx, tag, want.policy); err != nil {
				return fmt.Errorf("save the policy of tag %s: %w", tag, err)
			}
		}
		return nil
	})
	if err != nil {
		return engine.Receipt{}, err
	}
	text := want.policy.String()
	if text == "" {
		text = "as set for all"
	}
	return engine.Receipt{
		Matched: len(want.tags), Applied: len(want.tags),
		Text: fmt.Sprintf("accounts tagged %s are synced with %s", strings.Join(want.tags, ", "), text),
	}, nil
}

// findOrMake finds the account, or makes it if may says so and the platform is
// known. Errors are engine.ErrNotFound and, for a new account without a platform, engine.ErrInvalid.
// With may it must be in a transaction that writes.
func (in *Ingest) findOrMake(tx engine.Tx, w who, may bool) (a league.Account, err error) {
	id := w.id
	if w.puuid != "" {
		if id, _, err = in.store.AccountOfPUUID(tx, w.puuid); err != nil {
			return a, fmt.Errorf("look up %s: %w", w, err)
		}
	}
	if w.name == "" {
		a, err = in.store.Account(tx, id)
	} else {
		a, err = in.store.AccountNamed(tx, w.name, w.tag, string(w.platform))
	}
	switch {
	case err == nil:
		return a, nil
	case !errors.Is(err, engine.ErrNotFound):
		return a, fmt.Errorf("look up %s: %w", w, err)
	case w.puuid != "":
		return a, engine.Problemf(engine.ErrNotFound, "name it as Name#TAG with its platform",
			"no stored account has the PUUID %s", w)
	case w.id != "" || !may:
		return a, engine.Problemf(engine.ErrNotFound, "list the accounts to see their names",
			"there is no account %s", w)
	case w.platform == "":
		return a, engine.Problemf(engine.ErrInvalid, "name its platform, such as "+string(route.Likely(w.String())), "%s is new here", w)
	}
	a = league.Account{
		ID: newID(), GameName: w.name, TagLine: w.tag, Platform: string(w.platform),
		Status: engine.SyncNever.String(), Created: now(), Updated: now(),
	}
	if err := in.store.SaveAccount(tx, a); err != nil {
		return a, fmt.Errorf("create account %s: %w", w, err)
	}
	return a, nil
}

// Resume notes on every open run that the engine was started again, and how far
// the run had come: consoles say "resumed at 134". Call it once at the start,
// before the backend runs; the jobs go on by themselves.
func (in *Ingest) Resume(ctx context.Context) error {
	for row, err := range engine.EachAccount(ctx, in.store.Accounts, engine.AccountsQuery{}) {
		if err != nil {
			return fmt.Errorf("look for open runs: %w", err)
		}
		if err := in.resume(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// resume notes it on one run, in a transaction of its own. Accounts that are pending have no run that
// was under way.
func (in *Ingest) resume(ctx context.Context, row engine.AccountRow) error {
	if row.Status != engine.Syncing {
		return nil
	}
	err := in.store.Write(ctx, func(tx engine.Tx) error {
		run, err := in.store.Run(tx, row.Run)
		if err != nil {
			return err
		}
		run.Resumed++
		run.ResumedAt = row.Matches.Done()
		return in.store.SaveRun(tx, run)
	})
	if err != nil {
		return fmt.Errorf("note that run %s was resumed: %w", row.Run, err)
	}
	return nil
}
