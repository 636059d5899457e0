package local_test

import (
	"fmt"
	"testing"

	bt "github.com/farsight-console/farsight/engine/backendtest"
	"github.com/farsight-console/farsight/internal/scratch"
)

func TestS0_2_DelaysAreTheTable(t *testing.T)        { onEach(t, bt.S0_2_DelaysAreTheTable) }
func TestS0_3_FifthFailureEndsIt(t *testing.T)       { onEach(t, bt.S0_3_FifthFailureEndsIt) }
func TestS0_9_PastRetryRunsOnce(t *testing.T)        { onEach(t, bt.S0_9_PastRetryRunsOnce) }
func TestS1_2_OneWinner(t *testing.T)                { onEach(t, bt.S1_2_OneWinner) }
func TestS2_4_AttemptsTellTheirStory(t *testing.T)   { onEach(t, bt.S2_4_AttemptsTellTheirStory) }
func TestS2_5_ShouldRetryAndItsInstant(t *testing.T) { onEach(t, bt.S2_5_ShouldRetryAndItsInstant) }
func TestS3_5_ChildrenThatFail(t *testing.T)         { onEach(t, bt.S3_5_ChildrenThatFail) }
func TestS3_6_SettlesOnce(t *testing.T)              { onEach(t, bt.S3_6_SettlesOnce) }
func TestS3_7_EmptyGroupGoesOn(t *testing.T)         { onEach(t, bt.S3_7_EmptyGroupGoesOn) }
func TestS4_6_OneRunningPerLock(t *testing.T)        { onEach(t, bt.S4_6_OneRunningPerLock) }
func TestP02_RescueByHeartbeatOnly(t *testing.T)     { onEach(t, bt.P02_RescueByHeartbeatOnly) }
func TestP03_LateResultIsRefused(t *testing.T)       { onEach(t, bt.P03_LateResultIsRefused) }
func TestP04_OrphansAreKnownByTheLock(t *testing.T)  { onEach(t, bt.P04_OrphansAreKnownByTheLock) }
func TestP05_KeyHeldByTheLivingOnly(t *testing.T)    { onEach(t, bt.P05_KeyHeldByTheLivingOnly) }
func TestP06_UniqueConflictOnRetry(t *testing.T)     { onEach(t, bt.P06_UniqueConflictOnRetry) }
func TestP07_NoConflictWithItself(t *testing.T)      { onEach(t, bt.P07_NoConflictWithItself) }
func TestP09_ThrottledIsNotCharged(t *testing.T)     { onEach(t, bt.P09_ThrottledIsNotCharged) }
func TestP12_CancelARunningJob(t *testing.T)         { onEach(t, bt.P12_CancelARunningJob) }
func TestP13_CancelDoesNotLeak(t *testing.T)         { onEach(t, bt.P13_CancelDoesNotLeak) }
func TestI11_UndoOfSharedChildren(t *testing.T)      { onEach(t, bt.I11_UndoOfSharedChildren) }
func TestI11_UndoKeepsThePlace(t *testing.T)         { onEach(t, bt.I11_UndoKeepsThePlace) }
func TestI11_UndoOnlyOfWhatStands(t *testing.T)      { onEach(t, bt.I11_UndoOnlyOfWhatStands) }
func TestP15_TheLoserIsTold(t *testing.T)            { onEach(t, bt.P15_TheLoserIsTold) }
func TestP17_ExactlyOneTrigger(t *testing.T)         { onEach(t, bt.P17_ExactlyOneTrigger) }
func TestP18_LateChild(t *testing.T)                 { onEach(t, bt.P18_LateChild) }
func TestP20_AnswersAreBounded(t *testing.T)         { onEach(t, bt.P20_AnswersAreBounded) }
func TestP27_DrainChargesNothing(t *testing.T)       { onEach(t, bt.P27_DrainChargesNothing) }
func TestP28_SuspectRunsAloneThenEnds(t *testing.T)  { onEach(t, bt.P28_SuspectRunsAloneThenEnds) }
func TestP29_UnknownKindIsLeftAlone(t *testing.T)    { onEach(t, bt.P29_UnknownKindIsLeftAlone) }
func TestP38_PausedMeansNothingStarts(t *testing.T)  { onEach(t, bt.P38_PausedMeansNothingStarts) }
func TestCancelledParentTakesItsChildren(t *testing.T) {
	onEach(t, bt.CancelledParentTakesItsOwnChildren)
}

