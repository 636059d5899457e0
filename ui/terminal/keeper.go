package terminal

import (
	"bufio"
	"os"
	"os/exec"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/term"
)

// keeperScript stands by while a program has the terminal: it notes the terminal's state, says so, and reads until
// nobody can write any more. Told "bye" it ends; anything else is what the runtime said when the program fell, and
// nothing what a SIGKILL leaves. Then it gives the terminal back, and passes on what was said, on the main screen.
// Its file 3 is the terminal, $1 the sequence that leaves the screen.
const keeperScript = `trap '' HUP INT QUIT TERM TSTP TTOU
state=$(stty -g <&3) && echo ready || exit
said=$(tr -cd '\11\12\40-\176')
[ "$said" = bye ] && exit
stty "$state" <&3
printf '%s' "$1" >&3
printf '%s\n' "$said" >&2`

// keeperPatience is how long the keeper may take to be ready. It needs a few milliseconds.
const keeperPatience = time.Second

// keep has a process of its own give the terminal back if this one falls: what the runtime ends can do nothing
// for itself. dismiss ends it; more than once is no harm. Where there is no shell, nobody stands by.
func keep(opt Options) (dismiss func()) {
	in, out := files(opt)
	if opt.SSH || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return func() {}
	}
	from, to, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	defer from.Close()
	keeper := exec.Command("sh", "-c", keeperScript, "keeper", leave)
	keeper.Stdin, keeper.Stderr, keeper.ExtraFiles = from, os.Stderr, []*os.File{in}
	said, err := keeper.StdoutPipe()
	if err == nil {
		err = keeper.Start()
	}
	if err != nil {
		_ = to.Close()
		return func() {}
	}
	late := time.AfterFunc(keeperPatience, func() { _ = keeper.Process.Kill() })
	defer late.Stop()
	if line, _, _ := bufio.NewReader(said).ReadLine(); string(line) == "ready" {
		_ = debug.SetCrashOutput(to, debug.CrashOptions{})
	}
	return sync.OnceFunc(func() {
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
		_, _ = to.WriteString("bye")
		_ = to.Close()
		_ = keeper.Wait()
	})
}
