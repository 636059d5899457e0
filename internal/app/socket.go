package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/logbook"
)

// entrance is a way in to a running engine: a listener and what answers on it.
type entrance struct {
	server   *api.Server
	listener net.Listener
}

// open opens the sockets of an engine that is not running yet, and the listener for
// programs. run serves them.
func (p *base) open(cfg config.Config) error {
	opt := p.serverOptions(cfg)
	if err := p.openHTTP(cfg, opt); err != nil {
		return err
	}
	return p.openSockets(cfg, opt)
}

// openSockets opens the control sockets: the lock is held, and nobody else makes files
// while the umask is changed.
func (p *base) openSockets(cfg config.Config, opt api.Options) error {
	access, err := cfg.Access()
	if err != nil {
		return err
	}
	// The door outlives each reload: rules are changed in it while somebody is inside.
	p.door = api.NewDoor(access)
	opt.Who = p.door.Who
	server := api.NewServer(opt)
	// A fault in these settings leaves the owner's socket closed, too: half a configuration is none.
	path, err := cfg.GroupSocket()
	if err != nil {
		return err
	}
	if err := p.enter(server, controlSocket(cfg.DataDir), -1); err != nil || path == "" {
		return err
	}
	group, err := api.GroupID(cfg.SocketGroup)
	if err != nil {
		return usage(err)
	}
	if err := groupFolder(path); err != nil {
		return err
	}
	return p.enter(server, path, int(group))
}

// enter opens one way in. group may enter by it besides the owner; -1 = nobody.
func (p *base) enter(server *api.Server, path string, group int) error {
	l, err := api.Listen(path, group)
	if err != nil {
		return err
	}
	p.entrances = append(p.entrances, entrance{server, l})
	return nil
}

// groupFolder refuses a folder in which another user could put a socket of their own in
// the place of ours, and be told the next key by whoever attaches to it.
func groupFolder(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("the folder of the group's socket: %w: make it, for the group to enter", err)
	}
	owner, _, known := regular.Owner(info)
	switch {
	// Whoever may write to a folder may take a socket out of it and put another one in.
	case regular.Others(info)&0o002 != 0:
		return fmt.Errorf("everybody may write to %s: put the group's socket into a folder of its own, such as /run/farsight", dir)
	case regular.Others(info)&0o020 != 0:
		return fmt.Errorf("the group may write to %s, and so put a socket of its own in the place of the engine's: run chmod g-w %s", dir, dir)
	case known && owner != 0 && owner != os.Geteuid():
		return fmt.Errorf("%s is another user's: put the group's socket into a folder of the engine's user, such as /run/farsight", dir)
	}
	return nil
}

// attend runs the engine and answers on its sockets, the drain included. A socket
// that fails is said; the engine goes on without it.
func (p *base) attend(ctx context.Context) error {
	// The sockets outlive ctx, so that who is attached sees the engine drain.
	attending, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	var g errgroup.Group
	for _, e := range p.entrances {
		g.Go(func() error {
			if err := e.server.Serve(attending, e.listener); err != nil {
				p.log.Error().Str("area", logbook.AreaSocket).Err(err).Msg("the control socket is closed")
			}
			return nil
		})
	}
	// Events go on to the last commit of the drain.
	g.Go(func() error { return p.tellPrograms(attending) })
	err := p.work(ctx)
	leave()
	return errors.Join(err, g.Wait())
}

// leave closes the sockets that were opened, served or not. One whose file stays, on a
// disk that has failed, does no harm: the next engine takes its place.
func (p *base) leave() {
	for _, e := range p.entrances {
		if err := e.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			p.log.Warn().Str("area", logbook.AreaSocket).Err(err).Msg("the control socket was not removed")
		}
	}
}
