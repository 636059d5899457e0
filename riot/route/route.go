package route

import (
	"fmt"
	"slices"
	"strings"
)

// Platform is a League server, in the lower case that host names use: "euw1".
type Platform string

// Region is a group of platforms that shares one match-v5 host: "europe".
type Region string

// The regions. Account-v1 is offered in the first three only.
const (
	Americas Region = "americas"
	Europe   Region = "europe"
	Asia     Region = "asia"
	Sea      Region = "sea"
)

// The platforms. PH2 and TH2 were merged into SG2 on 2025-01-08: they serve no calls any more, but
// the ids of games played there keep their prefix.
const (
	BR1  Platform = "br1"
	EUN1 Platform = "eun1"
	EUW1 Platform = "euw1"
	JP1  Platform = "jp1"
	KR   Platform = "kr"
	LA1  Platform = "la1"
	LA2  Platform = "la2"
	ME1  Platform = "me1"
	NA1  Platform = "na1"
	OC1  Platform = "oc1"
	PBE1 Platform = "pbe1"
	RU   Platform = "ru"
	SG2  Platform = "sg2"
	TR1  Platform = "tr1"
	TW2  Platform = "tw2"
	VN2  Platform = "vn2"
	PH2  Platform = "ph2"
	TH2  Platform = "th2"
)

// regionOf holds every platform that may stand in front of a match id.
var regionOf = map[Platform]Region{
	NA1: Americas, BR1: Americas, LA1: Americas, LA2: Americas, PBE1: Americas,
	EUW1: Europe, EUN1: Europe, TR1: Europe, RU: Europe, ME1: Europe,
	KR: Asia, JP1: Asia,
	OC1: Sea, SG2: Sea, TW2: Sea, VN2: Sea, PH2: Sea, TH2: Sea,
}

// platforms are those that answer calls, in the order in which they are listed to people.
var platforms = []Platform{
	BR1, EUN1, EUW1, JP1, KR, LA1, LA2, ME1, NA1, OC1, PBE1, RU, SG2, TR1, TW2, VN2,
}

// aliases are the names by which players call the platforms.
var aliases = map[string]Platform{
	"br": BR1, "eune": EUN1, "eun": EUN1, "euw": EUW1, "jp": JP1, "kr1": KR, "korea": KR,
	"lan": LA1, "las": LA2, "me": ME1, "mena": ME1, "na": NA1, "oce": OC1, "oc": OC1,
	"pbe": PBE1, "ru1": RU, "sg": SG2, "tr": TR1, "tw": TW2, "vn": VN2,
	"ph": SG2, "ph2": SG2, "th": SG2, "th2": SG2,
}

// Platforms lists the platforms that answer calls, in alphabetical order.
func Platforms() []Platform { return slices.Clone(platforms) }

// Regions lists the regions of match-v5.
func Regions() []Region { return []Region{Americas, Asia, Europe, Sea} }

// ParsePlatform reads a platform as people write it, in any case: "euw1", "EUW", "kr", "na". The
// merged platforms ph2 and th2 give SG2, which serves their players today. The error names the valid ones.
func ParsePlatform(s string) (Platform, error) {
	word := strings.ToLower(strings.TrimSpace(s))
	if p := Platform(word); slices.Contains(platforms, p) {
		return p, nil
	}
	if p, ok := aliases[word]; ok {
		return p, nil
	}
	if slices.Contains(Regions(), Region(word)) {
		return "", fmt.Errorf("%q is a region, not a platform: name one of its platforms: %s", s, list(platformsIn(Region(word))))
	}
	return "", fmt.Errorf("unknown platform %q: use one of %s", clip(s), list(platforms))
}

// Likely is the platform that the tag of a Riot ID suggests, as #KR1 does; EUW1 where it suggests none. A tag
// is chosen freely, so it is a word to offer and never one to act on.
func Likely(riotID string) Platform {
	p, err := ParsePlatform(riotID[strings.LastIndexByte(riotID, '#')+1:])
	if err != nil {
		return EUW1
	}
	return p
}

// Region is the match-v5 host for games of p; empty for an unknown platform.
func (p Platform) Region() Region { return regionOf[p] }

// AccountRegion is the account-v1 host to ask about players of p. Any of the three knows every account;
// this is the nearest. Account-v1 is not offered in sea, asia serves it.
func (p Platform) AccountRegion() Region { return p.Region().Account() }

// Account is the account-v1 host for r: r itself, but asia for sea.
func (r Region) Account() Region {
	if r == Sea {
		return Asia
	}
	return r
}

// Serves reports whether host is a routing value that answers calls: a platform or a region.
func Serves(host string) bool {
	return slices.Contains(platforms, Platform(host)) || slices.Contains(Regions(), Region(host))
}

// OfMatch is the platform on which a match was played, from the prefix of its id ("EUW1_7261321891").
// It checks the form of the id; prefixes of merged platforms (PH2, TH2) are known.
func OfMatch(id string) (Platform, error) {
	if !isMatchID(id) {
		return "", fmt.Errorf("%q is not a match id: expected a platform and a number, such as EUW1_7261321891", clip(id))
	}
	// "EUW1_7261321891" was played on euw1.
	prefix, _, _ := strings.Cut(id, "_")
	p := Platform(strings.ToLower(prefix))
	if _, known := regionOf[p]; !known {
		return "", fmt.Errorf("match id %q names no platform we know: expected one of %s before the underscore", clip(id), list(platforms))
	}
	return p, nil
}

// MatchRegion is the match-v5 host that has the match. Asking another region gives 404, or an empty
// list: never an error that would show the mistake.
func MatchRegion(id string) (Region, error) {
	p, err := OfMatch(id)
	return p.Region(), err
}

func platformsIn(r Region) []Platform {
	return slices.DeleteFunc(Platforms(), func(p Platform) bool { return p.Region() != r })
}

// isMatchID reports whether id has the form of a match id, of a platform that we know or not.
func isMatchID(id string) bool {
	prefix, number, found := strings.Cut(id, "_")
	return found && isPrefix(prefix) && isNumber(number)
}

func isPrefix(s string) bool {
	other := func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') }
	return s != "" && len(s) <= 8 && strings.IndexFunc(s, other) < 0
}

// isNumber: a game number is an unsigned integer of up to 20 digits.
func isNumber(s string) bool {
	notDigit := func(r rune) bool { return r < '0' || r > '9' }
	return s != "" && len(s) <= 20 && strings.IndexFunc(s, notDigit) < 0
}

func list(ps []Platform) string {
	words := make([]string, len(ps))
	for i, p := range ps {
		words[i] = string(p)
	}
	return strings.Join(words, ", ")
}

// clip keeps what a person typed short enough for one line of a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
