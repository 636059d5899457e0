// Package themes turns palettes into one Theme: the SGR strings of semantic
// tokens and the glyph table. No colour is named anywhere else.
//
// A state is a glyph, a word and a colour, in this order of importance: with
// all colour removed nothing may become ambiguous.
package themes
