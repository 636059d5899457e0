package world

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"slices"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
)

// population is how many strangers live on each platform.
const population = 30_000

// Person names a player inside the simulator: account i of the options, or stranger n of a platform.
type Person struct {
	Stranger bool  // one of the crowd, without a history
	platform uint8 // index in route.Platforms, strangers only
	n        uint32
}

// Pack is p as one number.
func (p Person) Pack() uint64 {
	// Number, platform and the mark of a stranger have bits of their own: no two people are packed alike.
	v := uint64(p.n) | uint64(p.platform)<<32
	if p.Stranger {
		v |= 1 << 40
	}
	return v
}

func unpack(v uint64) Person {
	return Person{Stranger: v>>40&1 == 1, platform: uint8(v >> 32), n: uint32(v)}
}

func strangerOf(p route.Platform, n int) Person {
	return Person{Stranger: true, platform: uint8(max(0, slices.Index(route.Platforms(), p))), n: uint32(n)}
}

// Project encrypts player identities as Riot does: a PUUID is opaque, 78 characters long, and readable
// only under the key project it was made for (developer-relations#471).
type Project struct {
	Name string
	// AES under a key that follows from the seed and the name.
	block cipher.Block
	seed  uint64
}

const puuidSeal = 0x6661727369676874 // tells a PUUID of ours from noise

// NewProject makes a project's key of the seed and its name.
func NewProject(seed uint64, name string) *Project {
	h := keyed.Start(seed).Str("project").Str(name)
	var key [16]byte
	binary.LittleEndian.PutUint64(key[:8], uint64(h.Num(1)))
	binary.LittleEndian.PutUint64(key[8:], uint64(h.Num(2)))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // 16 bytes are always a valid key
	}
	return &Project{name, block, uint64(h)}
}

// PUUID is the PUUID of p for keys of this project.
func (pr *Project) PUUID(p Person) string {
	var plain, raw [64]byte
	binary.LittleEndian.PutUint64(plain[:8], p.Pack())
	binary.LittleEndian.PutUint64(plain[8:16], puuidSeal)
	// The first block says who it is and can be read back; what follows is noise, to reach the length of Riot's.
	pr.block.Encrypt(raw[:16], plain[:16])
	r := keyed.Start(pr.seed).Str("puuid").Num(p.Pack()).Stream()
	for i := 16; i < len(raw); i += 8 {
		binary.LittleEndian.PutUint64(raw[i:], r.Next())
	}
	return base64.RawURLEncoding.EncodeToString(raw[:])[:78]
}

// Person reads a PUUID. ok is false for a malformed one and for one of another project.
func (pr *Project) Person(puuid string) (p Person, ok bool) {
	if len(puuid) != 78 {
		return Person{}, false
	}
	// 64 characters are 48 whole bytes; all 78 would end in the middle of one.
	raw, err := base64.RawURLEncoding.DecodeString(puuid[:64])
	if err != nil {
		return Person{}, false
	}
	var plain [16]byte
	pr.block.Decrypt(plain[:], raw[:16])
	if binary.LittleEndian.Uint64(plain[8:]) != puuidSeal {
		return Person{}, false
	}
	p = unpack(binary.LittleEndian.Uint64(plain[:8]))
	// The noise must be right, too: a PUUID with a changed end is nobody's.
	return p, pr.PUUID(p) == puuid
}

// Level is the level of p's account.
func (p Person) Level() int { return keyed.Start(p.Pack()).Str("level").Stream().Low(13, 855) }

// Icon is the number of p's picture.
func (p Person) Icon() int { return keyed.Start(p.Pack()).Str("icon").Below(6900) }

// summonerID is an id as it stood in payloads until July 2025: opaque, useless, 47 characters.
func (p Person) summonerID() string {
	var raw [36]byte
	r := keyed.Start(p.Pack()).Str("summoner").Stream()
	for i := 0; i+8 <= len(raw); i += 8 {
		binary.LittleEndian.PutUint64(raw[i:], r.Next())
	}
	return base64.RawURLEncoding.EncodeToString(raw[:])[:47]
}
