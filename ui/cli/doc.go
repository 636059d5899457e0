// Package cli prints what the list commands show and drives `farsight sync`: it
// asks an engine.Console and writes tables for people or JSON for programs.
// Everything that came from outside is cleaned on its way out.
//
// A list of rows is a [listing]: the catalogue of its columns, where its rows come from, and what is
// said where there is none. The filter, the order, the limit, JSON and CSV follow from that. What is no
// list of rows is a document, one answer that a function of its own prints. [Out] says where to print
// and how, and is the same for all of them.
//
// Tables are for people and may change. The names in JSON and CSV are for scripts: one may be added,
// none may change or go.
package cli
