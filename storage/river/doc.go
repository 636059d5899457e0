// Package river carries the calls of a fleet's leader to its members, and orders to the leader. A row
// of River is one call, or one order:
//
//	kind             queue               args
//	farsight.call    call_9c41e07ab2d6f3 {"job": "d1234", "host": "europe", "method": "match-v5.match"}
//	farsight.order   farsight            {"op": "pause", "queue": "ingest.match", …}
//	farsight.trigger farsight            {"riot_id": "Ana#EUW", "platform": "euw1", "cause": "login"}
//
// # Calls
//
// The leader's limiter lets a call go; it is written down within the term, in fs_call, with its row
// of River (Calls). A member begins it at most once, writes it within two seconds or not at all, and
// tells what came back (work.go). From there on the leader goes
// on as if it had made the call itself: what the answer means, and what is stored of it, is its own affair.
// Until it reads the answer, the call is in flight; that of a member that is silent counts when it was
// given up. Who leads next counts all that the terms before have let go (Calls.Inherit).
//
// River ends rows by their id alone, so a worker that was believed dead would end its successor's:
// therefore a row is never tried again, and what may be told is decided by fs_call.
//
// # Orders
//
// The leader alone carries orders out. What is asked of another member it hands on (Give), and any
// program may insert a farsight.trigger in a transaction of its own, with whichever of River's clients.
//
// River's tables are in the schema of the product, beside those of the store, and so in its dumps.
package river
