// Package fit proves that the store is what its consumers ask for. It is a package of its own so that storage does not
// import them, not even in its tests.
package fit

import (
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/storage"
)

var (
	_ local.Store   = (*storage.DB)(nil)
	_ ingest.Store  = (*storage.DB)(nil)
	_ control.Store = (*storage.DB)(nil)
)
