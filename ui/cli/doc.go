// Package cli prints what the list commands show and drives `farsight sync`: it
// asks an engine.Console and writes tables for people or JSON for programs.
// Everything that came from outside is cleaned on its way out.
package cli
