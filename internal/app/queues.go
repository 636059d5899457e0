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
	a, err := con.Find(ctx, engine.StatusQuery{})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(a.(engine.StatusAnswer).Queues, func(q engine.QueueRow) bool { return q.Name == name }) {
		return nil
	}
	return noQueue(name)
}

func noQueue(name engine.Queue) error {
	return usagef("there is no queue %q: use one of %s", name, strings.Join(texts(knownQueues()), ", "))
}

// ownQueues are the queues in which syncs, ranks and reports are worked off.
func ownQueues() []engine.Queue {
	return []engine.Queue{ingest.QueueLatest, ingest.QueueFull, ingest.QueueRank, ingest.QueueWeekly}
}

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

func stateNames() (words []string) {
	for _, s := range engine.States() {
		words = append(words, s.String())
	}
	return words
}
