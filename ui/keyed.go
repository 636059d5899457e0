package ui

import (
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
)

// said keeps sentences with their keys filled in, by screen: a screen says the same ones in each
// frame, and a key is looked up in a table.
type said map[saying]string

// saying is a sentence before its keys are in it, and the screen whose keys they are.
type saying struct {
	at   keys.Context
	text string
}

// keyed puts the keys in force into a sentence, as page.Keyed says.
func (s said) keyed(k *keys.Map, at keys.Context, text string) string {
	got, ok := s[saying{at, text}]
	if !ok {
		got = page.Keyed(text, func(name string) string { return k.Named(at, name) })
		s[saying{at, text}] = got
	}
	return got
}
