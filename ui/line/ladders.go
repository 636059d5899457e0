package line

import (
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// ladders reads what a collection is asked for, written as the command takes it: "master+ diamond1 --platform kr,euw1
// --since 14d". What the words mean is for the engine to say.
func (l *line) ladders() (wrong string) {
	ask := &engine.CollectAsk{}
	words := strings.Fields(l.text)
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		flag, is := strings.CutPrefix(word, "--")
		if !is {
			ask.Tiers = append(ask.Tiers, word)
			continue
		}
		flag, value, given := strings.Cut(flag, "=")
		if flag == "no-timelines" {
			ask.Timelines = "none"
			continue
		}
		if !given && len(words) > 0 {
			value, words = words[0], words[1:]
		}
		if wrong := readFlag(ask, flag, value); wrong != "" {
			return wrong
		}
	}
	if len(ask.Platforms) == 0 && l.Platform != "" {
		ask.Platforms = []string{l.Platform}
	}
	if len(ask.Tiers)+len(ask.Named) == 0 {
		return "name tiers and a platform: master+ --platform kr"
	}
	l.c.Collect, l.name = ask, strings.Join(append(ask.Tiers, ask.Named...), " ")+" of "+strings.Join(ask.Platforms, ", ")
	return ""
}

// readFlag puts what stands behind a flag into an ask.
func readFlag(ask *engine.CollectAsk, flag, value string) (wrong string) {
	var err error
	switch flag {
	case "platform":
		ask.Platforms = strings.Split(value, ",")
	case "queue":
		ask.Queue = value
	case "since":
		ask.Since = value
	case "name":
		ask.Name = value
	case "from":
		ask.Named = append(ask.Named, value)
	case "matches":
		ask.Matches, err = strconv.Atoi(value)
	case "priority":
		var n uint64
		n, err = strconv.ParseUint(value, 10, 8)
		ask.Priority = engine.Priority(n)
	case "spread":
		ask.Spread, err = strconv.Atoi(value)
	case "every":
		ask.Every, err = time.ParseDuration(value)
	default:
		return "--" + flag + " is not known here: --platform, --queue, --since, --matches, --every, --priority, --from, --spread, --name, --no-timelines"
	}
	if err != nil || value == "" {
		return "write a value behind --" + flag
	}
	return ""
}