func TestI4_BulkTakesChildrenAlong(t *testing.T) {
	onEachSized(t, scratch.Sized(200, 600), 60, bt.I4_BulkTakesChildrenAlong)
}

func TestI11_UndoBringsASyncBack(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %t", restart), func(t *testing.T) {
			onEachSized(t, scratch.Sized(200, 600), 60, func(t testing.TB, s bt.Site, n int) { bt.I11_UndoBringsASyncBack(t, s, n, restart) })
		})
	}
}

// What a number proves it proves under the race detector with a smaller one.
var (
	walks       uint64 = 5       // random walks in memory
	cancelRaces        = 1000    // cancels against completions, in memory
	dueAtOnce          = 100_000 // jobs that wait while one is due
)

func TestP14_CancelCompleteRace(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		inMemory(t, func(t testing.TB, s bt.Site) { bt.P14_CancelCompleteRace(t, s, cancelRaces) })
	})
	t.Run("bbolt", func(t *testing.T) {
		onDisk(t, func(t testing.TB, s bt.Site) { bt.P14_CancelCompleteRace(t, s, 50) })
	})
	t.Run("postgres", func(t *testing.T) {
		onServer(t, func(t testing.TB, s bt.Site) { bt.P14_CancelCompleteRace(t, s, 20) })
	})
}

func TestP21_DueJobStartsPunctually(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		inMemory(t, func(t testing.TB, s bt.Site) {
			bt.P21_DueJobStartsPunctually(t, s, min(dueAtOnce, scratch.Sized(5_000, 100_000)))
		})
	})
	t.Run("bbolt", func(t *testing.T) {
		onDisk(t, func(t testing.TB, s bt.Site) { bt.P21_DueJobStartsPunctually(t, s, 1000) })
	})
	t.Run("postgres", func(t *testing.T) {
		onServer(t, func(t testing.TB, s bt.Site) { bt.P21_DueJobStartsPunctually(t, s, 200) })
	})
}

func TestP01_NothingIsLostInACrash(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		inMemory(t, func(t testing.TB, s bt.Site) { bt.P01_NothingIsLostInACrash(t, s, 200, 50) })
	})
	t.Run("bbolt", func(t *testing.T) {
		onDisk(t, func(t testing.TB, s bt.Site) { bt.P01_NothingIsLostInACrash(t, s, 200, 10) })
	})
	t.Run("postgres", func(t *testing.T) {
		onServer(t, func(t testing.TB, s bt.Site) { bt.P01_NothingIsLostInACrash(t, s, 100, 5) })
	})
}

func TestP16_RandomWalk(t *testing.T) {
	t.Parallel()
	for seed := range min(walks, uint64(scratch.Sized(1, 5))) {
		t.Run(fmt.Sprintf("memory %d", seed), func(t *testing.T) {
			inMemory(t, func(t testing.TB, s bt.Site) { bt.RandomWalk(t, s, seed, 400) })
		})
	}
	t.Run("bbolt", func(t *testing.T) {
		onDisk(t, func(t testing.TB, s bt.Site) { bt.RandomWalk(t, s, 99, scratch.Sized(60, 120)) })
	})
	t.Run("postgres", func(t *testing.T) {
		onServer(t, func(t testing.TB, s bt.Site) { bt.RandomWalk(t, s, 99, scratch.Sized(60, 120)) })
	})
}
