// Package pager tells people about Farsight's own alerts, and programs about what
// Farsight has done. Everything it sends is a job: stored before it is sent,
// retried by a policy's table, shown, retried and cancelled like any other.
//
//	alert.call      a telephone call through Twilio's Calls API, policy `call`
//	alert.webhook   a notice to a webhook: generic signed, Discord, PagerDuty
//	alert.command   a notice to a local program
//	event.webhook   how a sync ended and report.built, signed
//
// # Calls
//
// One attempt is one call with its own sid. It is placed (POST …/Calls.json) and
// followed (GET …/Calls/{sid}.json, every few seconds) until its status is final,
// inside one bounded attempt: following is waiting, it costs no attempt, and no
// hold in the job's history. What the status means says the table of
// engine.CallStatus. While calls are followed the engine has as many workers more,
// see Pager.Following.
//
// That no crash places a second call rests on a ledger, a small blob in the store:
// "attempt n of job j is about to call" is saved before the request, the sid as
// soon as it is known. An attempt that a crash has interrupted is not charged, so
// it comes back with the same number, finds the sid and goes on following. Where
// the request went out and no answer was stored, the newest calls of the account
// are looked through for one to this number that is younger than the intent and
// that nobody else has placed: it is adopted. Only when there is none, it is called
// again. One line rings once at a time: the job's lock is the number.
//
// When the attempts of a call are used up, or it can never succeed, the job for the
// next number is inserted in the very transaction that discards it. An alert that
// ends, is acknowledged or silenced cancels its open calls.
//
// # Calls of users' own
//
// A user can ask for a call, too (Place): the same kind, policy and ledger, in the queue
// `calls`, to numbers of the allow list only. Its job keeps no number but a mark of it,
// by which the number is looked for among those that are allowed at the instant of the
// call. How many were asked for today, and with which idempotency keys, is stored in the
// transaction that inserts the job.
//
// # Signed webhooks
//
// A generic webhook and an event are POSTed as JSON with these headers:
//
//	Farsight-Event: alert.fired            what it tells; also "type" in the body
//	Farsight-Delivery: 01J…                the event's id, the same at each attempt
//	Farsight-Timestamp: 1795276800         Unix seconds of this attempt
//	Farsight-Signature: v1=5f2c…           hex HMAC-SHA256 of timestamp + "." + body
//	webhook-id, webhook-timestamp, webhook-signature: the same by Standard Webhooks
//
// Verify shows how a receiver checks them. Each event arrives at least once: drop
// an id that was seen. Deliveries to one URL go one at a time and in order, but one
// that failed does not hold up those behind it: "at" in the body tells the order.
package pager
