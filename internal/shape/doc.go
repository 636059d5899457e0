// Package shape holds the tests of how the code is laid out: which folder may import
// which, how far the files of a package are tied to each other, and that every rule of
// docs/behaviour.md has its tests. TestShape tells how large each folder is (-v).
package shape
