package limit

// gate limits how many calls of a scope may be under way while we know too
// little for more: one while the limits are unknown, one after a restart or a
// suspension, and one after a 429, then 2, 4 ... until it is open.
type gate struct {
	kind  gateKind
	limit int    // calls under way; 0 = open
	epoch uint64 // calls let through before the last closing do not count
	under int    // calls of this epoch under way
	good  int    // calls of this epoch answered well since limit last grew
}

type gateKind uint8

const (
	open gateKind = iota
	probing
	recovering
)

// wideOpen is the number of calls under way at which a recovery is complete.
const wideOpen = 64

func (g *gate) close(kind gateKind) {
	*g = gate{kind: kind, limit: 1, epoch: g.epoch + 1}
}

func (g *gate) enter() (epoch uint64) {
	g.under++
	return g.epoch
}

// leave ends a call that entered in epoch; well says that it was answered and
// was not a 429.
func (g *gate) leave(epoch uint64, well bool) {
	if epoch != g.epoch {
		return
	}
	g.under--
	if !well || g.kind != recovering {
		return
	}
	if g.good++; g.good >= g.limit {
		g.limit, g.good = 2*g.limit, 0
	}
	if g.limit > wideOpen {
		g.kind, g.limit = open, 0
	}
}

// proved ends a probe that entered in epoch: the server told what it counts.
func (g *gate) proved(epoch uint64) {
	if g.kind == probing && epoch == g.epoch {
		g.kind, g.limit = open, 0
	}
}

// allows reports whether one more call may be under way. An unknown scope gets
// one, whatever the gate says.
func (g *gate) allows(known bool) bool {
	if !known {
		return g.under < 1
	}
	return g.limit == 0 || g.under < g.limit
}
