package app

import (
	"slices"
	"syscall"
	"testing"
)

// TestServe_EveryQueueIsKnownBeforeItIsUsed: whoever wants nobody to be called may
// say so before the first alert, with an engine and without one. A queue that is none
// is refused by the names of all that are.
func TestServe_EveryQueueIsKnownBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	s, dir := slowly(t, player("Nobody#QUEUE", 5)), freshDir(t)
	d := s.serving(t, dir, nil)
	cli := func(args ...string) result { return command{args: append(args, "--data-dir", dir)}.asked(t) }
	look := func() {
		for _, q := range knownQueues() {
			cli("pause", string(q), "--dry-run").wants(t, exitDone)
		}
		oneSentence(t, cli("pause", "no.such").wants(t, exitUsage).stderr, "no.such", "pager", "webhooks", "ingest.summoner.full")
	}
	look()
	cli("pause", "pager").wants(t, exitDone)
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.wait().wants(t, exitDone)
	look()
	if !slices.Contains(knownQueues(), "webhooks") {
		t.Errorf("the queues are %q", knownQueues())
	}
}
