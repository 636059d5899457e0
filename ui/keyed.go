package ui

import (
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
)

// said are the sentences that keys were put in, by screen: a screen says the same ones
// in each frame.
type said map[saying]string

type saying struct {
	at   keys.Context
	text string
}

// keyed puts the keys in force into a sentence, as page.Keyed says.
func (m *Model) keyed(text string) string {
	s := saying{keys.On(m.page().Screen()), text}
	got, ok := m.said[s]
	if !ok {
		got = page.Keyed(text, func(name string) string { return m.keys.Named(s.at, name) })
		m.said[s] = got
	}
	return got
}
