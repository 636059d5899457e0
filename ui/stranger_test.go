package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/uitest"
)

// toWords goes down a list until the screen says something.
func (d *desk) toWords(words string) {
	d.t.Helper()
	for range 40 {
		if strings.Contains(ansi.Strip(d.m.frame), words) {
			return
		}
		d.press("j")
	}
	d.wants(words)
}

// A stranger asks why this waits, and until when.
func TestStranger_WhyDoesThisWait(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3")
		d.wants("1st in line of its queue. Pacing spreads what is left of 100 per 2 min", "it goes in 41 s.", "would not make it faster")
	})
}

// A stranger asks what failed, and why.
func TestStranger_WhatFailedAndWhy(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3")
		d.wants("DISCARDED  404: Riot does not have it, a retry will not help", "RETRYABLE  back off after 503 ×8, 500 ×1")
	})
}

// A stranger asks whether it will be tried again.
func TestStranger_WillItBeTriedAgain(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3")
		d.toWords("Step 2 of the policy: 1 min")
		d.wants("so it is due at 12:31:47", "If it fails again:", "then it is given up.")
	})
}

// A stranger asks what Riot answered: its headers, and how the body begins.
func TestStranger_WhatDidRiotAnswer(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4", "enter", "v")
		d.wants("headers of the last answer", "X-App-Rate-Limit-Count", "its body begins", "Service unavailable")
	})
}

// A job alone answers the same: why it waits and until when, what failed and why, whether it is
// tried again and when, and what Riot answered.
func TestStranger_OneJobAnswersAll(t *testing.T) {
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.show(inspector.NewJob("j881"))
			d.reads("503 unavailable at 12:30:47. Step 2 of the policy: 1 min, so it is due at 12:31:47.",
				"If it fails again: 12:33:47 +2 min then 12:38:47 +5 min then it is given up.", "500 internal", "RIOT'S ANSWER", "503 · 131 ms · match call to asia")
		})
	}
}

// Retries answer it of all that are tried again.
func TestStranger_RetriesAnswerAll(t *testing.T) {
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.PatchDay(), size[0], size[1], testOptions())
			d.press("4")
			d.reads("LAST ANSWER", "500 internal", "503 unavailable at 12:31:34. Step 1 of the policy: 3 s, so it is due at 12:31:37.", "No room until 12:31:45: 8 s late.", "then it is given up.")
		})
	}
}
