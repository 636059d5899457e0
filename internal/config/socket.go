package config

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/farsight-console/farsight/engine/api"
)

// rules reads a list of users and groups. It stays a text: names are looked up
// again at each reload.
func rules(at func(*Config) *string) kind {
	return checked(func(c *Config, v string) error {
		*at(c) = v
		_, err := api.ParseRules(v)
		return err
	})
}

// setSocketGroup takes a group by its name or number. It must be there at the start; who is in it is
// looked up with every connection.
func setSocketGroup(c *Config, v string) error {
	c.SocketGroup = v
	if v == "" {
		return nil
	}
	_, err := api.GroupID(v)
	return err
}

// setSocketPath takes a whole path: a service and the commands that reach it have different working
// directories.
func setSocketPath(c *Config, v string) error {
	c.SocketPath = v
	if v != "" && !filepath.IsAbs(v) {
		return fmt.Errorf("%q is no whole path: write one such as /run/farsight/control.sock", v)
	}
	return nil
}

// runtimeDir is where systemd has made a folder for the service's sockets.
const runtimeDir = "RUNTIME_DIRECTORY"

// GroupSocket is the path of the group's socket; "" = there is none. Its folder is
// never the data directory, which only the owner can enter.
func (c Config) GroupSocket() (string, error) {
	switch {
	// A path alone would be a socket that nobody may enter.
	case c.SocketGroup == "" && c.SocketPath != "":
		return "", Faults{"socket_path is the group's socket: set socket_group, too"}
	case c.SocketGroup == "", c.SocketPath != "":
		return c.SocketPath, nil
	// /run/farsight, say, where the unit has RuntimeDirectory=farsight.
	case os.Getenv(runtimeDir) != "":
		return filepath.Join(os.Getenv(runtimeDir), api.SocketName), nil
	}
	return "", Faults{"socket_group needs socket_path: a path in a folder that the group can enter, such as /run/farsight/control.sock"}
}

// setHTTPListen takes a loopback address, or nothing.
func setHTTPListen(c *Config, v string) error {
	c.HTTPListen = v
	if v == "" {
		return nil
	}
	_, err := api.ParseLoopback(v)
	return err
}

// setHTTPOrigins takes origins as browsers send them.
func setHTTPOrigins(c *Config, v string) error {
	c.HTTPOrigins = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
	for _, o := range c.HTTPOrigins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || o != strings.ToLower(u.Scheme+"://"+u.Host) {
			return fmt.Errorf("%q is no origin of a web page: write one such as https://dash.example.com, without a path", o)
		}
	}
	return nil
}

// Access are the rules of the sockets.
func (c Config) Access() (api.Access, error) {
	// They were read once by Load; a group may have been deleted since.
	viewers, err := api.ParseRules(c.Viewers)
	if err != nil {
		return api.Access{}, Faults{"viewers: " + err.Error()}
	}
	operators, err := api.ParseRules(c.Operators)
	if err != nil {
		return api.Access{}, Faults{"operators: " + err.Error()}
	}
	return api.Access{Owner: uint32(os.Geteuid()), Viewers: viewers, Operators: operators}, nil
}

// Keeps reports whether the engine shall outlive its console's terminal.
func (c Config) Keeps(ssh bool) bool {
	return c.KeepRunning == "true" || c.KeepRunning == "auto" && ssh
}
