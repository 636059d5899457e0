package sim

// champion is a playable character with the key that Riot's payloads use.
type champion struct {
	id    int
	name  string
	magic bool // its damage is mostly magic
}

var champions = []champion{
	{266, "Aatrox", false}, {103, "Ahri", true}, {84, "Akali", true}, {12, "Alistar", true}, {32, "Amumu", true},
	{34, "Anivia", true}, {523, "Aphelios", false}, {22, "Ashe", false}, {136, "AurelionSol", true}, {268, "Azir", true},
	{53, "Blitzcrank", true}, {51, "Caitlyn", false}, {164, "Camille", false}, {36, "DrMundo", false}, {245, "Ekko", true},
	{81, "Ezreal", false}, {9, "FiddleSticks", true}, {114, "Fiora", false}, {105, "Fizz", true}, {3, "Galio", true},
	{86, "Garen", false}, {79, "Gragas", true}, {104, "Graves", false}, {39, "Irelia", false}, {24, "Jax", false},
	{202, "Jhin", false}, {222, "Jinx", false}, {145, "Kaisa", false}, {43, "Karma", true}, {38, "Kassadin", true},
	{55, "Katarina", true}, {10, "Kayle", true}, {141, "Kayn", false}, {85, "Kennen", true}, {121, "Khazix", false},
	{96, "KogMaw", false}, {64, "LeeSin", false}, {89, "Leona", true}, {236, "Lucian", false}, {117, "Lulu", true},
	{99, "Lux", true}, {90, "Malzahar", true}, {57, "Maokai", true}, {902, "Milio", true}, {21, "MissFortune", false},
	{82, "Mordekaiser", true}, {950, "Naafiri", false}, {56, "Nocturne", false}, {20, "Nunu", true}, {80, "Pantheon", false},
	{555, "Pyke", false}, {497, "Rakan", true}, {92, "Riven", false}, {13, "Ryze", true}, {360, "Samira", false},
	{147, "Seraphine", true}, {875, "Sett", false}, {98, "Shen", false}, {901, "Smolder", false}, {16, "Soraka", true},
	{50, "Swain", true}, {517, "Sylas", true}, {134, "Syndra", true}, {17, "Teemo", true}, {412, "Thresh", true},
	{18, "Tristana", false}, {77, "Udyr", false}, {110, "Varus", false}, {254, "Vi", false}, {112, "Viktor", true},
	{106, "Volibear", false}, {157, "Yasuo", false}, {777, "Yone", false}, {83, "Yorick", false}, {154, "Zac", true},
	{238, "Zed", false}, {115, "Ziggs", true}, {142, "Zoe", true},
}

var (
	items      = []int{1001, 1018, 1028, 1037, 1042, 1055, 1056, 2031, 2055, 3006, 3009, 3020, 3031, 3036, 3047, 3068, 3071, 3072, 3089, 3094, 3111, 3115, 3116, 3135, 3142, 3153, 3157, 3158, 4645, 6333, 6610, 6653, 6655, 6672, 6676, 6699}
	trinkets   = []int{3340, 3363, 3364}
	arenaItems = []int{223006, 223020, 223031, 223047, 223068, 223072, 223089, 223115, 223153, 226653, 226655, 226672, 447103}
	spells     = []int{4, 14, 12, 7, 11, 3, 6, 21, 1}
	keystones  = []int{8005, 8008, 8010, 8021, 8112, 8128, 8214, 8229, 8230, 8369, 8437, 8439, 8465}
	runes      = []int{8226, 8210, 8237, 8347, 8313, 8009, 8014, 8017, 8126, 8139, 8135, 8446, 8429, 8451, 9103, 9104, 9111}
	styles     = []int{8000, 8100, 8200, 8300, 8400}
)
