package ui

import (
	"context"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// loaded is a console with everything on its screens: 500 retries, 500 accounts,
// a full flight recorder.
func loaded(b *testing.B, w, h int) *Model {
	b.Helper()
	opt := testOptions()
	opt.Getenv, opt.Theme = trueColor, "dark"
	fake := uitest.New(uitest.Busy())
	m := New(fake, opt)
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	u := uitest.Busy().Update
	u.Jobs = append(u.Jobs, uitest.Many(500)...)
	for i := range 500 {
		a := u.Accounts[5]
		a.ID, a.RiotID = fmt.Sprintf("many-%d", i), fmt.Sprintf("Player %d#EUW", i)
		u.Accounts = append(u.Accounts, a)
	}
	for i := range recorderSize {
		c := u.Calls[i%40]
		c.Seq = uint64(100 + i)
		u.Calls = append(u.Calls, c)
	}
	m.Update(updated{u})
	return m
}

// BenchmarkView draws every screen; the targets are 0.5 ms at 120x40 and 1 ms at
// 200x60 (performance.md section 5).
func BenchmarkView(b *testing.B) {
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		for _, v := range views {
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], v.name), func(b *testing.B) {
				m := loaded(b, size[0], size[1])
				benchOpen(m, v.name)
				now := uitest.Noon
				b.ReportAllocs()
				for b.Loop() {
					m.draw(now)
				}
			})
		}
	}
}

// benchOpen goes to a view, with the answers it asks for.
func benchOpen(m *Model, name string) {
	switch name {
	case "account":
		m.stack = []page.Page{page.NewAccount("a-kain")}
	case "schedules":
		m.stack = []page.Page{page.NewSchedules()}
	case "job":
		m.stack = []page.Page{page.NewJob("j881")}
	default:
		for _, s := range page.Tabs() {
			if strings.EqualFold(s.String(), name) {
				m.goTo(s)
			}
		}
	}
	v := m.view(uitest.Noon)
	if q := m.page().Want(v); q != nil {
		a, err := m.console.Find(context.Background(), q)
		m.page().Got(v, q, a, err)
	}
}

// BenchmarkUpdate folds a busy tenth of a second in and draws it.
func BenchmarkUpdate(b *testing.B) {
	m := loaded(b, 120, 40)
	rows := uitest.Many(40)
	rev := engine.Revision(4)
	for b.Loop() {
		rev++
		for i := range rows {
			rows[i].Rev = rev
		}
		m.rows.apply(engine.Update{Seq: uint64(rev), Jobs: rows}, uitest.Noon)
		m.draw(uitest.Noon)
	}
}
