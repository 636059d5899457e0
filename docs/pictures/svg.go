package main

import (
	"fmt"
	"html"
	"image/color"
	"strconv"
	"strings"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
)

// A cell of the picture, in its units.
const (
	cellW  = 8.4
	cellH  = 18.0
	letter = 14 // size of the letters
	base   = 13.5
	margin = 12.0
)

// paper is what a terminal has where a program painted nothing.
type paper struct{ ground, ink color.Color }

var (
	darkPaper  = paper{color.RGBA{0x11, 0x15, 0x1c, 0xff}, color.RGBA{0xd7, 0xdd, 0xe8, 0xff}}
	lightPaper = paper{color.RGBA{0xfa, 0xfa, 0xfa, 0xff}, color.RGBA{0x1f, 0x24, 0x30, 0xff}}
)

// inks gives each colour a class of a letter or two.
type inks struct {
	paper
	names map[string]string
	order []string
}

func newInks(p paper) *inks { return &inks{paper: p, names: map[string]string{}} }

func (k *inks) class(c color.Color) string {
	text := hex(c)
	if _, ok := k.names[text]; !ok {
		k.names[text] = "c" + strconv.Itoa(len(k.order))
		k.order = append(k.order, text)
	}
	return k.names[text]
}

func (k *inks) css() string {
	var b strings.Builder
	for _, c := range k.order {
		fmt.Fprintf(&b, ".%s{fill:%s;stroke:%[2]s}", k.names[c], c)
	}
	return b.String()
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// colours are those of a cell as it is painted.
func (k *inks) colours(c uv.Cell) (ink, ground color.Color) {
	ink, ground = c.Style.Fg, c.Style.Bg
	if ink == nil {
		ink = k.ink
	}
	if c.Style.Attrs&uv.AttrReverse != 0 {
		if ground == nil {
			ground = k.ground
		}
		ink, ground = ground, ink
	}
	if ground != nil && hex(ground) == hex(k.ground) {
		ground = nil
	}
	return ink, ground
}

// still is a picture of one frame.
func still(f frame, p paper) string {
	k := newInks(p)
	var body strings.Builder
	for y, row := range f {
		body.WriteString(at(y, drawRow(row, k), ""))
	}
	return page(f, k, "", body.String())
}

// at puts a row where it belongs.
func at(y int, row, class string) string {
	if row == "" {
		return ""
	}
	if class != "" {
		class = ` class="` + class + `"`
	}
	return fmt.Sprintf(`<g%s transform="translate(0 %s)">%s</g>`+"\n", class, num(float64(y)*cellH), row)
}

func page(f frame, k *inks, css, body string) string {
	w, h := float64(len(f[0]))*cellW+2*margin, float64(len(f))*cellH+2*margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%[1]s" height="%[2]s">
<style>text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;stroke:none!important}path{fill:none!important;stroke-width:1.2}rect{stroke:none!important;shape-rendering:crispEdges}.b{font-weight:bold}.d{opacity:.6}%s%s</style>
<rect width="%[1]s" height="%[2]s" rx="8" fill="%[6]s"/>
<g transform="translate(%[7]s %[7]s)">
%[8]s</g>
</svg>
`, num(w), num(h), letter, dashCSS+k.css(), css, hex(k.ground), num(margin), body)
}

// num writes a length without what nobody sees.
func num(x float64) string { return strconv.FormatFloat(float64(int(x*10+0.5))/10, 'f', -1, 64) }

// drawRow draws a row of cells: grounds first, then signs, then letters in runs.
func drawRow(row []uv.Cell, k *inks) string {
	return grounds(row, k) + marks(row, k)
}

// grounds are stretches of one background.
func grounds(row []uv.Cell, k *inks) string {
	var b strings.Builder
	for x := 0; x < len(row); {
		_, ground := k.colours(row[x])
		end := x + 1
		for ; end < len(row); end++ {
			if _, next := k.colours(row[end]); !same(next, ground) {
				break
			}
		}
		if ground != nil {
			fmt.Fprintf(&b, `<rect class="%s" x="%s" width="%s" height="%s"/>`, k.class(ground), num(float64(x)*cellW), num(float64(end-x)*cellW), num(cellH))
		}
		x = end
	}
	return b.String()
}

func same(a, b color.Color) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return hex(a) == hex(b)
}

// kindOf tells how a cell is drawn.
func kindOf(c uv.Cell) byte {
	r, n := utf8.DecodeRuneInString(c.Content)
	switch {
	case c.Content == "" || c.Content == " ":
		return ' '
	case n < len(c.Content) || r > 0x7e && !isBox(r) && !isBlock(r) && heavy[r] == "" && rows[r].class == "":
		return 'w' // a sign or a wide letter: on its own, so that the font's width does no harm
	case isBox(r):
		return 'l'
	case heavy[r] != "":
		return 'h'
	case rows[r].class != "":
		return 'q'
	case isBlock(r):
		return 'f'
	}
	return 't'
}

func isBox(r rune) bool   { _, ok := lines[r]; return ok }
func isBlock(r rune) bool { return r >= 0x2580 && r <= 0x2593 || r == '▖' }

// marks are the letters and signs of a row, in stretches of one kind and colour.
func marks(row []uv.Cell, k *inks) string {
	var b strings.Builder
	for x := 0; x < len(row); {
		kind := kindOf(row[x])
		if kind == ' ' {
			x++
			continue
		}
		end := x + 1
		for kind != 'w' && end < len(row) && goesOn(row, x, end, kind, k) {
			end++
		}
		b.WriteString(stretch(row[x:end], x, kind, k))
		x = end
	}
	return b.String()
}

// goesOn reports whether the cell at end belongs to the stretch that began at x. A
// single blank does not end a run of letters.
func goesOn(row []uv.Cell, x, end int, kind byte, k *inks) bool {
	c := row[end]
	if kindOf(c) == ' ' && kind == 't' {
		return end+1 < len(row) && kindOf(row[end+1]) == 't' && alike(row[x], row[end+1], k)
	}
	return kindOf(c) == kind && alike(row[x], c, k) && (kind != 'f' && kind != 'q' || c.Content == row[x].Content)
}

func alike(a, b uv.Cell, k *inks) bool {
	x, _ := k.colours(a)
	y, _ := k.colours(b)
	return hex(x) == hex(y) && a.Style.Attrs == b.Style.Attrs
}

func stretch(cells []uv.Cell, x int, kind byte, k *inks) string {
	ink, _ := k.colours(cells[0])
	class := k.class(ink)
	if cells[0].Style.Attrs&uv.AttrBold != 0 && strings.IndexByte("lhq", kind) < 0 {
		class += " b"
	}
	if cells[0].Style.Attrs&uv.AttrFaint != 0 {
		class += " d"
	}
	left := float64(x) * cellW
	switch kind {
	case 'l':
		return fmt.Sprintf(`<path class="%s" d="%s"/>`, class, boxes(cells, left))
	case 'h':
		return fmt.Sprintf(`<path class="%s h" d="%s"/>`, class, boxes(cells, left))
	case 'q':
		return dashes(cells, left, class)
	case 'f':
		return block(cells, left, class)
	}
	text := ""
	for _, c := range cells {
		if c.Content == "" {
			c.Content = " "
		}
		text += c.Content
	}
	if kind == 'w' {
		wide := max(cells[0].Width, 1)
		return fmt.Sprintf(`<text class="%s" x="%s" y="%s" text-anchor="middle">%s</text>`, class, num(left+float64(wide)*cellW/2), num(base), html.EscapeString(text))
	}
	return fmt.Sprintf(`<text class="%s" x="%s" y="%s" textLength="%s">%s</text>`, class, num(left), num(base), num(float64(len(cells))*cellW), html.EscapeString(text))
}

// lines are the arms of box drawing characters: left, right, up, down.
var lines = map[rune]string{
	'─': "lr", '│': "ud", '╭': "rd", '╮': "ld", '╰': "ru", '╯': "lu", '├': "udr", '┤': "udl", '┬': "lrd", '┴': "lru", '┼': "lrud", '┊': "i", '┌': "rd", '┐': "ld", '└': "ru", '┘': "lu", '╷': "d", '╵': "u",
}

// heavy are the arms of the heavy ones, of which tall digits are made.
var heavy = map[rune]string{
	'━': "lr", '┃': "ud", '┏': "rd", '┓': "ld", '┗': "ru", '┛': "lu", '╺': "r", '╸': "l", '╻': "d", '╹': "u", '┣': "udr", '┫': "udl", '┻': "lru",
}

// dashed is a sign that is drawn as dashed lines through all cells of a stretch.
type dashed struct {
	class string
	from  float64   // where the first dash begins
	at    []float64 // how high the lines are
}

const dotRow = cellH / 4

var rows = map[rune]dashed{
	'⣀': {"q", cellW / 4, []float64{3.5 * dotRow}}, '⣤': {"q", cellW / 4, []float64{2.5 * dotRow, 3.5 * dotRow}}, '⠤': {"q", cellW / 4, []float64{2.5 * dotRow}},
	'⣶': {"q", cellW / 4, []float64{1.5 * dotRow, 2.5 * dotRow, 3.5 * dotRow}}, '⣿': {"q", cellW / 4, []float64{dotRow / 2, 1.5 * dotRow, 2.5 * dotRow, 3.5 * dotRow}},
	'■': {"s", 0.6, []float64{cellH / 2}}, '╌': {"a", 1, []float64{cellH / 2}}, '┄': {"a", 1, []float64{cellH / 2}}, '·': {"o", cellW / 2, []float64{cellH / 2}},
}

// dashCSS gives the dashes their lengths: two a cell, or one.
const dashCSS = `.h{stroke-width:2}.q,.o{stroke-width:1.8;stroke-linecap:round;stroke-dasharray:0 4.2}.o{stroke-dasharray:0 8.4}.s{stroke-width:7.4;stroke-dasharray:7.2 1.2}.a{stroke-dasharray:2.2 2}`

func dashes(cells []uv.Cell, left float64, class string) string {
	r, _ := utf8.DecodeRuneInString(cells[0].Content)
	d, path := rows[r], ""
	right := left + float64(len(cells))*cellW - d.from + 0.1
	for _, y := range d.at {
		path += "M" + num(left+d.from) + " " + num(y) + "H" + num(right)
	}
	return fmt.Sprintf(`<path class="%s %s" d="%s"/>`, class, d.class, path)
}

// boxes draws a stretch of them as one path.
func boxes(cells []uv.Cell, left float64) string {
	var b strings.Builder
	middle := cellH / 2
	for i := 0; i < len(cells); i++ {
		r, _ := utf8.DecodeRuneInString(cells[i].Content)
		x := left + float64(i)*cellW
		if r == '─' { // a long one is one line
			end := i + 1
			for end < len(cells) && cells[end].Content == "─" {
				end++
			}
			fmt.Fprintf(&b, "M%s %sH%s", num(x), num(middle), num(left+float64(end)*cellW))
			i = end - 1
			continue
		}
		b.WriteString(arms(r, x, x+cellW/2, x+cellW, middle))
	}
	return b.String()
}

// corners are rounded.
var corners = map[rune][2]string{'╭': {"r", "d"}, '╮': {"l", "d"}, '╰': {"r", "u"}, '╯': {"l", "u"}}

func arms(r rune, x0, x, x1, y float64) string {
	ends := map[string]string{"l": num(x0) + " " + num(y), "r": num(x1) + " " + num(y), "u": num(x) + " 0", "d": num(x) + " " + num(cellH)}
	if c, ok := corners[r]; ok {
		return "M" + ends[c[0]] + "Q" + num(x) + " " + num(y) + " " + ends[c[1]]
	}
	if r == '┊' {
		return fmt.Sprintf("M%s 1v4m0 3v4m0 3v3", num(x))
	}
	out := ""
	for _, arm := range strings.Split(lines[r]+heavy[r], "") {
		out += "M" + num(x) + " " + num(y) + "L" + ends[arm]
	}
	return out
}

// shades are how much of the ground ░▒▓ cover.
var shades = map[rune]string{'░': ".25", '▒': ".5", '▓': ".75"}

// block draws a stretch of one block element as a rectangle.
func block(cells []uv.Cell, left float64, class string) string {
	r, _ := utf8.DecodeRuneInString(cells[0].Content)
	w, top, h, more := float64(len(cells))*cellW, 0.0, cellH, ""
	switch {
	case shades[r] != "":
		more = ` opacity="` + shades[r] + `"`
	case r >= '▁' && r <= '█':
		h = cellH * float64(r-'▁'+1) / 8
		top = cellH - h
	case r == '▀':
		h = cellH / 2
	case r >= '▉' && r <= '▏': // from the left, seven eighths down to one
		return eachOf(cells, left, cellW*float64('▏'-r+1)/8, 0, class)
	case r == '▐':
		return eachOf(cells, left, cellW/2, cellW/2, class)
	case r == '▖':
		top, h, w = cellH/2, cellH/2, w-cellW/2
	}
	return fmt.Sprintf(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"%s/>`, class, num(left), num(top), num(w), num(h), more)
}

func eachOf(cells []uv.Cell, left, w, shift float64, class string) string {
	out := ""
	for i := range cells {
		out += fmt.Sprintf(`<rect class="%s" x="%s" width="%s" height="%s"/>`, class, num(left+float64(i)*cellW+shift), num(w), num(cellH))
	}
	return out
}
