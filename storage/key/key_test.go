package key

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestStringsKeepTheirOrder(t *testing.T) {
	sorted := [][]string{
		{""},
		{"", ""},
		{"", "a"},
		{"\x00"},
		{"\x00", "z"},
		{"\x00\x00"},
		{"\x00\x01"},
		{"\x00\xff"},
		{"\x01"},
		{"a"},
		{"a", ""},
		{"a", "b"},
		{"a\x00"},
		{"a\x00b"},
		{"a:b"},
		{"ab"},
		{"b"},
		{"\xff"},
		{"\xff\xff"},
	}
	for i := 1; i < len(sorted); i++ {
		if a, b := Strings(sorted[i-1]...), Strings(sorted[i]...); bytes.Compare(a, b) >= 0 {
			t.Errorf("%q (% x) is not before %q (% x)", sorted[i-1], a, sorted[i], b)
		}
	}
}

func TestTimesKeepTheirOrderInEveryZone(t *testing.T) {
	seoul := time.FixedZone("KST", 9*3600)
	instants := []time.Time{
		{},
		time.UnixMilli(-1),
		time.UnixMilli(0),
		time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 11, 1, 9, 0, 0, int(time.Millisecond), seoul),
		time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	for i, at := range instants {
		if a, b := AppendTime(nil, at), AppendTime(nil, at.In(seoul)); !bytes.Equal(a, b) {
			t.Errorf("P-08: %v has another key in another zone", at)
		}
		r := Read(appendTimeDesc(AppendTime(nil, at), at))
		if up, down := r.Time(), r.TimeDesc(); up.UnixMilli() != at.UnixMilli() || down.UnixMilli() != at.UnixMilli() || r.Done() != nil {
			t.Errorf("%v reads back as %v and %v", at, up, down)
		}
		if i == 0 {
			continue
		}
		before := instants[i-1]
		if bytes.Compare(AppendTime(nil, before), AppendTime(nil, at)) >= 0 {
			t.Errorf("ascending: %v is not before %v", before, at)
		}
		if bytes.Compare(appendTimeDesc(nil, before), appendTimeDesc(nil, at)) <= 0 {
			t.Errorf("descending: %v is not after %v", before, at)
		}
	}
}

// element is one typed part of a tuple; tuples of one shape are compared.
type element struct {
	text string
	num  int64
}

func (e element) append(kind byte, b []byte) []byte {
	switch kind {
	case 's':
		return AppendString(b, e.text)
	case 'n':
		return appendInt64(b, e.num)
	case 'u':
		return AppendUint64(b, uint64(e.num))
	case 't':
		return AppendTime(b, time.UnixMilli(e.num))
	default:
		return appendTimeDesc(b, time.UnixMilli(e.num))
	}
}

func compare(kind byte, a, b element) int {
	switch kind {
	case 's':
		return cmp.Compare(a.text, b.text)
	case 'u':
		return cmp.Compare(uint64(a.num), uint64(b.num))
	case 'd':
		return cmp.Compare(b.num, a.num)
	default:
		return cmp.Compare(a.num, b.num)
	}
}

func TestP08_TuplesNeverCollideAndKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.SampledFrom([]byte("snutd")), 1, 4).Draw(t, "shape")
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune{0, 1, 'a', 0xFF}), 0, 4, -1))
		draw := func(name string) (tuple []element, k []byte) {
			for _, kind := range shape {
				e := element{text: text.Draw(t, name), num: rapid.Int64Range(-1e15, 1e15).Draw(t, name)}
				tuple, k = append(tuple, e), e.append(kind, k)
			}
			return tuple, k
		}
		a, ka := draw("a")
		b, kb := draw("b")
		want := 0
		for i, kind := range shape {
			if want = compare(kind, a[i], b[i]); want != 0 {
				break
			}
		}
		if got := bytes.Compare(ka, kb); got != want {
			t.Fatalf("shape %s: %v and %v compare %d, their keys %d", shape, a, b, want, got)
		}
	})
}

func FuzzStringTuples(f *testing.F) {
	f.Add("match", "EUW1_1", "match:", "EUW1_1")
	f.Add("a\x00", "b", "a", "\x00b")
	f.Add("", "", "", "\x00")
	f.Add("\x00\x01", "", "", "\x01")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		left, right := []string{a, b}, []string{c, d}
		kl, kr := Strings(left...), Strings(right...)
		if got, want := bytes.Compare(kl, kr), slices.Compare(left, right); got != want {
			t.Fatalf("P-08: %q and %q compare %d, their keys %d", left, right, want, got)
		}
		r := Read(kl)
		if x, y := r.String(), r.String(); x != a || y != b || r.Done() != nil {
			t.Fatalf("%q reads back as %q, %q (%v)", left, x, y, r.Done())
		}
		if three := Strings(a, b, c); bytes.Equal(three, kl) || !bytes.HasPrefix(three, kl) {
			t.Fatalf("P-08: a longer tuple must extend the key of the shorter one")
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("s"), []byte("a\x00\x01"))
	f.Add([]byte("un"), []byte("1234567812345678"))
	f.Add([]byte("td"), []byte("1234567\x00\xff"))
	f.Fuzz(func(t *testing.T, shape, k []byte) {
		r, again := Read(k), []byte(nil)
		for _, kind := range shape {
			switch kind % 4 {
			case 0:
				again = AppendString(again, r.String())
			case 1:
				again = AppendUint64(again, r.Uint64())
			case 2:
				again = AppendTime(again, r.Time())
			case 3:
				again = appendTimeDesc(again, r.TimeDesc())
			}
		}
		err := r.Done()
		if err == nil && !bytes.Equal(again, k) {
			t.Fatalf("% x reads as a key that is written % x", k, again)
		}
		if err != nil && !errors.Is(err, errMalformed) {
			t.Fatalf("error %v is not errMalformed", err)
		}
	})
}

func TestReaderRefusesWhatIsNoKey(t *testing.T) {
	cases := map[string]struct {
		key  []byte
		read func(*Reader)
	}{
		"short number":    {[]byte{1, 2, 3}, func(r *Reader) { r.Uint64() }},
		"endless string":  {[]byte("abc"), func(r *Reader) { _ = r.String() }},
		"cut terminator":  {[]byte("abc\x00"), func(r *Reader) { _ = r.String() }},
		"unknown escape":  {[]byte("abc\x00\x02"), func(r *Reader) { _ = r.String() }},
		"bytes left over": {Strings("a", "b"), func(r *Reader) { _ = r.String() }},
		"fault sticks":    {[]byte{1}, func(r *Reader) { r.Time(); r.TimeDesc(); r.Int64(); _ = r.String() }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := Read(c.key)
			c.read(r)
			if err := r.Done(); !errors.Is(err, errMalformed) {
				t.Errorf("got %v, want errMalformed", err)
			}
			if r.More() {
				t.Error("More after a fault")
			}
		})
	}
}

func TestNextEndsARange(t *testing.T) {
	cases := []struct{ prefix, want []byte }{
		{[]byte("a"), []byte("b")},
		{[]byte{1, 0xFF}, []byte{2}},
		{[]byte{0xFF}, nil},
		{nil, nil},
	}
	for _, c := range cases {
		if got := Next(c.prefix); !bytes.Equal(got, c.want) {
			t.Errorf("Next(% x) = % x, want % x", c.prefix, got, c.want)
		}
	}
}
