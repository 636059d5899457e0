// Package limit keeps calls to Riot inside the limits that Riot's own headers
// state, without ever causing a 429, and explains every wait it imposes.
//
// # The rule (mode A)
//
// Each call that got a permit is an entry in a log. Of its arrival at the
// server we know only an upper bound: the instant of its answer's first byte.
// Until then it is in flight and its bound is "not yet". A new call may go when,
// for every bucket (N calls per D), fewer than N entries are in flight or have
// bound + D in the future. A new call cannot arrive before now, and everything
// that is no longer counted arrived more than D before now; so no interval of
// length D at the server ever holds more than N calls. That holds for windows
// that start with a first call, for windows aligned to a clock and for sliding
// logs alike: nobody has published which of them Riot uses. The price is one
// answer time per D.
//
// # Mode C
//
// On short, busy windows (500:10) that price is more than a percent. Once a
// bucket has shown three resets that a sliding log cannot show, its server has
// fixed windows, and every answer proves more: a call sent at t and answered
// with count c means that usage is at most c plus our calls that were not yet
// answered at t. One call per window is kept back and sent when the window must
// be over: landing early it is the legal Nth call, landing late it opens the
// next window and its answer frees the rest at once. A 429 of our own making
// ends mode C for the bucket, and a count of one twice within half a window begins its proof anew.
//
// On long windows mode C serves the end: as soon as all calls that are left fit into the present window they
// go at once, whatever pace the calls before them had.
//
// # Pacing
//
// Of n waiting calls, the last can go no earlier than (n-1)/N windows from now
// (whole ones), and only the first (n-1)%N+1 calls of each window must go at
// once to meet that end. They do; the others are spread evenly until the next
// places come free. The end stays as early as with bursts, but something moves
// every few seconds. An entry frees its place D after it was used, so a spread
// reproduces itself in every later window. [Limiter.SetBacklog] tells n.
//
// # Others with the same key
//
// A and C are proofs for a key that this process uses alone. Of others it knows what the server's counts
// show beyond our own: such calls take places like ours, from the answer on that told of them. Where they
// were there in three of the last five windows that the server told of, 1.2 times their largest use is kept
// for them, but at most nine tenths. A 429 beside them is not our counting's fault: it lengthens no window.
// And where nobody is known to use a window one call may always go, so that its answer can end what is kept.
//
// # Limits that nobody states
//
// Until a header has told the limits of a scope one call at a time asks for them. A header that tells
// those of the method alone, or nonsense, leaves a host whose limit is enforced and unknown. From its
// first refusal on it gets one call at a time, and a gap between them that is learnt: of the calls that
// passed before a refusal, in the time until the wait it imposes is over; a quarter shorter after five
// minutes without one. A header that states a limit ends that.
//
// The first limits that are told are used when they are kept ([Options].Keeps): until then one call at a time goes on.
// Else who comes after a kill asks for them by one call beside as many as they allow.
//
// # Operators
//
// An interactive call ignores pacing and goes before bulk calls, which keep at
// least a tenth of the grants. While an operator is at work, bulk calls leave a
// place for him in windows of 10 s and more, unless one comes free within two
// seconds anyway: in a rolling log a place kept back is throughput lost, so it
// is kept only then.
//
// # Ownership
//
// New starts nothing. One mutex guards everything and is never held while
// anybody waits; waiters sleep on a channel and one timer per host wakes the
// scheduler at the computed instant. Times inside are monotonic; wall-clock time
// appears only in what is saved, restored and shown.
package limit
