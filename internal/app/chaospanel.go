package app

import (
	"context"
	"fmt"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/internal/demo"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/session"
)

var _ session.Chaos = chaosPanel{}

// chaosPanel shows a demo's chaos on the console.
type chaosPanel struct{ *demo.Chaos }

// State implements session.Chaos.
func (p chaosPanel) State() page.ChaosState {
	s := p.Chaos.State()
	rows := make([]page.ChaosRow, len(s.Rows))
	for i := range s.Rows {
		rows[i] = chaosRow(&s.Rows[i])
	}
	return page.ChaosState{
		Seed: s.Seed, Speed: s.Speed, Rows: rows,
		Calls: s.Calls, Violations: s.Violations, Early: s.Early, Repeated: s.Repeated,
	}
}

func chaosRow(r *demo.Row) page.ChaosRow {
	row := page.ChaosRow{
		Name: r.Name, Preset: r.Preset, On: r.On, Told: r.Told, Until: r.Until, Rate: r.Rate, Fixed: r.Preset,
		Hits: r.Sum.Hits, Did: r.Did, Expect: r.Expect, About: r.About,
	}
	if r.Stalled > 0 {
		row.Did = fmt.Sprintf("waited %s in all, nothing lost", human.Dur(r.Stalled))
	}
	if r.Sure != nil {
		row.Sure = &page.Confirm{Question: r.Sure.Text, Lines: r.Sure.Lines, Yes: r.Sure.Yes}
	}
	return row
}

// Inject implements session.Chaos.
func (p chaosPanel) Inject(ctx context.Context, ask page.ChaosAsk) (string, error) {
	return p.Chaos.Inject(ctx, demo.Ask(ask))
}
