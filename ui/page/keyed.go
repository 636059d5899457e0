package page

import "strings"

// Keyed puts keys into a sentence: {sync} stands for the key of that action on the screen
// on top as it is bound now, {jobs/pause} for that on another screen.
func Keyed(text string, key func(name string) string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{")
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(before)
		b.WriteString(key(name))
		text = after
	}
}

// keyed is Keyed with the keys in force. Where there are none, as in line mode, an
// action is called by its name.
func (v *View) keyed(text string) string {
	if v.Keyed == nil {
		return Keyed(text, func(name string) string { return name[strings.IndexByte(name, '/')+1:] })
	}
	return v.Keyed(text)
}
