#!/usr/bin/env bash
# Makes what is in docs/ from the program itself: the page of keys from the one table
# of keys, those of settings and commands, the fields of JSON from the types, the pictures from the demo. Needs Go; takes about two minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

go test ./ui/keys -run TestKeysPageIsFresh -update
go test ./internal/config -run TestSettingsPagesAreFresh -update
go test ./internal/app -run 'TestJSONPageIsFresh|TestCommandsPageIsFresh|TestDataPageIsFresh' -update

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -buildvcs=false -o "$work/farsight" .
go -C docs/pictures run . -farsight "$work/farsight" -out "$PWD/docs"
