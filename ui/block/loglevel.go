package block

import (
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// LogLevels are the levels, the least grave first.
var LogLevels = engine.LogLevels()

// UsualLevel is what the screen begins with: debug has a record per call.
const UsualLevel = 1

// LevelRank is where a level stands; one that is not known counts as info.
func LevelRank(level string) int {
	if rank := engine.LogRank(level); rank >= 0 {
		return rank
	}
	return UsualLevel
}

// LevelSigns are the levels as the log writes them.
var LevelSigns = map[string]part.Cell{
	"debug": part.As(themes.Off, "DBG"), "info": part.As(themes.OK, "INF"), "warn": part.As(themes.Warn, "WRN"), "error": part.As(themes.Err, "ERR"),
}

// LevelSign is a level as three letters.
func LevelSign(level string) part.Cell {
	if sign, ok := LevelSigns[level]; ok {
		return sign
	}
	return part.Plain(strings.ToUpper(level))
}
