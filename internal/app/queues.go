package app

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/internal/config"
)

// knownQueues are the queues that an engine of this program has, used or not.
func knownQueues() []engine.Queue {
	return append(ownQueues(), pager.QueuePager, pager.QueueCalls, pager.QueueWebhooks, ingest.QueueUpkeep)
}

// hasQueue asks an engine whether it knows a queue.
func hasQueue(ctx context.Context, con engine.Console, name engine.Queue) error {
	if slices.Contains(knownQueues(), name) {
		return nil
	}
	// A queue that is not known here may still stand in the store: of a version to come, or of one
	// before.
	a, err := con.Find(ctx, engine.StatusQuery{})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(a.(engine.StatusAnswer).Queues, func(q engine.QueueRow) bool { return q.Name == name }) {
		return nil
	}
	return noQueue(name)
}

// noQueue names the queues that there are: a name is mistyped more often than made up.
func noQueue(name engine.Queue) error {
	return usagef("there is no queue %q: use one of %s", name, strings.Join(texts(knownQueues()), ", "))
}

// ownQueues are the queues in which syncs, ranks and reports are worked off.
func ownQueues() []engine.Queue {
	return []engine.Queue{ingest.QueueLatest, ingest.QueueFull, ingest.QueueRank, ingest.QueueWeekly}
}

// completeQueues offers the queues that are not named yet.
func completeQueues(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return starting(slices.DeleteFunc(texts(ownQueues()), func(q string) bool { return slices.Contains(args, q) }), begun), cobra.ShellCompDirectiveNoFileComp
}

// completeStates completes the last of the states that commas set apart.
func completeStates(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	at := strings.LastIndexByte(begun, ',') + 1
	words := starting(stateNames(), begun[at:])
	for i := range words {
		words[i] = begun[:at] + words[i]
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// starting sorts words in place and takes those away that do not begin so.
func starting(words []string, begun string) []string {
	slices.SortFunc(words, cmp.Compare)
	return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, begun) })
}

// edgeQueue is a queue's name outside of the program: many deployments share one
// place that collects such names.
func edgeQueue(cfg config.Config, q engine.Queue) string {
	if cfg.Prefix == "" {
		return string(q)
	}
	return cfg.Prefix + ":" + string(q)
}

// stateNames are the words of the states of a job, in the order in which it goes through them.
func stateNames() (words []string) {
	for _, s := range engine.States() {
		words = append(words, s.String())
	}
	return words
}
