package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
)

// shown is a frame of what a program writes.
func shown(t *testing.T, text string) frame {
	t.Helper()
	s := vt.NewSafeEmulator(20, 3)
	if _, err := s.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return (&terminal{screen: s, w: 20, h: 3}).look()
}

// wellFormed fails unless a picture is XML, and gives its text.
func wellFormed(t *testing.T, svg string) string {
	t.Helper()
	text := ""
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return text
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if chars, ok := token.(xml.CharData); ok {
			text += string(chars)
		}
	}
}

func TestPictureOfAFrame(t *testing.T) {
	f := shown(t, "\x1b[38;2;1;2;3m╭─ <a&b> ─╮\x1b[0m\r\n│\x1b[7m 여우 \x1b[0m█░▌│")
	svg := still(f, darkPaper)
	text := wellFormed(t, svg)
	for _, want := range []string{"<a&b>", "여", "우"} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture lacks %q:\n%s", want, svg)
		}
	}
	for _, want := range []string{"#010203", "#11151c", "<path", `opacity=".25"`, "<rect"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture lacks %q:\n%s", want, svg)
		}
	}
}

// TestMovingPictureShowsEachRowWhenItIsDue: a row that stays is drawn once, one that
// changes once for each look, and the first frame stands where no motion is wanted.
func TestMovingPictureShowsEachRowWhenItIsDue(t *testing.T) {
	frames := []frame{shown(t, "still\r\nwalk"), shown(t, "still\r\nleap"), shown(t, "still\r\nleap"), shown(t, "still\r\nwalk")}
	svg := moving(frames, 500*time.Millisecond, darkPaper)
	text := wellFormed(t, svg)
	for word, n := range map[string]int{"still": 1, "walk": 2, "leap": 1} {
		if got := strings.Count(text, word); got != n {
			t.Errorf("%q is drawn %d times, want %d", word, got, n)
		}
	}
	for _, want := range []string{".k1-3{animation:k1-3 2s", "25%{visibility:visible}75%{visibility:hidden}", "prefers-reduced-motion"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the style sheet lacks %q:\n%s", want, svg)
		}
	}
}
