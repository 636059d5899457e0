package riot

import (
	"net"
	"testing"

	"github.com/farsight-console/farsight/riot/limit"
)

// A client knocks where its calls go.
func TestReach(t *testing.T) {
	there, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	for _, c := range []struct {
		base string
		want bool
	}{
		{base: "http://" + there.Addr().String(), want: true},
		{base: "http://" + gone.Addr().String()},
	} {
		client, err := New(Options{Keys: &Keys{}, Limiter: LimitedBy(limit.New(limit.Options{})), BaseURL: c.base})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Reach(t.Context(), "europe"); (err == nil) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
