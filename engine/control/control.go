package control

import (
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/hub"
)

// Control is the Console of an engine in this process.
type Control struct {
	finder
	opt     Options
	hub     *hub.Hub
	started time.Time
	missed  await.Bell // changes may have been missed

	foreseeing sync.Mutex
	foresight  *foresight // guarded by foreseeing

	mu       sync.Mutex
	totals   engine.Totals
	discards map[engine.Queue]int
	runs     bool
	stopping bool
	broken   string
}
