package sim

import (
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/riot/route"
)

// seeded are the known players of a default simulator. They cover the scripts that players use, and
// names that a terminal, a table or a CSV file must survive.
var seeded = []PlayerSpec{
	{RiotID: "Long Haul#SIM", Platform: route.EUW1, Matches: 400, Span: 300 * day},
	{RiotID: "Quiet River#SIM", Platform: route.EUW1, Matches: 12, ShareWith: "Long Haul#SIM", Shared: 4},
	{RiotID: "Old Timer#SIM", Platform: route.EUW1, Matches: 300, Span: 1100 * day},
	{RiotID: "Busy Bee#SIM", Platform: route.NA1, Matches: 879, Span: 700 * day},
	{RiotID: "Full House#SIM", Platform: route.NA1, Matches: 1000, Span: 900 * day},
	{RiotID: "Every Shape#SIM", Platform: route.EUW1, Matches: 18, Span: 60 * day, Shapes: AllShapes()},
	{RiotID: "Lost Pages#SIM", Platform: route.NA1, Matches: 40, Missing: 6},
	{RiotID: "Never Played#SIM", Platform: route.EUN1, Unranked: true},
	{RiotID: "Fresh Games#SIM", Platform: route.EUW1, Matches: 30, Grow: hour / 60},
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

var (
	firstWords = []string{"Amber", "Birch", "Cobalt", "Dusty", "Ember", "Frost", "Golden", "Hollow", "Ivory", "Jade",
		"Kindly", "Lunar", "Mossy", "Nimble", "Opal", "Paper", "Quiet", "Russet", "Silent", "Tidal", "Umber", "Velvet", "Wild", "Zen"}
	lastWords = []string{"Anchor", "Badger", "Comet", "Drifter", "Echo", "Falcon", "Glacier", "Heron", "Inkwell", "Jackal",
		"Kestrel", "Lantern", "Magpie", "Nomad", "Otter", "Pilot", "Quill", "Raven", "Sparrow", "Thistle", "Urchin", "Viper", "Walrus", "Yak"}
	localWords = map[route.Platform][]string{
		route.KR: {"달빛", "여우", "바람", "고양이", "별똥", "구름", "도토리", "새벽"}, route.JP1: {"朝霧", "狐火", "ミカヅキ", "さくら", "雷鳥", "ノラ猫", "銀河", "ほたる"},
		route.TW2: {"北風", "太陽", "山貓", "夜雨", "青竹", "流星", "白鷺", "孤舟"}, route.RU: {"Тихий", "Омут", "Северный", "Ветер", "Лис", "Гроза", "Зима", "Кот"},
		route.SG2: {"แมว", "น้ำเงิน", "เสือ", "ดาว", "ฝน", "ภูเขา", "นก", "ทะเล"}, route.ME1: {"قمر", "الليل", "صقر", "رمال", "ذئب", "نجم", "بحر", "ريح"},
	}
	hostileWords = []string{"abc\u202Eexe.txt", "\x1b[31mred\x1b[0m", "Z\u0351\u0352\u0353\u0354algo", "zero\u200Bwidth", "👩‍👩‍👧‍👦", "\u009bC1", "=1+1"}
)

// strangerName is the name of the n-th player of a platform who has no history here. Some are written
// in the platform's script, a few are hostile.
func strangerName(seed uint64, p route.Platform, n int) string {
	h := start(seed).str("stranger").str(string(p)).num(uint64(n))
	if h.num(1).below(100) < 2 {
		return hostileWords[h.num(2).below(len(hostileWords))]
	}
	if local := localWords[p]; local != nil && h.num(3).below(100) < 70 {
		return local[h.num(4).below(len(local))] + local[h.num(5).below(len(local))]
	}
	return firstWords[h.num(6).below(len(firstWords))] + " " + lastWords[h.num(7).below(len(lastWords))]
}

// strangerTag tells which stranger it is, so that by-riot-id finds strangers without a table.
func strangerTag(n int) string { return "Q" + strings.ToUpper(strconv.FormatInt(int64(n), 36)) }

func parseStrangerTag(tag string) (n int, ok bool) {
	digits, found := strings.CutPrefix(strings.ToUpper(tag), "Q")
	v, err := strconv.ParseInt(digits, 36, 32)
	return int(v), found && err == nil && v >= 0 && v < population
}

// cutRiotID splits at the last #: a hostile name may hold one.
func cutRiotID(id string) (name, tag string) {
	at := strings.LastIndexByte(id, '#')
	if at < 0 {
		return id, ""
	}
	return id[:at], id[at+1:]
}

// foldRiotID is the form in which Riot compares Riot IDs: case and spaces do not count.
func foldRiotID(id string) string {
	return strings.ToLower(strings.ToUpper(strings.ReplaceAll(id, " ", ""))) // by way of upper case: Greek has two small sigmas
}
