// Package river lets the members of a fleet carry out what its leader has claimed. A row of River
// is one attempt:
//
//	kind              queue               args
//	farsight.attempt  call_9c41e07ab2d6f3  {"job": "d1234", "rev": 5}
//
// It is written in the transaction that claims the job, together with the permit of its call, and
// completed in the one that writes the outcome. River ends rows by their id alone, so a worker that
// was believed dead would end its successor's: therefore a row is never tried again, and what may
// be written is decided by the job's revision. Retries, holds and limits stay with the engine.
//
// River's tables are in the schema of the product, beside those of the store, and so in its dumps.
//
// Another program starts a sync by a row of its own, in a transaction of its own, with whichever
// of River's clients:
//
//	kind              queue     args
//	farsight.trigger  farsight  {"riot_id": "Ana#EUW", "platform": "euw1", "cause": "login"}
package river
