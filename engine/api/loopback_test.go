package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// onLoopback serves a console as where there are no Unix sockets.
func onLoopback(t *testing.T, con engine.Console) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), SocketName)
	l, err := listenLoopback(path)
	if err != nil {
		t.Fatal(err)
	}
	door := NewDoor(Access{Owner: uint32(os.Geteuid())})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- NewServer(Options{Console: con, Who: door.Who, Version: "test", Dir: "dir", PID: 7}).Serve(ctx, l)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file is there after its listener: %v", err)
		}
	})
	return path
}

func TestD2b_OwnerConsoleOverLoopback(t *testing.T) {
	d := &desk{}
	path := onLoopback(t, d)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if !Listens(path) {
		t.Error("nobody seems to listen")
	}
	c := NewClient(path)
	defer c.Close()
	h, err := c.Hello(t.Context())
	if err != nil || h.Role != Operator || h.You.Session == "" || h.You.User == "" {
		t.Fatalf("hello %+v, %v", h, err)
	}
	if _, err := c.Do(t.Context(), engine.Command{Op: engine.OpPause}); err != nil {
		t.Fatal(err)
	}
	if by := d.last().By; by != h.You {
		t.Errorf("carried out for %+v, want %+v", by, h.You)
	}
}

func TestD2b_WithoutTheSecretNothingIsServed(t *testing.T) {
	d := &desk{}
	path := onLoopback(t, d)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	addr, rest, _ := strings.Cut(string(text), "\n")
	request := "POST /v1/find HTTP/1.1\r\nHost: farsight\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	for name, send := range map[string]string{
		"a request":          request,
		"noise":              strings.Repeat("x", 200) + request,
		"the secret in full": strings.TrimSpace(rest) + "\n" + request,
	} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, send)
		_ = c.(*net.TCPConn).CloseWrite()
		_ = c.SetReadDeadline(time.Now().Add(patience))
		got, _ := io.ReadAll(c)
		_ = c.Close()
		if bytes.Contains(got, []byte("HTTP/")) {
			t.Errorf("%s is answered: %q", name, got)
		}
	}
	wrong := filepath.Join(t.TempDir(), SocketName)
	if err := os.WriteFile(wrong, []byte(addr+"\n"+strings.Repeat("y", 52)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := NewClient(wrong)
	defer c.Close()
	_, err = c.Hello(t.Context())
	isCode(t, err, engine.ErrGone)
	if len(d.asked) > 0 {
		t.Errorf("asked %v", d.asked)
	}
}

// Another program may have the port of an engine that has died: it is told nothing.
func TestD2b_AStrangerOnThePortIsToldNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heard := make(chan []byte, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = c.Write(make([]byte, 64))
		b, _ := io.ReadAll(c)
		heard <- b
	}()
	path := filepath.Join(t.TempDir(), SocketName)
	if err := os.WriteFile(path, []byte(l.Addr().String()+"\n"+strings.Repeat("k", 52)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := NewClient(path)
	defer c.Close()
	_, err = c.Do(t.Context(), engine.Command{Op: engine.OpKey})
	isCode(t, err, engine.ErrGone)
	if b := <-heard; len(b) != nonceSize {
		t.Errorf("heard %d bytes, want the nonce alone", len(b))
	}
}

func TestD2b_AFileOfOthersIsRefused(t *testing.T) {
	good := "127.0.0.1:1\n" + strings.Repeat("k", 52) + "\n"
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		code error
	}{
		"read by others":   {good, 0o640, engine.ErrRefused},
		"another host":     {strings.Replace(good, "127.0.0.1", "192.0.2.1", 1), 0o600, engine.ErrBroken},
		"no address":       {"x" + good, 0o600, engine.ErrBroken},
		"cut":              {good[:30], 0o600, engine.ErrBroken},
		"more behind it":   {good + "x\n", 0o600, engine.ErrBroken},
		"empty":            {"", 0o600, engine.ErrBroken},
		"nobody listening": {good, 0o600, engine.ErrGone},
	} {
		path := filepath.Join(t.TempDir(), SocketName)
		if err := os.WriteFile(path, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		client := NewClient(path)
		_, err := client.Hello(t.Context())
		if p, ok := errors.AsType[*engine.Problem](err); !ok || !errors.Is(p, c.code) {
			t.Errorf("%s: %v, want %v", name, err, c.code)
		}
		client.Close()
	}
}
