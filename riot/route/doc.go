// Package route knows where a Riot call goes: which platforms and regions exist, which host serves
// which endpoint, and which endpoint a path belongs to. It holds tables only and does no I/O.
//
// Sources: the routing table of MingweiSamuel/riotapi-schema (read 2026-04-15) for platforms and
// regions, its OpenAPI file for the paths, and RiotGames/developer-relations#1008 for the merged
// platforms PH2 and TH2, whose old match ids live on.
package route
