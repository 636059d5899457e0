package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// form is the shape of a value in config.toml, in the words of JSON Schema.
type form struct {
	Type    any    `json:"type,omitempty"` // one of the types below, or a list of them
	Enum    []any  `json:"enum,omitempty"`
	Pattern string `json:"pattern,omitempty"` // of a whole text
	Minimum *int   `json:"minimum,omitempty"`
	Maximum *int   `json:"maximum,omitempty"`
	Items   *form  `json:"items,omitempty"`

	Description string          `json:"description,omitempty"`
	Default     any             `json:"default,omitempty"`
	Properties  map[string]form `json:"properties,omitempty"`
	Closed      *bool           `json:"additionalProperties,omitempty"`
}

// Types and patterns in the words of JSON Schema. A pattern is of the whole text: Schema sets its ends.
const (
	typeString  = "string"
	typeInteger = "integer"
	typeBoolean = "boolean"

	durationForm = `([0-9.]+(ns|us|µs|ms|s|m|h))+|0`
	delaysForm   = `\s*(` + durationForm + `)\s*(,\s*(` + durationForm + `)\s*)*`
)

// Forms that several settings have. A number may stand without quotes where a text is meant: 0 is an
// age, and an editor should not complain of it.
var (
	orString = []string{typeString, typeInteger}

	one  = form{Type: typeString}
	many = form{Type: []string{typeString, "array"}, Items: &one}
)

// everySetting are both tables in their order: first the settings with a flag, then those of
// [pager] and [webhooks].
func everySetting() []setting { return append(settings(), pagerSettings...) }

// in is the table of config.toml that a setting stands in, "" for none, and its name there.
func (d setting) in() (table, name string) {
	table, name, found := strings.Cut(d.name, ".")
	if !found {
		return "", d.name
	}
	return table, name
}

// value is a text as config.toml has it.
func (d setting) value(text string) any {
	switch {
	// The texts of such defaults are JSON as they are: true, 10000.
	case d.form.Type == typeBoolean, d.form.Type == typeInteger:
		return json.RawMessage(text)
	case d.form.Items != nil && text != "":
		return strings.Split(text, listSep)
	}
	return text
}

// Schema is the JSON Schema of config.toml, for editors.
func Schema() ([]byte, error) {
	no := false
	root := form{Type: "object", Description: "config.toml of Farsight", Properties: map[string]form{}, Closed: &no}
	for _, d := range everySetting() {
		// Maps are shared with root, so what is put in here is in root.
		at := root
		table, name := d.in()
		if table != "" {
			// A table is made with its first setting.
			if _, ok := root.Properties[table]; !ok {
				root.Properties[table] = form{Type: "object", Properties: map[string]form{}, Closed: &no}
			}
			at = root.Properties[table]
		}
		// A copy: forms are shared between settings, and what follows is of this one.
		f := d.form
		f.Description = d.help
		if d.def != "" {
			f.Default = d.value(d.def)
		}
		if f.Pattern != "" {
			f.Pattern = "^(" + f.Pattern + ")$"
		}
		at.Properties[name] = f
		// A secret may stand in a file of its own, whose name is a setting, too.
		if d.secret {
			at.Properties[name+fileSuffix] = form{Type: typeString, Description: "file of mode 0600 with " + name + ": " + d.help}
		}
	}
	text, err := json.MarshalIndent(struct {
		Schema string `json:"$schema"`
		ID     string `json:"$id"`
		form
	}{"https://json-schema.org/draft/2020-12/schema", schemaURL, root}, "", "  ")
	return append(text, '\n'), err
}

// schemaURL is where the schema is published.
const schemaURL = "https://raw.githubusercontent.com/farsight-console/farsight/main/docs/config.schema.json"

// Sample is a config.toml that changes nothing: each setting with what it is for and its
// default, as a comment.
func Sample() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#:schema %s\n\n# Settings of Farsight. A line without its # is in force; flags and the environment go before it.\n", schemaURL)
	in := ""
	for _, d := range everySetting() {
		table, name := d.in()
		// Tables stand last: in TOML everything below a [table] belongs to it.
		if table != in {
			fmt.Fprintf(&b, "\n[%s]\n", table)
			in = table
		}
		fmt.Fprintf(&b, "\n# %s\n", d.about())
		value, err := json.Marshal(d.value(d.def)) // TOML writes these as JSON does
		if err != nil {
			value = []byte(`""`)
		}
		fmt.Fprintf(&b, "#%s = %s\n", name, value)
	}
	return b.String()
}

// about is what the setting is for, with what else can give it.
func (d setting) about() string {
	said := d.help + envNote(d.env)
	if d.secret {
		_, name := d.in()
		said += "; or " + name + fileSuffix + ": a file of mode 0600 with it"
	}
	return said
}
