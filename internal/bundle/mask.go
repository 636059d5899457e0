package bundle

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot"
)

// masker cuts what must not leave this machine out of text: every API key, the home
// directory's name, and, unless names are kept, who plays. A pseudonym is made with
// a secret that is forgotten with the masker: it stands for one player within a
// bundle, and nobody can try names against it.
type masker struct {
	key    riot.Key
	home   string
	names  bool
	secret []byte
	known  *strings.Replacer // Riot IDs and PUUIDs that the store knows
}

// newMasker draws its secret anew: names of two bundles cannot be laid side by side.
func newMasker(key riot.Key, names bool) *masker {
	m := &masker{key: key, names: names, secret: make([]byte, 32), known: strings.NewReplacer()}
	_, _ = rand.Read(m.secret) // never fails (crypto/rand, Go 1.24)
	// "/" as a home, as of some services, would be in every path.
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		m.home = home
	}
	return m
}

// alias is the pseudonym of an id, whatever its letters' case.
func (m *masker) alias(kind, id string) string {
	// Five bytes tell a few thousand players apart, and fit into a sentence.
	mac := hmac.New(sha256.New, m.secret)
	mac.Write([]byte(strings.ToLower(id)))
	return kind + "-" + hex.EncodeToString(mac.Sum(nil)[:5])
}

// learn reads who the store knows, so that names are found in every text. Names that
// hold spaces or look like words can be found in no other way.
func (m *masker) learn(ctx context.Context, c engine.Console) {
	if m.names {
		return
	}
	ids := map[string]string{}
	for row, err := range engine.Accounts(ctx, c, engine.AccountsQuery{Page: engine.Page{Limit: engine.LargestPage}}) {
		if err == nil {
			m.know(ids, row)
		}
	}
	m.replace(ids)
}

// know notes the forms in which an account may stand in a text.
func (m *masker) know(ids map[string]string, row engine.AccountRow) {
	alias := m.alias("player", row.RiotID) + "#0000"
	for _, form := range []string{row.RiotID, strings.ToLower(row.RiotID), safe.Text(row.RiotID), escapedPath(row.RiotID)} {
		ids[form], ids[quoted(form)] = alias, alias
	}
	if row.PUUID != "" {
		ids[row.PUUID] = m.alias("puuid", row.PUUID)
	}
}

// quoted is a text as our JSON has it, without the quotes.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return strings.Trim(string(safe.JSON(b)), `"`)
}

// escapedPath is a Riot ID as the path of a call has it.
func escapedPath(id string) string {
	name, tag, _ := strings.Cut(id, "#")
	return strings.ReplaceAll(name, " ", "%20") + "/" + tag
}

// replace makes the replacer; longer texts go first, since one name may be the end
// of another.
func (m *masker) replace(ids map[string]string) {
	forms := make([]string, 0, len(ids))
	for form := range ids {
		// Two letters would be found within other words.
		if len(form) > 2 {
			forms = append(forms, form)
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, ids[form])
	}
	m.known = strings.NewReplacer(pairs...)
}

// Forms of what is cut out. Each is made when it is first needed: only one command has a use for them.
var (
	// puuidForm is a PUUID: 78 characters of base64url.
	puuidForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9_-]{70,}`) })
	// namedFields hold text that players chose or that Riot sent: as a whole it says
	// nothing about a fault.
	namedFields = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`("(?:riot_id|game_name|gameName|riotIdGameName|summonerName|tag_line|tagLine|puuid)"\s*:\s*)"((?:[^"\\]|\\.)*)"`)
	})
	// riotIDForm is a Riot ID of somebody the store does not know, after words that may
	// be a part of the name.
	riotIDForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`((?:[^\s"'#:,/\\]+ )*)([^\s"'#:,/\\]+#[\p{L}\p{N}]{2,5})\b`)
	})
	// accountTarget is who a command was about, as its audit entry has it.
	accountTarget = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`("target"\s*:\s*"account )([^"\\]*(?:\\.[^"\\]*)*#[^"\\]*)"`)
	})
	// credentials are a user name and password in a URL.
	credentials = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(://)[^/\s"@]+@`) })
	// excerpt is the start of a body that Riot sent, as an error quotes it.
	excerpt = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`it began (?:\\)?"(?:[^"\\]|\\.)*"?`) })
)

func (m *masker) bytes(body []byte) []byte { return []byte(m.text(string(body))) }

// text masks in an order that matters: what is known by name goes first, and what looks like a name
// last.
func (m *masker) text(s string) string {
	s = credentials().ReplaceAllString(m.key.Redact(s), "$1(cut)@")
	if m.home != "" {
		s = strings.ReplaceAll(s, m.home, "~")
	}
	if m.names {
		return s
	}
	// Names that the store knows are found wherever they stand; the forms below find those of
	// strangers.
	s = m.known.Replace(s)
	s = excerpt().ReplaceAllString(s, "it began (cut)")
	s = accountTarget().ReplaceAllStringFunc(s, func(found string) string {
		part := accountTarget().FindStringSubmatch(found)
		return part[1] + m.once("player", part[2]) + `"`
	})
	s = namedFields().ReplaceAllStringFunc(s, func(found string) string {
		part := namedFields().FindStringSubmatch(found)
		return part[1] + `"` + m.once("player", part[2]) + `"`
	})
	s = riotIDForm().ReplaceAllStringFunc(s, m.stranger)
	return puuidForm().ReplaceAllStringFunc(s, func(found string) string { return m.alias("puuid", found) })
}

// longestName is how many characters the name of a Riot ID has at most.
const longestName = 16

// stranger masks a Riot ID that stands in a sentence. Where its name begins nobody
// can tell, so every word before it goes that may belong to it.
func (m *masker) stranger(found string) string {
	part := riotIDForm().FindStringSubmatch(found)
	if pseudonym().MatchString(part[2]) {
		return found
	}
	name, _, _ := strings.Cut(part[2], "#")
	words := strings.Fields(part[1])
	// How many characters the words before may have, blanks included.
	left := longestName - utf8.RuneCountInString(name)
	for len(words) > 0 {
		left -= utf8.RuneCountInString(words[len(words)-1]) + 1
		if left < 0 {
			break
		}
		words = words[:len(words)-1]
	}
	return strings.Join(append(words, m.once("player", part[2])), " ")
}

// pseudonym is what this file puts in the place of names.
var pseudonym = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:player|puuid)-[0-9a-f]{10}(?:#0000)?$`) })

// once leaves alone what is a pseudonym already.
func (m *masker) once(kind, s string) string {
	if s == "" || pseudonym().MatchString(s) {
		return s
	}
	return m.alias(kind, s) + "#0000"
}
