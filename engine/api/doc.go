// Package api is the control protocol: what a console, a command or a program can
// see and do from another process. It is HTTP with JSON. A Server speaks for an
// engine.Console, a Client is one, so that every screen and every command works
// the same in process and from elsewhere.
//
// Three routes carry the contract: Watch is a stream of frames, one JSON object a
// line, with numbers without a gap; Find and Do are POSTs of a typed envelope.
// Errors are problem details (RFC 9457) that become *engine.Problem again at the
// other end. openapi.json describes every route; a test holds routes and answers
// to it.
//
// The engine never waits for whoever is connected, and fifty who watch are one to it: a
// relay watches on their behalf, encodes each update once and hands all of them the
// same bytes, four to ten times a second by how many they are. A reader that stops
// reading is overtaken, finds a gap and a fresh snapshot when it reads again, and is
// cut off when it has taken no byte for half a minute.
//
// Who asks is told by the kernel on a socket, never by the request: an Access maps
// the peer's credential to a role, and the actor of each command is made of it. Only
// the user whose files the engine works on may name others of its host. Over TCP a
// token lets in; whoever wanted to act and was refused stands in the audit.
//
// To add routes, give Options.Routes more rows; to serve them elsewhere, make
// another Server with a Who of its own.
//
// Begin to read with wire.go, the envelopes and the table of queries, then server.go and routes.go for
// one end and client.go and watch.go for the other. A new query is one row of wire.go's table; a new
// route for programs is one row in the file of what it is about, whose names begin with http_. Text
// goes out as it was received, but for what could harm a terminal, which stands escaped in the JSON.
package api
