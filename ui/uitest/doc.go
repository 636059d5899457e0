// Package uitest is a console without an engine: a scripted engine.Console and
// rows that are the same on every run, for tests and pictures of screens.
package uitest
