// Package ui is the console: one tea.Model over engine.Console, and nothing
// else of the engine. Rows change only when Watch delivers them; a key becomes
// a command, its answer a message, and the screen waits for the fact.
//
// Pages (ui/page) draw and say what keys mean to them; this package owns the
// frame around them, the table of keys, prompts, dialogs, messages, freezing,
// and the terminal itself.
package ui
