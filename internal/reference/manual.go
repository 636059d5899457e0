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

// section is a group of commands, as `farsight --help` has them.
type section struct {
	title    string
	commands []*cobra.Command
}

// sections are the commands that people see, each followed by its own.
func (m Manual) sections() []section {
	var all []section
	for _, g := range m.Root.Groups() {
		s := section{title: g.Title}
		for _, c := range m.Root.Commands() {
			// Commands() has them by name; a hidden one is in no group.
			if c.GroupID == g.ID {
				s.commands = append(s.commands, withSubs(c)...)
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

// options are the flags of a command: its name with what it takes, and what it does. Those
// that every command has are the root's alone.
func (m Manual) options(c *cobra.Command) (all []Entry) {
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

// usage is how a command is written.
func usage(c *cobra.Command) string {
	return strings.TrimSpace(c.Parent().CommandPath() + " " + c.Use)
}

// example is the examples of a command, a line each.
func example(c *cobra.Command) string {
	// The tree has them indented for the terminal's help.
	lines := strings.Split(strings.TrimSpace(c.Example), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// long is what a command does, in as many words as it has.
func long(c *cobra.Command) string { return cmp.Or(c.Long, c.Short+".") }

// Markdown is docs/commands.md.
func (m Manual) Markdown() string {
	var b strings.Builder
	// The page begins with an index of the groups, then the root, then each command.
	b.WriteString("# Commands\n\nMade from the command tree by docs/make.sh: do not edit. `farsight help COMMAND` says the same, and so does\n`man farsight` where a package installed it.\n\n")
	for _, s := range m.sections() {
		// A command below another one has no line in the index.
		fmt.Fprintf(&b, "- %s:", s.title)
		for i, c := range s.commands {
			if c.Parent() == m.Root {
				fmt.Fprintf(&b, "%s [%s](#%s)", strings.Repeat(",", min(i, 1)), c.Name(), strings.ReplaceAll(c.CommandPath(), " ", "-"))
			}
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\n## %s\n\n", m.Root.Name())
	m.table(&b, m.Root)
	fmt.Fprintf(&b, "Every setting is a flag of every command, too: [settings.md](settings.md) lists them.\n\n| exit code | |\n|---|---|\n")
	for _, e := range m.Exits {
		fmt.Fprintf(&b, "| %d | %s |\n", e.Code, cell(e.Means))
	}
	for _, s := range m.sections() {
		fmt.Fprintf(&b, "\n## %s\n", s.title)
		for _, c := range s.commands {
			// The anchors of the index are made of these headings by whoever shows the page.
			fmt.Fprintf(&b, "\n### %s\n\n```sh\n%s\n```\n\n", c.CommandPath(), usage(c))
			for _, p := range paragraphs(long(c)) {
				if p.verbatim {
					p.text = "```\n" + p.text + "\n```"
				}
				b.WriteString(p.text + "\n\n")
			}
			m.table(&b, c)
			fmt.Fprintf(&b, "```sh\n%s\n```\n", example(c))
		}
	}
	return b.String()
}

// table writes the flags of a command, if it has some of its own.
func (m Manual) table(b *strings.Builder, c *cobra.Command) {
	options := m.options(c)
	if len(options) == 0 {
		return
	}
	b.WriteString("| flag | |\n|---|---|\n")
	for _, o := range options {
		fmt.Fprintf(b, "| `%s` | %s |\n", cell(o.Name), cell(o.Is))
	}
	b.WriteByte('\n')
}

// cell is a text in a table of Markdown's.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

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
	list(&b, m.options(root))
	fill(&b, "Every setting is a flag of every command, too: `farsight config` lists them with their environment variables.")
	for _, s := range m.sections() {
		head("SH", strings.ToUpper(s.title))
		for _, c := range s.commands {
			head("SS", usage(c))
			fill(&b, long(c))
			list(&b, m.options(c))
			b.WriteString(".PP\n")
			verbatim(&b, example(c))
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
	for _, p := range paragraphs(long) {
		b.WriteString(".PP\n")
		if p.verbatim {
			verbatim(b, p.text)
			continue
		}
		b.WriteString(line(p.text) + "\n")
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
