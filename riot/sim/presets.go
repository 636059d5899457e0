package sim

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// presetsJSON are scenes of a few faults each, by name, in the form that POST /sim/faults takes. A patch day is as
// reported: leagues empty after a patch (developer-relations#726), 500 for a platform (#1133).
//
//go:embed presets.json
var presetsJSON []byte

var presets = sync.OnceValue(func() map[string][]Fault {
	var all map[string][]Fault
	if err := json.Unmarshal(presetsJSON, &all); err != nil {
		panic("sim: presets.json: " + err.Error())
	}
	return all
})

// Preset is a scene by name, to be injected. The error lists the names.
func Preset(name string) ([]Fault, error) {
	list, ok := presets()[name]
	if !ok {
		return nil, fmt.Errorf("unknown scene %q: use one of %s", name, strings.Join(presetNames(), ", "))
	}
	// A copy: whoever changes a bound of a scene changes it for himself.
	return slices.Clone(list), nil
}

// presetNames lists the scenes.
func presetNames() []string { return slices.Sorted(maps.Keys(presets())) }
