package riot

import (
	"net"
	"testing"

	"github.com/farsight-console/farsight/riot/limit"
)

// A client knocks where its calls go: at the host, or at the proxy before it.
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
		base, proxy string
		want        bool
	}{
		{base: "http://" + there.Addr().String(), want: true},
		{base: "http://" + gone.Addr().String()},
		{proxy: "http://" + there.Addr().String(), want: true},
		{proxy: "socks5://" + there.Addr().String(), want: true},
		{proxy: "http://" + gone.Addr().String()},
	} {
		client, err := New(Options{Keys: &Keys{}, Limiter: LimitedBy(limit.New(limit.Options{})), BaseURL: c.base, Proxy: c.proxy})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Reach(t.Context(), "europe"); (err == nil) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
