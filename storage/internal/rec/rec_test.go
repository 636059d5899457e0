package rec_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/storage/internal/rec"
)

const format = 7

var seed = rec.TableSeed("jobs")

// seal seals what fill writes.
func seal(k []byte, format byte, fill func(*rec.Coder)) []byte {
	c := rec.Write(nil, format)
	fill(&c)
	v, err := seed.Seal(k, &c)
	if err != nil {
		panic(err)
	}
	return v
}

func sealed(k []byte, fill func(*rec.Coder)) []byte { return seal(k, format, fill) }

func text(s string) func(*rec.Coder) { return func(c *rec.Coder) { c.Str(&s) } }

// all is a field of each kind.
type all struct {
	I      int
	I64    int64
	U      uint64
	U32    uint32
	S      string
	List   []string
	At     time.Time
	Never  time.Time
	D      time.Duration
	Yes    bool
	A, B   bool
	Raw    []byte
	ByName map[string]string
	Nums   []int
	Told   struct{ Word string }
	Later  int
}

func (a *all) fields(c *rec.Coder) {
	c.Int(&a.I)
	c.Int64(&a.I64)
	c.Uint(&a.U)
	c.Uint32(&a.U32)
	c.Str(&a.S)
	c.Strs(&a.List)
	c.Time(&a.At, &a.Never)
	c.Dur(&a.D)
	c.Bool(&a.Yes)
	c.Flags(&a.A, &a.B)
	c.Bytes(&a.Raw)
	c.Map(&a.ByName)
	rec.List(c, &a.Nums, 1, func(c *rec.Coder, n *int) { c.Int(n) })
	c.JSON(&a.Told)
	if c.More(a.Later != 0) {
		c.Int(&a.Later)
	}
}

func TestP37_RecordsComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := all{
			I: rapid.Int().Draw(t, "int"), I64: rapid.Int64().Draw(t, "int64"), U: rapid.Uint64().Draw(t, "uint"), U32: rapid.Uint32().Draw(t, "uint32"),
			S: rapid.String().Draw(t, "text"), At: time.UnixMilli(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "ms")).UTC(),
			D:   time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "µs")) * time.Microsecond,
			Yes: rapid.Bool().Draw(t, "yes"), A: rapid.Bool().Draw(t, "a"), B: rapid.Bool().Draw(t, "b"), Later: rapid.IntRange(0, 2).Draw(t, "later"),
		}
		// An empty list and none are the same.
		in.List = append([]string(nil), rapid.SliceOf(rapid.String()).Draw(t, "list")...)
		in.Raw = append([]byte(nil), rapid.SliceOf(rapid.Byte()).Draw(t, "raw")...)
		in.Nums = append([]int(nil), rapid.SliceOf(rapid.Int()).Draw(t, "numbers")...)
		if m := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "map"); len(m) > 0 {
			in.ByName = m
		}
		in.Told.Word = "x"
		k := []byte(in.S)
		f, body, err := seed.Open(k, sealed(k, in.fields))
		if err != nil || f != format {
			t.Fatalf("format %d, %v", f, err)
		}
		c := rec.Read(body)
		var out all
		out.fields(&c)
		if err := c.Done(); err != nil || !reflect.DeepEqual(in, out) {
			t.Fatalf("%+v came back as %+v, %v", in, out, err)
		}
	})
}

// The layout is on disk: it stays as it is.
func TestFieldsLieAsTheyAlwaysDid(t *testing.T) {
	v := all{I: -1, I64: 2, U: 300, U32: 4, S: "ab", List: []string{"c"}, At: time.UnixMilli(1), D: time.Millisecond, Yes: true, B: true, Raw: []byte{9}, ByName: map[string]string{"z": "1", "y": "2"}, Nums: []int{5}}
	v.Told.Word = "x"
	_, body, err := seed.Open(nil, sealed(nil, v.fields))
	want := "\x01\x04\xac\x02\x04\x02ab\x01\x01c\x03\x00\xd0\x0f\x01\x02\x01\x09\x02\x01y\x012\x01z\x011\x01\x0a\x0c{\"Word\":\"x\"}"
	if err != nil || string(body) != want {
		t.Errorf("%q, %v", body, err)
	}
}

func TestEveryFlippedBitIsFound(t *testing.T) {
	k := []byte("EUW1_1")
	v := sealed(k, func(c *rec.Coder) { n := -1; text("hello")(c); c.Int(&n) })
	for i := range len(v) * 8 {
		bad := slices.Clone(v)
		bad[i/8] ^= 1 << (i % 8)
		if _, _, err := seed.Open(k, bad); err == nil {
			t.Fatalf("bit %d flipped and nobody saw it", i)
		}
	}
	for n := range len(v) {
		if _, _, err := seed.Open(k, v[:n]); err == nil {
			t.Fatalf("cut to %d bytes and nobody saw it", n)
		}
	}
}

func TestARecordBelongsToItsKeyAndTable(t *testing.T) {
	v := sealed([]byte("a"), text("x"))
	if _, _, err := seed.Open([]byte("b"), v); !errors.Is(err, rec.ErrSum) {
		t.Errorf("under another key: %v", err)
	}
	if _, _, err := rec.TableSeed("other").Open([]byte("a"), v); !errors.Is(err, rec.ErrSum) {
		t.Errorf("in another table: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("k"), sealed([]byte("k"), text("x")))
	f.Add([]byte{}, []byte{1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, k, v []byte) {
		kind, body, err := seed.Open(k, v)
		if err != nil {
			return
		}
		again := seal(k, kind, func(c *rec.Coder) {
			for _, b := range body {
				c.Byte(&b)
			}
		})
		if !bytes.Equal(again, v) {
			t.Fatal("opened, but sealing it again gives other bytes")
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("bisl"), []byte("\x01\x02\x03abc\x01\x00"))
	f.Add([]byte("lllll"), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, shape, body []byte) {
		c := rec.Read(body)
		var v all
		for _, kind := range shape {
			switch kind % 8 {
			case 0:
				c.Flags(&v.A, &v.B)
			case 1:
				c.Int(&v.I)
			case 2:
				if c.Str(&v.S); len(v.S) > len(body) {
					t.Fatal("a string longer than its record")
				}
			case 3:
				if c.Strs(&v.List); len(v.List) > len(body) {
					t.Fatal("more strings than bytes")
				}
			case 4:
				c.Time(&v.At)
			case 5:
				c.Bool(&v.Yes)
			case 6:
				c.Dur(&v.D)
			case 7:
				if c.Map(&v.ByName); len(v.ByName) > len(body) {
					t.Fatal("more names than bytes")
				}
			}
		}
		if err := c.Done(); err != nil && !errors.Is(err, rec.ErrBody) {
			t.Fatalf("%v is not ErrBody", err)
		}
	})
}
