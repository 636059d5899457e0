package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// A question that its caller has given up tells of no damage, and neither does a full disk.
func TestAQuestionGivenUpIsNoDamage(t *testing.T) {
	err := engine.ProblemOf(fmt.Errorf("read account x: %w", context.Canceled))
	if !errors.Is(err, engine.ErrGone) || strings.Contains(err.Error(), "check") {
		t.Errorf("%v", err)
	}
	err = engine.ProblemOf(fmt.Errorf("write state.db: %w", syscall.ENOSPC))
	if !errors.Is(err, engine.ErrBroken) || !strings.Contains(err.Error(), "make room") {
		t.Errorf("%v", err)
	}
	if err := engine.ProblemOf(errors.New("a page is missing")); !errors.Is(err, engine.ErrBroken) {
		t.Errorf("%v", err)
	}
}
