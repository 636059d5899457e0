package local_test

import (
	"testing"

	bt "github.com/farsight-console/farsight/engine/backendtest"
)

func TestS2_1_S2_2_S2_3_S2_4_S2_5_S2_6_CallsByOutcome(t *testing.T) { onEach(t, bt.S2_CallsByOutcome) }
func TestS2_8_RetryAndCancel(t *testing.T)                          { onEach(t, bt.S2_8_RetryAndCancel) }
func TestW11a_TheMaximumHolds(t *testing.T)                         { onEach(t, bt.W11a_TheMaximumHolds) }
func TestP18_MaxDead(t *testing.T)                                  { onEach(t, bt.P18_MaxDead) }

func TestP28_UnreadableJobIsDiscarded(t *testing.T) { onEach(t, bt.P28_UnreadableJobIsDiscarded) }
func TestP28_UnreadableChildSettles(t *testing.T)   { onEach(t, bt.P28_UnreadableChildSettles) }
func TestP28_UnreadableWhileItRuns(t *testing.T)    { onEach(t, bt.P28_UnreadableWhileItRuns) }
