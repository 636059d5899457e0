package ui

import (
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// own is a desk on the list of jobs with a command behind W.
func own(t *testing.T, run string, opt Options) *desk {
	t.Helper()
	keys, err := keys.Parse([]byte("[[command]]\nkey = 'I'\non = 'jobs'\nname = 'mine'\nrun = '''" + run + "'''"))
	if err != nil {
		t.Fatal(err)
	}
	opt.Mine.keys, opt.Start = keys, page.ScreenJobs
	return open(t, uitest.Busy(), 120, 40, opt)
}

// A command is asked about, written down by the engine, and runs with the row.
func TestOwnCommands_RunOnTheRowUnderTheCursor(t *testing.T) {
	beside.Store(t, true) // the environment is everybody's: it runs alone
	t.Setenv("SOME_TOKEN", "canary")
	bubble(t, func(t *testing.T) {
		d := own(t, `echo "$FARSIGHT_ID $FARSIGHT_STATE [$SOME_TOKEN]"; grep -c '"id"'; exit 3`, testOptions())
		d.press("I")
		d.wants("Run mine on ", "y run it")
		d.press("y")
		got := d.last()
		if got.Op != engine.OpShell || got.Own == nil || got.Own.Name != "mine" || got.Own.On == "" || got.By.User != "ana" {
			t.Fatalf("%+v", got)
		}
		d.wait(time.Second)
		d.wants("mine failed: exit status 3", got.Own.On+" ", " []", "y close")
		d.press("esc")
	})
}

// A refusal of the engine runs nothing, and neither does a console that may not act.
func TestOwnCommands_AreRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		opt := testOptions()
		opt.ReadOnly = true
		d := own(t, "exit 1", opt)
		d.press("I")
		d.wants("read only")
		opt = testOptions()
		opt.NoOwn = "not over this address"
		d = own(t, "exit 1", opt)
		d.press("I")
		d.wants("not over this address")
		d.none()
	})
}

func TestOwnCommands_TellOnlyWhatIsClean(t *testing.T) {
	env := rowEnv(`{"id":"7","riot_id":"a\u001b[31mb","total":12345678901234567,"won":true,"list":[1],"none":null}`)
	if want := []string{"FARSIGHT_ID=7", "FARSIGHT_RIOT_ID=a‹U+001B›[31mb", "FARSIGHT_TOTAL=12345678901234567", "FARSIGHT_WON=true"}; !slices.Equal(env, want) {
		t.Errorf("%q", env)
	}
	if env := rowEnv(`{"job":{"id":"9"},"attempts":[]}`); !slices.Equal(env, []string{"FARSIGHT_ID=9"}) {
		t.Errorf("%q", env)
	}
	if env := withoutSecrets([]string{"RIOT_API_KEY=x", "my_token=x", "PATH=/bin", "A_SECRET=1"}); !slices.Equal(env, []string{"PATH=/bin"}) {
		t.Errorf("%q", env)
	}
}
