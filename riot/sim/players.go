package sim

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/world"
)

// day is a unit of spans.
const day = 24 * time.Hour

// seeded are the known players of a default simulator. They cover the scripts that players use, and
// names that a terminal, a table or a CSV file must survive.
var seeded = []PlayerSpec{
	{RiotID: "Long Haul#SIM", Platform: route.EUW1, Matches: 400, Span: 300 * day},
	{RiotID: "Quiet River#SIM", Platform: route.EUW1, Matches: 12, ShareWith: "Long Haul#SIM", Shared: 4},
	{RiotID: "Old Timer#SIM", Platform: route.EUW1, Matches: 300, Span: 1100 * day},
	{RiotID: "Busy Bee#SIM", Platform: route.NA1, Matches: 879, Span: 700 * day},
	{RiotID: "Full House#SIM", Platform: route.NA1, Matches: 1000, Span: 900 * day},
	{RiotID: "Every Shape#SIM", Platform: route.EUW1, Matches: 18, Span: 60 * day, Shapes: world.AllShapes()},
	{RiotID: "Lost Pages#SIM", Platform: route.NA1, Matches: 40, Missing: 6},
	{RiotID: "Never Played#SIM", Platform: route.EUN1, Unranked: true},
	{RiotID: "Fresh Games#SIM", Platform: route.EUW1, Matches: 30, Grow: time.Minute},
	{RiotID: "Nameless One#SIM", Platform: route.TR1, Matches: 9, Nameless: true},
	{RiotID: "달빛 여우#KR1", Platform: route.KR, Matches: 120},
	{RiotID: "朝霧ノ狐#JP1", Platform: route.JP1, Matches: 64},
	{RiotID: "北風與太陽#TW2", Platform: route.TW2, Matches: 48},
	{RiotID: "Тихий Омут#RU1", Platform: route.RU, Matches: 33},
	{RiotID: "แมวน้ำเงิน#TH2", Platform: route.SG2, Matches: 21},
	{RiotID: "قمر الليل#MENA", Platform: route.ME1, Matches: 25},
	{RiotID: "Ñandú Ágil#LAN", Platform: route.LA1, Matches: 17},
	{RiotID: "Σκιά Νύχτας#EUNE", Platform: route.EUN1, Matches: 28},
	{RiotID: "Trăng Non#VN2", Platform: route.VN2, Matches: 15},
	{RiotID: "👩‍👩‍👧‍👦 clan#EMOJI", Platform: route.OC1, Matches: 8},
	// Hostile ones.
	{RiotID: "abc\u202Etxt.exe#RLO", Platform: route.EUW1, Matches: 7},
	{RiotID: "\x1b[2J\x1b[31mred\x1b]0;owned\x07#ESC", Platform: route.EUW1, Matches: 7},
	{RiotID: "Z\u0351\u0352\u0353\u0354\u0355\u0356a\u0357\u0358\u0359\u035A\u035Blgo#COMB", Platform: route.EUW1, Matches: 7},
	{RiotID: "zero\u200Bwidth\u2066iso\u2069#ZW", Platform: route.EUW1, Matches: 7},
	{RiotID: "\u009b31mC1\u0085#C1", Platform: route.EUW1, Matches: 7},
	{RiotID: "=cmd|' /C calc'!A1#CSV", Platform: route.EUW1, Matches: 7},
	{RiotID: "a/b%2Fc?d#PATH", Platform: route.EUW1, Matches: 7},
	{RiotID: "quo\"te\\back#JSON", Platform: route.EUW1, Matches: 7},
	{RiotID: strings.Repeat("long ", 200) + "#LONG", Platform: route.EUW1, Matches: 7},
}

// DefaultPlayers are the accounts of a simulator that was given none. The seed decides what they
// played, not who they are, so that examples can name them.
func DefaultPlayers(uint64) []PlayerSpec { return append([]PlayerSpec(nil), seeded...) }

// PlayerSpec is a known account and its history.
type PlayerSpec = world.Spec

// Shape is a kind of match payload.
type Shape = world.Shape

// LadderSpec is a ranked queue of a platform with its players.
type LadderSpec = world.LadderSpec
