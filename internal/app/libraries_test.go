package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/riot/sim"
)

// What a server says unasked, with the key that it echoes, is printed by net/http: it goes to the log,
// without the key, and not to the terminal.
func TestB15_WhatLibrariesPrint(t *testing.T) {
	t.Parallel()
	who := player("Told Unasked#SOCK", 1)
	// A call each second: one that follows at once meets what was told unasked, and costs a try with its delay.
	s, dir := startSim(t, sim.Options{Seed: 7, Limits: limits("1:1"), Players: []sim.PlayerSpec{who}}), freshDir(t)
	talker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		res := rec.Result()
		res.ContentLength = int64(rec.Body.Len())
		_ = res.Write(c)
		time.Sleep(20 * time.Millisecond) // what comes with the answer itself is not looked at
		_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nX-Riot-Token: " + r.Header.Get("X-Riot-Token") + "\r\n\r\n"))
		_, _ = c.Read(make([]byte, 1))
	}))
	t.Cleanup(talker.Close)
	env := s.env("RIOT_BASE_URL=" + talker.URL + "/{routing}")
	r := command{args: []string{"sync", who.RiotID, "--platform", "euw1", "--data-dir", dir}, env: env}.run(t).wants(t, exitDone)
	if strings.Contains(r.stderr, "nsolicited") {
		t.Errorf("the terminal shows %.300s", r.stderr)
	}
	text, err := os.ReadFile(filepath.Join(dir, "farsight.log"))
	if err != nil || !strings.Contains(string(text), "nsolicited") || strings.Contains(string(text)+r.stderr, canary) {
		t.Errorf("the log: %v, unsolicited %t, key %t", err, strings.Contains(string(text), "nsolicited"), strings.Contains(string(text), canary))
	}
}

// With too few open files an engine says so before it begins: nothing is tried, and nothing summed up.
func TestB9f_TooFewOpenFiles(t *testing.T) {
	t.Parallel()
	who := player("Few Files#SOCK", 3)
	s, dir := startSim(t, sim.Options{Seed: 7, Players: []sim.PlayerSpec{who}}), freshDir(t)
	c := command{args: []string{"sync", who.RiotID, "--platform", "euw1", "--data-dir", dir}, env: s.env()}
	c.as = func(cmd *exec.Cmd) {
		cmd.Args = append([]string{"sh", "-c", `ulimit -n 64; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
	}
	if r := c.run(t).wants(t, exitFailed); r.stdout != "" || !strings.Contains(r.stderr, "64 files open") || !strings.Contains(r.stderr, "ulimit -n") {
		t.Errorf("it says %s%s", r.stdout, r.stderr)
	}
}
