// Farsight is an operator console for people who ingest League of Legends data
// from Riot's API: an engine that keeps accounts in sync under Riot's rate
// limits, and a terminal dashboard that shows why everything is or is not moving.
package main

import (
	"os"

	"github.com/farsight-console/farsight/internal/app"
)

// version is set by the release build, as in 1.2.3.
var version string

func main() { os.Exit(app.Main(version, os.Args[1:])) }
