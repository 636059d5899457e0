package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
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
		d.wants("1st in line. It goes in 41 s", "spread what is left of 100 per 2 min", "would not make it faster")
	})
}

// A stranger asks what failed, and why.
func TestStranger_WhatFailedAndWhy(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3")
		d.wants("DISCARDED  404 not found (final)", "RETRYABLE  back off after 503 ×8, 500 ×1")
	})
}

// A stranger asks whether it will be tried again.
func TestStranger_WillItBeTriedAgain(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3")
		d.toWords("Step 2 of the policy: 60 s")
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
