package control

import (
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/hub"
)

// Control is the Console of an engine in this process. Its methods may be called by several goroutines;
// Run and Follow are called one at a time, and Publish in the order of commits.
type Control struct {
	finder
	opt     Options
	hub     *hub.Hub
	started time.Time
	missed  await.Bell // changes may have been missed

	foreseeing sync.Mutex
	foresight  *foresight // guarded by foreseeing

	// What Publish, Run and its end have told; never held while another part is called, but for the
	// backend's queues.
	mu       sync.Mutex
	totals   engine.Totals
	discards map[engine.Queue]int
	runs     bool
	stopping bool
	broken   string
}
