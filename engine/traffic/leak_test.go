package traffic_test

import (
	"os"
	"testing"

	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/scratch"
)

func TestMain(m *testing.M) { os.Exit(leak.Check(scratch.OnDisk(m).Run())) }
