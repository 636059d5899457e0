package pager_test

import (
	"testing"

	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/scratch"
)

func TestMain(m *testing.M) { leak.Main(scratch.OnDisk(m)) }
