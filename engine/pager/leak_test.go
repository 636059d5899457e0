package pager_test

import (
	"testing"

	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/scratch"
)

func TestMain(m *testing.M) {
	scratch.AtOnce(4)
	leak.Main(scratch.InMemory(m))
}
