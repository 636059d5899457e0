package app

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/internal/scratch"
)

// asking is a process of this binary that carries out one command after another, each as a process of its own would:
// a start costs 12 ms of a core, and hundreds of commands only say what is wrong with them.
type asking struct {
	cmd *exec.Cmd
	to  io.WriteCloser
	enc *json.Encoder
	dec *json.Decoder
}

// question is a command with its whole environment; reply is how it ended. Bytes go as they are: JSON would mend broken
// UTF-8 in a text.
type (
	question struct {
		Args [][]byte
		Env  []string
		Dir  string
	}
	reply struct {
		Code           int
		Stdout, Stderr []byte
	}
)

// asked is run for a command that ends by itself and leaves nothing behind. It is not for what is of a process: signals,
// users, terminals, the time zone, engines; and it comes so soon that a process which was just told to stop may still
// answer.
func (c command) asked(t testing.TB) result {
	t.Helper()
	if c.as != nil {
		return c.run(t)
	}
	env := c.environ(t)
	a, err := idle.take()
	if err != nil {
		t.Fatal(err)
	}
	hangs := time.AfterFunc(patience, func() { _ = a.cmd.Process.Signal(syscall.SIGQUIT) })
	defer hangs.Stop()
	q := question{Env: env, Dir: c.dir}
	for _, arg := range c.args {
		q.Args = append(q.Args, []byte(arg))
	}
	var r reply
	if err = a.enc.Encode(q); err == nil {
		err = a.dec.Decode(&r)
	}
	if err != nil {
		a.end()
		t.Fatalf("farsight %s: its process is gone: %v", strings.Join(c.args, " "), err)
	}
	idle.put(a)
	return result{r.Code, string(r.Stdout), string(r.Stderr)}.withoutKey(t, c.args)
}

// idle are the processes that are asked nothing at the moment.
var idle processes

type processes struct {
	mu   sync.Mutex
	list []*asking
}

func (p *processes) take() (*asking, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.list); n > 0 {
		a := p.list[n-1]
		p.list = p.list[:n-1]
		return a, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a := &asking{cmd: exec.Command(self)}
	a.cmd.Env, a.cmd.Stderr = []string{roleEnv + "=asked", "TZ=UTC", scratch.Mark()}, os.Stderr
	from, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if a.to, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	a.enc, a.dec = json.NewEncoder(a.to), json.NewDecoder(from)
	return a, a.cmd.Start()
}

func (p *processes) put(a *asking) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, a)
}

// end ends all of them.
func (p *processes) end() {
	for _, a := range p.list {
		a.end()
	}
}

func (a *asking) end() {
	_ = a.to.Close()
	_ = a.cmd.Wait()
}

func init() {
	roles["asked"] = func() int {
		questions, replies := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
		for {
			var q question
			if questions.Decode(&q) != nil || replies.Encode(q.carriedOut()) != nil {
				return 0
			}
		}
	}
}

// carriedOut does what is asked.
func (q question) carriedOut() (r reply) {
	os.Clearenv()
	for _, pair := range q.Env {
		name, value, _ := strings.Cut(pair, "=")
		_ = os.Setenv(name, value)
	}
	if q.Dir == "" {
		q.Dir = here
	}
	if err := os.Chdir(q.Dir); err != nil {
		return reply{Code: -2, Stderr: []byte(err.Error())}
	}
	var said sync.WaitGroup
	caught := func(file **os.File, into *[]byte) func() {
		was := *file
		from, to, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		*file = to
		said.Go(func() {
			*into, _ = io.ReadAll(from)
			_ = from.Close()
		})
		return func() { _, *file = to.Close(), was }
	}
	stdin := os.Stdin
	os.Stdin, _ = os.Open(os.DevNull)
	out, err := caught(&os.Stdout, &r.Stdout), caught(&os.Stderr, &r.Stderr)
	var args []string
	for _, arg := range q.Args {
		args = append(args, string(arg))
	}
	r.Code = Main("", args)
	out()
	err()
	_ = os.Stdin.Close()
	os.Stdin = stdin
	said.Wait()
	return r
}
