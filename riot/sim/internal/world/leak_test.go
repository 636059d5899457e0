package world

import (
	"os"
	"testing"

	"github.com/farsight-console/farsight/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Check(m.Run())) }
