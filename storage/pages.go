package storage

// pages are how many rows the loops over large tables take at a time, so that no transaction is long. Tests take a few, so
// that a table of ten rows has several pages.
type pages struct {
	scan    int // that one reading transaction goes through
	load    int // that one reading transaction decodes
	prune   int // jobs that one transaction removes
	forget  int // rows that one transaction deletes of an account
	migrate int // that one step of a migration goes through
	archive int // matches that are packed and committed together
}

// usualPages are those of a store whose Options name none.
var usualPages = pages{scan: 2000, load: 500, prune: 200, forget: 200, migrate: 5000, archive: 32}
