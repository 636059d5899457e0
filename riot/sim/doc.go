// Package sim is a simulated Riot Games API, as strict as the real one: it enforces rate limits per key,
// host and method under a chosen window rule, serves seeded players, histories and payloads of every
// recorded shape at real size, and breaks on demand by a scripted fault plan. It counts what a client
// did wrong. Tests, `farsight sim` and `farsight demo` share it.
//
// Rules of the package:
//   - Everything but timing is a pure function of (seed, epoch, id, attempt), from keyed hashes. There is
//     no shared generator, so the order of calls changes nothing.
//   - Time comes from package time alone, and the simulator starts no goroutine: RoundTripper works
//     inside a testing/synctest bubble, and a Sim needs no Close.
//   - A violation is a call that the client's own calls pushed over a limit. Refusals by a fault or by
//     foreign use of the key are counted apart.
//
// Sources of behaviour: Riot's documentation and what its developers have reported; recorded payloads
// for shapes and sizes. Nothing recorded is copied here.
package sim
