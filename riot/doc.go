// Package riot is the client of Riot's League of Legends API.
//
// Every call takes one path (Client.do): a permit of the limiter, one exchange over a hardened transport,
// a body read under a limit, a verdict by status code. The client never retries, never follows a redirect
// and never sleeps outside the limiter; what to do about a failure is the engine's business, which it
// reads from Error.Reason.
//
// Rules that hold everywhere in this package:
//   - each permit ends with exactly one of Done, Refund and Lost;
//   - every error is an *Error or the cause of the caller's context;
//   - the API key is put on the request by the last wrapper before the wire, so that no request, error,
//     record or log line of any layer above can hold it;
//   - every byte of an answer is hostile: only status 200 is read as JSON, and only whole.
package riot
