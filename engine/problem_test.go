package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// A question that its caller has given up tells of no damage.
func TestAQuestionGivenUpIsNoDamage(t *testing.T) {
	err := engine.ProblemOf(fmt.Errorf("read account x: %w", context.Canceled))
	if !errors.Is(err, engine.ErrGone) || strings.Contains(err.Error(), "check") {
		t.Errorf("%v", err)
	}
	if err := engine.ProblemOf(errors.New("a page is missing")); !errors.Is(err, engine.ErrBroken) {
		t.Errorf("%v", err)
	}
}
