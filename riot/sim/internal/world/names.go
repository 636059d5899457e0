package world

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
)

var (
	// Of a pair such as "Amber Anchor".
	firstWords = []string{"Amber", "Birch", "Cobalt", "Dusty", "Ember", "Frost", "Golden", "Hollow", "Ivory", "Jade",
		"Kindly", "Lunar", "Mossy", "Nimble", "Opal", "Paper", "Quiet", "Russet", "Silent", "Tidal", "Umber", "Velvet", "Wild", "Zen"}
	lastWords = []string{"Anchor", "Badger", "Comet", "Drifter", "Echo", "Falcon", "Glacier", "Heron", "Inkwell", "Jackal",
		"Kestrel", "Lantern", "Magpie", "Nomad", "Otter", "Pilot", "Quill", "Raven", "Sparrow", "Thistle", "Urchin", "Viper", "Walrus", "Yak"}
	// Where players write in another script, two words of it are joined.
	localWords = map[route.Platform][]string{
		route.KR: {"달빛", "여우", "바람", "고양이", "별똥", "구름", "도토리", "새벽"}, route.JP1: {"朝霧", "狐火", "ミカヅキ", "さくら", "雷鳥", "ノラ猫", "銀河", "ほたる"},
		route.TW2: {"北風", "太陽", "山貓", "夜雨", "青竹", "流星", "白鷺", "孤舟"}, route.RU: {"Тихий", "Омут", "Северный", "Ветер", "Лис", "Гроза", "Зима", "Кот"},
		route.SG2: {"แมว", "น้ำเงิน", "เสือ", "ดาว", "ฝน", "ภูเขา", "นก", "ทะเล"}, route.ME1: {"قمر", "الليل", "صقر", "رمال", "ذئب", "نجم", "بحر", "ريح"},
	}
	// What breaks terminals and spreadsheets: a turn of direction, colour, marks on marks, no width, a joined emoji,
	// an 8-bit escape, a formula.
	hostileWords = []string{"abc\u202Eexe.txt", "\x1b[31mred\x1b[0m", "Z\u0351\u0352\u0353\u0354algo", "zero\u200Bwidth", "👩‍👩‍👧‍👦", "\u009bC1", "=1+1"}
)

// strangerName is the name of the n-th player of a platform who has no history here. Some are written
// in the platform's script, a few are hostile.
func strangerName(seed uint64, p route.Platform, n int) string {
	h := keyed.Start(seed).Str("stranger").Str(string(p)).Num(uint64(n))
	if h.Num(1).Below(100) < 2 {
		return hostileWords[h.Num(2).Below(len(hostileWords))]
	}
	if local := localWords[p]; local != nil && h.Num(3).Below(100) < 70 {
		return local[h.Num(4).Below(len(local))] + local[h.Num(5).Below(len(local))]
	}
	return firstWords[h.Num(6).Below(len(firstWords))] + " " + lastWords[h.Num(7).Below(len(lastWords))]
}

// strangerTag tells which stranger it is, so that by-riot-id finds strangers without a table.
func strangerTag(n int) string { return "Q" + strings.ToUpper(strconv.FormatInt(int64(n), 36)) }

func parseStrangerTag(tag string) (n int, ok bool) {
	// "Q5F3" is stranger 7023, in base 36.
	digits, found := strings.CutPrefix(strings.ToUpper(tag), "Q")
	v, err := strconv.ParseInt(digits, 36, 32)
	return int(v), found && err == nil && v >= 0 && v < population
}

// Cut splits a Riot ID at the last #: a hostile name may hold one.
func Cut(id string) (name, tag string) {
	at := strings.LastIndexByte(id, '#')
	if at < 0 {
		return id, ""
	}
	return id[:at], id[at+1:]
}

// fold is the form in which Riot IDs are compared: case, spaces and how a letter with its marks is written do not
// count.
func fold(id string) string {
	return strings.ToLower(strings.ToUpper(norm.NFC.String(strings.ReplaceAll(id, " ", "")))) // by way of upper case: Greek has two small sigmas
}
