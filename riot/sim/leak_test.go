package sim

import (
	"testing"

	"github.com/farsight-console/farsight/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }
