package sim

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"slices"

	"github.com/farsight-console/farsight/riot/route"
)

// population is how many strangers live on each platform.
const population = 30_000

// person names a player inside the simulator: account i of the options, or stranger n of a platform.
type person struct {
	stranger bool
	platform uint8 // index in route.Platforms, strangers only
	n        uint32
}

func (p person) pack() uint64 {
	v := uint64(p.n) | uint64(p.platform)<<32
	if p.stranger {
		v |= 1 << 40
	}
	return v
}

func unpack(v uint64) person {
	return person{stranger: v>>40&1 == 1, platform: uint8(v >> 32), n: uint32(v)}
}

func strangerOf(p route.Platform, n int) person {
	return person{stranger: true, platform: uint8(max(0, slices.Index(route.Platforms(), p))), n: uint32(n)}
}

// project encrypts player identities as Riot does: a PUUID is opaque, 78 characters long, and readable
// only under the key project it was made for (developer-relations#471).
type project struct {
	name  string
	block cipher.Block
	seed  uint64
}

const puuidSeal = 0x6661727369676874 // tells a PUUID of ours from noise

func newProject(seed uint64, name string) *project {
	h := start(seed).str("project").str(name)
	var key [16]byte
	binary.LittleEndian.PutUint64(key[:8], uint64(h.num(1)))
	binary.LittleEndian.PutUint64(key[8:], uint64(h.num(2)))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // 16 bytes are always a valid key
	}
	return &project{name, block, uint64(h)}
}

// puuid is the PUUID of p for keys of this project.
func (pr *project) puuid(p person) string {
	var plain, raw [64]byte
	binary.LittleEndian.PutUint64(plain[:8], p.pack())
	binary.LittleEndian.PutUint64(plain[8:16], puuidSeal)
	pr.block.Encrypt(raw[:16], plain[:16])
	r := start(pr.seed).str("puuid").num(p.pack()).stream()
	for i := 16; i < len(raw); i += 8 {
		binary.LittleEndian.PutUint64(raw[i:], r.next())
	}
	return base64.RawURLEncoding.EncodeToString(raw[:])[:78]
}

// person reads a PUUID. ok is false for a malformed one and for one of another project.
func (pr *project) person(puuid string) (p person, ok bool) {
	if len(puuid) != 78 {
		return person{}, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(puuid[:64])
	if err != nil {
		return person{}, false
	}
	var plain [16]byte
	pr.block.Decrypt(plain[:], raw[:16])
	if binary.LittleEndian.Uint64(plain[8:]) != puuidSeal {
		return person{}, false
	}
	p = unpack(binary.LittleEndian.Uint64(plain[:8]))
	return p, pr.puuid(p) == puuid
}
