package dataset

import (
	"os"
	"testing"

	"github.com/farsight-console/farsight/internal/scratch"
)

func TestMain(m *testing.M) { os.Exit(scratch.InMemory(m).Run()) }
