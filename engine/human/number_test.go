package human

import "testing"

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(2011), "2,011"}, {Count(123456), "123,456"}, {Count(12_345_678), "12,345,678"},
		{Count(-2011), "-2,011"}, {Count(-999), "-999"}, {Count(-1234567), "-1,234,567"},
		{Brief(999, 3), "999"}, {Brief(1000, 5), "1,000"}, {Brief(1000, 3), "1k"}, {Brief(12_345, 5), "12k"}, {Brief(999_999, 3), "999k"}, {Brief(12_345_678, 3), "12M"},
		{Counted(0, "call", "calls"), "0 calls"}, {Counted(1, "call", "calls"), "1 call"}, {Counted(2011, "call", "calls"), "2,011 calls"},
		{Bytes(1204), "1,204 B"}, {Bytes(41_230), "41 KB"}, {Bytes(3_150_000), "3.1 MB"}, {Bytes(2e9), "2.0 GB"}, {Bytes(-1), "0 B"},
		{Percent(0.152), "15 %"}, {Percent(0.001), "<1 %"}, {Percent(0.999), "99 %"}, {Percent(1), "100 %"}, {Percent(-1), "0 %"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 101: "101st", 111: "111th"} {
		if got := Ordinal(n); got != want {
			t.Errorf("Ordinal(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestChoices(t *testing.T) {
	if Either(true, 1, 2) != 1 || Either(false, 1, 2) != 2 || If(true, "a") != "a" || If(false, "a") != "" {
		t.Error("the wrong one of two")
	}
	if got := List("", "since 14d", "", "no timelines"); got != "since 14d, no timelines" {
		t.Errorf("List says %q", got)
	}
}
