package api

import (
	"context"
	"errors"
	"net/http"
	"os/user"
	"strconv"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
)

func TestAccess(t *testing.T) {
	groups := func(ids ...uint32) func() []uint32 { return func() []uint32 { return ids } }
	a := Access{Owner: 1000, Viewers: []Rule{{ID: 1001}, {ID: 50, Group: true}}, Operators: []Rule{{ID: 1002}, {ID: 60, Group: true}}}
	for name, c := range map[string]struct {
		peer *peer
		want Role
	}{
		"owner":                   {&peer{UID: 1000}, Operator},
		"root":                    {&peer{UID: 0}, Operator},
		"viewer by uid":           {&peer{UID: 1001, Groups: groups()}, Viewer},
		"operator by uid":         {&peer{UID: 1002}, Operator},
		"viewer by group":         {&peer{UID: 7, GID: 50, Groups: groups()}, Viewer},
		"viewer by another group": {&peer{UID: 7, GID: 8, Groups: groups(9, 50)}, Viewer},
		"operator by group":       {&peer{UID: 7, Groups: groups(60, 50)}, Operator},
		"uid like a gid":          {&peer{UID: 60, GID: 8, Groups: groups()}, Stranger},
		"stranger":                {&peer{UID: 7, GID: 8, Groups: groups(9)}, Stranger},
	} {
		if got := a.role(c.peer); got != c.want {
			t.Errorf("%s is %v, want %v", name, got, c.want)
		}
	}
	door := NewDoor(a)
	from := func(p *peer) *http.Request {
		return (&http.Request{}).WithContext(context.WithValue(t.Context(), peerKey{}, p))
	}
	c, err := door.Who(from(&peer{UID: 4242, GID: 8, PID: 17, Groups: groups()}))
	if !errors.Is(err, engine.ErrRefused) || c.Role != Stranger || !strings.Contains(err.Error(), "uid 4242, process 17") {
		t.Errorf("a stranger: %+v %v", c, err)
	}
	if c, err = door.Who(from(&peer{UID: 1001, PID: 17, Groups: groups()})); err != nil || c.Role != Viewer || c.Actor.Via != "socket" || c.Actor.Session != "process 17" {
		t.Errorf("a viewer: %+v %v", c, err)
	}
	if _, err := door.Who(&http.Request{}); err == nil {
		t.Error("a connection without a credential was let in")
	}
}

func TestParseRules(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	uid, _ := strconv.Atoi(me.Uid)
	rules, err := ParseRules(me.Username + ", 1234 @77")
	if err != nil || len(rules) != 3 || rules[0] != (Rule{ID: uint32(uid)}) || rules[1] != (Rule{ID: 1234}) || rules[2] != (Rule{ID: 77, Group: true}) {
		t.Errorf("%+v %v", rules, err)
	}
	if rules, err := ParseRules(" ,"); err != nil || rules != nil {
		t.Errorf("%+v %v", rules, err)
	}
	for _, bad := range []string{"no-such-user-here", "@no-such-group-here", "-1", "4294967296"} {
		if _, err := ParseRules(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
