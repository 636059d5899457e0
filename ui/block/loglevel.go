package block

import (
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// LogLevels are the levels of the log, the least grave first.
var LogLevels = engine.LogLevels()

// UsualLevel is the rank of the least grave level that is shown at first, which is info: debug has
// a record per call.
const UsualLevel = 1

// LevelRank is the place of a level in LogLevels. A level that is not known, as from a newer
// engine, counts as info, so that its records are shown.
func LevelRank(level string) int {
	if rank := engine.LogRank(level); rank >= 0 {
		return rank
	}
	return UsualLevel
}

// LevelSigns are the levels as the log's rows write them, in three letters each.
var LevelSigns = map[string]part.Cell{
	"debug": part.As(themes.Off, "DBG"), "info": part.As(themes.OK, "INF"),
	"warn": part.As(themes.Warn, "WRN"), "error": part.As(themes.Err, "ERR"),
}

// LevelSign is a level as three letters.
func LevelSign(level string) part.Cell {
	if sign, ok := LevelSigns[level]; ok {
		return sign
	}
	return part.Plain(strings.ToUpper(level))
}
