package disk

import "github.com/farsight-console/farsight/engine/wall"

// Now is the wall clock at the storage edge; a variable so that tests can step it.
var Now = wall.Now

// A group takes what is queued when its transaction begins, up to these bounds. There is no timer:
// a lone caller pays for its own commit and waits for nobody.
const (
	MaxGroupOps   = 256
	MaxGroupBytes = 2 << 20
)

// Rows that only ever come at the end leave full pages behind.
const AppendFill = 0.9
