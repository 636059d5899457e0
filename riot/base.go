package riot

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/farsight-console/farsight/riot/route"
)

// defaultBaseURL are Riot's own hosts.
const defaultBaseURL = "https://" + placeholder + ".api.riotgames.com"

// placeholder stands in a base URL for the routing value: "euw1", "europe".
const placeholder = "{routing}"

// base is where calls go: a checked base URL without its closing slash.
type base struct {
	text    string
	allowed map[string]bool // scheme://host of every routing value: the key goes nowhere else
}

// ParseBaseURL checks a base URL, as New does. The error says in one sentence what is wrong with it.
func ParseBaseURL(s string) error {
	_, err := parseBase(s)
	return err
}

// parseBase checks a base URL with each routing value put in: an address that is right for europe may be
// another host's for euw1.
func parseBase(s string) (base, error) {
	// Nothing configured means Riot itself; a simulator is "http://127.0.0.1:9000/{routing}".
	if s == "" {
		s = defaultBaseURL
	}
	b := base{text: strings.TrimRight(s, "/"), allowed: map[string]bool{}}
	for _, host := range hosts() {
		u, err := url.Parse(b.expand(host))
		if err != nil {
			return base{}, fmt.Errorf("the base URL cannot be read: write it like %s", defaultBaseURL)
		}
		if err := checkBase(u); err != nil {
			return base{}, err
		}
		// Scheme and host together: a redirect from https to http on the same host is as foreign as another host.
		b.allowed[u.Scheme+"://"+u.Host] = true
	}
	return b, nil
}

// checkBase gives no part of the URL back when it may hold a password.
func checkBase(u *url.URL) error {
	switch {
	case u.User != nil:
		return fmt.Errorf("the base URL holds a user name or password: remove it")
	case u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("the base URL %q must start with https://", u)
	case u.Hostname() == "":
		return fmt.Errorf("the base URL %q names no host", u)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return fmt.Errorf("the base URL %q must end before any ? or #", u)
	case strings.ContainsAny(u.Host+u.Path, "{}"):
		return fmt.Errorf("the base URL %q holds braces: the only placeholder is %s", u, placeholder)
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return fmt.Errorf("the base URL %q would send the API key unencrypted: use https:// (http:// is for this machine only)", u)
	}
	return nil
}

// isLoopback reports whether a host is this machine: a simulator may be spoken to without TLS.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	// 127.0.0.0/8 and ::1; a name that a resolver leads here is not believed.
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// expand puts a routing value in: "europe" gives https://europe.api.riotgames.com.
func (b base) expand(host string) string { return strings.ReplaceAll(b.text, placeholder, host) }

// allows reports whether an address is of one of the hosts that calls may go to.
func (b base) allows(u *url.URL) bool { return b.allowed[u.Scheme+"://"+u.Host] }

// hosts lists every routing value.
func hosts() []string {
	var all []string
	for _, p := range route.Platforms() {
		all = append(all, string(p))
	}
	for _, r := range route.Regions() {
		all = append(all, string(r))
	}
	return all
}
