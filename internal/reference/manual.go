package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Manual is what the pages are made of.
//
// docs/commands.md and the manual page are made of it, both of the command tree that runs: neither can
// tell of a flag that is not there.
type Manual struct {
	Root  *cobra.Command
	Value func(*cobra.Command, *pflag.Flag) string // what a flag takes, such as DIR; "" = nothing
	Exits []Exit
	Files []Entry
}

// Exit is an exit code and what it says.
type Exit struct {
	Code  int
	Means string
}

// Entry is a name with what it is.
type Entry struct{ Name, Is string }

// Section is a group of commands, as `farsight --help` has them.
type Section struct {
	Title    string
	Commands []*cobra.Command
}

// Sections are the commands that people see, each followed by its own.
func (m Manual) Sections() []Section {
	var all []Section
	for _, g := range m.Root.Groups() {
		s := Section{Title: g.Title}
		for _, c := range m.Root.Commands() {
			// Commands() has them by name; a hidden one is in no group.
			if c.GroupID == g.ID {
				s.Commands = append(s.Commands, withSubs(c)...)
			}
		}
		all = append(all, s)
	}
	return all
}

// withSubs is a command and all below it; none of a hidden one.
func withSubs(c *cobra.Command) (all []*cobra.Command) {
	if c.Hidden {
		return nil
	}
	all = append(all, c)
	for _, sub := range c.Commands() {
		all = append(all, withSubs(sub)...)
	}
	return all
}

// Options are the flags of a command: its name with what it takes, and what it does. Those
// that every command has are the root's alone.
func (m Manual) Options(c *cobra.Command) (all []Entry) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		// A flag of the root is told once: each command has all of them.
		if f.Hidden || f.Name == "help" || c != m.Root && m.Root.PersistentFlags().Lookup(f.Name) != nil {
			return
		}
		// "--data-dir DIR", or with its letter "-o, --output FORM".
		name := strings.TrimSpace("--" + f.Name + " " + m.Value(c, f))
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		is := f.Usage
		if !slices.Contains([]string{"", "false", "0", "[]"}, f.DefValue) {
			is += " (" + f.DefValue + ")"
		}
		all = append(all, Entry{name, is})
	})
	return all
}

// Usage is how a command is written.
func Usage(c *cobra.Command) string {
	return strings.TrimSpace(c.Parent().CommandPath() + " " + c.Use)
}

// Example is the examples of a command, a line each.
func Example(c *cobra.Command) string {
	// The tree has them indented for the terminal's help.
	lines := strings.Split(strings.TrimSpace(c.Example), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Long is what a command does, in as many words as it has.
func Long(c *cobra.Command) string { return cmp.Or(c.Long, c.Short+".") }

// Roff is the page farsight(1), for man.
func (m Manual) Roff() string {
	var b strings.Builder
	// Macros of man(7): SH a section, SS a part of it, TP a name with its text indented, PP a
	// paragraph.
	head := func(macro, text string) { fmt.Fprintf(&b, ".%s \"%s\"\n", macro, roff(text)) }
	root := m.Root
	b.WriteString(".TH FARSIGHT 1 \"\" \"Farsight\" \"User Commands\"\n")
	head("SH", "NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", root.Name(), roff(lower(root.Short)))
	head("SH", "SYNOPSIS")
	fmt.Fprintf(&b, ".B %s\n[\\fICOMMAND\\fR] [\\fIFLAGS\\fR]\n", root.Name())
	head("SH", "DESCRIPTION")
	fill(&b, root.Long)
	head("SH", "OPTIONS")
	list(&b, m.Options(root))
	fill(&b, "Every setting is a flag of every command, too: `farsight config` lists them with their environment variables.")
	for _, s := range m.Sections() {
		head("SH", strings.ToUpper(s.Title))
		for _, c := range s.Commands {
			head("SS", Usage(c))
			fill(&b, Long(c))
			list(&b, m.Options(c))
			b.WriteString(".PP\n")
			verbatim(&b, Example(c))
		}
	}
	head("SH", "EXIT STATUS")
	for _, e := range m.Exits {
		list(&b, []Entry{{fmt.Sprint(e.Code), e.Means}})
	}
	head("SH", "FILES")
	list(&b, m.Files)
	return b.String()
}

// lower is a text whose first letter is small, as man's NAME section wants it.
func lower(text string) string { return strings.ToLower(text[:1]) + text[1:] }

// fill writes paragraphs, which man breaks into lines itself.
func fill(b *strings.Builder, long string) {
	for _, p := range Paragraphs(long) {
		b.WriteString(".PP\n")
		if p.Verbatim {
			verbatim(b, p.Text)
			continue
		}
		b.WriteString(line(p.Text) + "\n")
	}
}

// list writes names, each with what it is indented below it.
func list(b *strings.Builder, entries []Entry) {
	for _, e := range entries {
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR\n%s\n", roff(e.Name), line(e.Is))
	}
}

// verbatim writes lines as they are.
func verbatim(b *strings.Builder, text string) {
	b.WriteString(".RS\n.nf\n")
	for l := range strings.SplitSeq(text, "\n") {
		b.WriteString(line(l) + "\n")
	}
	b.WriteString(".fi\n.RE\n")
}

// line is a line of text that begins no macro; what stands in backquotes is bold.
func line(text string) string {
	parts := strings.Split(text, "`")
	for i := range parts {
		parts[i] = roff(parts[i])
		switch {
		case i%2 == 1 && i < len(parts)-1:
			parts[i] = `\fB` + parts[i] + `\fR`
		// The last backquote of an odd number opens nothing: it stays as it is.
		case i%2 == 1:
			parts[i] = "`" + parts[i]
		}
	}
	text = strings.Join(parts, "")
	// roff takes a line that begins so for a macro; \& is nothing, in front of it.
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}

// roff is a text in which nothing has a meaning of its own to roff. A - that is typed is
// no hyphen.
var roff = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`).Replace
