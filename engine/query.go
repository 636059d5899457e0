package engine

// Query is one of the query types below.
type Query interface{ query() }

// Answer is the answer type that belongs to the query's type.
type Answer any

// Page asks for part of a list.
type Page struct {
	After string `json:"after,omitempty"` // cursor of the page before; "" = the first
	Limit int    `json:"limit,omitempty"` // 0 = 100, at most 500
}
