package terminal

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/farsight-console/farsight/internal/leak"
)

func TestMain(m *testing.M) {
	// The runtime starts its signal goroutine once: it must not be born in a bubble.
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	signal.Stop(c)
	leak.Main(m)
}
