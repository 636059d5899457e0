package app

import (
	"net"
	"path/filepath"
	"syscall"
	"testing"
)

// A database that takes the connection and says nothing stands for whatever a start may hang in.
func TestB14b_SIGTERMAndSIGINTEndAStartThatHangs(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = silent.Close() })
		p := command{
			args: []string{"serve", "--data-dir", filepath.Join(t.TempDir(), "data"), "--store", "postgres://ana@" + silent.Addr().String() + "/farsight?sslmode=disable"},
			env:  map[string]string{"RIOT_API_KEY": canary},
		}.start(t)
		c, err := silent.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := p.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		oneSentence(t, p.wait().wants(t, exitInterrupted).stderr, "interrupted")
	}
}
