package ui

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/ui/uitest"
)

func TestShots(t *testing.T) {
	dir := os.Getenv("SHOTS")
	if dir == "" {
		t.Skip()
	}
	for _, th := range strings.Split(os.Getenv("THEMES"), ",") {
		for _, size := range strings.Split(os.Getenv("SIZES"), ",") {
			var w, h int
			fmt.Sscanf(size, "%dx%d", &w, &h)
			for _, sc := range uitest.Scenes() {
				if !strings.Contains(os.Getenv("SCENES"), sc.Name) {
					continue
				}
				for _, v := range views {
					if o := os.Getenv("ONLY"); o != "" && !strings.Contains(o, v.name) {
						continue
					}
					bubble(t, func(t *testing.T) {
						opt := testOptions()
						opt.Theme = th
						opt.Getenv = trueColor
						if th == "ascii" {
							opt.Theme, opt.Glyphs = "mono", "ascii"
						}
						d := open(t, sc, w, h, opt)
						v.open(d)
						for _, k := range strings.Fields(os.Getenv("PRESS")) {
							d.press(k)
						}
						os.WriteFile(fmt.Sprintf("%s/%s-%s-%s-%s.ans", dir, th, size, sc.Name, v.name), []byte(d.m.frame+"\n"), 0o644)
					})
				}
			}
		}
	}
}
