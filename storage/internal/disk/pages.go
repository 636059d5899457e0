package disk

// Pages are how many rows the loops over large tables take at a time, so that no transaction is
// long. Tests take a few, so that a table of ten rows has several pages.
type Pages struct {
	Scan    int // that one reading transaction goes through
	Load    int // that one reading transaction decodes
	Prune   int // jobs that one transaction removes
	Forget  int // rows that one transaction deletes of an account
	Migrate int // that one step of a migration goes through
	Archive int // matches that are packed and committed together
}

// UsualPages are those of a store whose Options name none.
var UsualPages = Pages{Scan: 2000, Load: 500, Prune: 200, Forget: 200, Migrate: 5000, Archive: 32}
