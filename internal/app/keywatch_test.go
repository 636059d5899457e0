package app

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/ui/cli"
)

const (
	keyOfEnv  = "RGAPI-0e000000-dead-4bad-8bad-00ca9a51b12d"
	keyOfFile = "RGAPI-0f000000-dead-4bad-8bad-00ca9a51b12e"
	keyLater  = "RGAPI-0a000000-dead-4bad-8bad-00ca9a51b12f"
)

// keyRig is `farsight sync` in this process and in virtual time.
type keyRig struct {
	t    *testing.T
	sim  *sim.Sim
	cfg  config.Config
	keys *keyring.Ring
	out  bytes.Buffer
}

// inKeyRig runs a test with a key in the environment and a simulated Riot that
// takes keyOfFile and keyLater, but not keyOfEnv.
func inKeyRig(t *testing.T, matches int, f func(r *keyRig)) {
	dir := filepath.Join(t.TempDir(), "data")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))
		o := quick(player("Ana#EUW", matches))
		o.Limits = limits("10:1")
		r := &keyRig{t: t, sim: sim.New(o)}
		r.sim.SetKey(keyOfEnv, sim.Key{State: sim.KeyUnknown})
		cfg, err := config.Load(config.Inputs{Getenv: func(name string) (string, bool) { return dir, name == "FARSIGHT_DATA_DIR" }})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Platform = "euw1"
		r.cfg = cfg
		env, err := riot.ParseKey(keyOfEnv)
		if err != nil {
			t.Fatal(err)
		}
		r.keys = keyring.Of(env, keyring.Env, filepath.Join(dir, "riot.key"))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		f(r)
	})
}

func (r *keyRig) write(key string) {
	r.t.Helper()
	write(r.t, r.keys.Path(), key+"\n")
}

func (r *keyRig) sync(ctx context.Context) (summaryLine, error) {
	r.t.Helper()
	ask, err := syncOptions{account: "Ana#EUW"}.ask(given{cfg: r.cfg})
	if err != nil {
		r.t.Fatal(err)
	}
	err = newSyncRun(r.cfg, cli.SyncOptions{Account: "Ana#EUW", Ask: ask}, cli.Out{W: &r.out, JSON: true}).own(ctx, role{keys: r.keys, onlyOwn: true, transport: r.sim.RoundTripper()})
	for _, key := range []string{keyOfEnv, keyOfFile, keyLater} {
		if strings.Contains(r.out.String(), key) {
			r.t.Errorf("P-40: the output holds a key")
		}
	}
	return result{stdout: r.out.String()}.summary(r.t), err
}

// A refused key counts as absent: the next source's is used, and nothing is
// charged for the refusals.
func TestARefusedKeyMakesTheNextSourceApply(t *testing.T) {
	inKeyRig(t, 12, func(r *keyRig) {
		r.write(keyOfFile)
		sum, err := r.sync(context.Background())
		if err != nil || sum.Result != "completed" || sum.Matches.Success != 12 {
			t.Errorf("%+v: %v", sum, err)
		}
		if got := r.keys.From(); got != r.keys.Path() {
			t.Errorf("the key is from %q", got)
		}
	})
}

// Refused before its first 200, a sync ends with 1; so it does when every source
// was refused.
func TestASyncRefusedBeforeItsFirstAnswerEnds(t *testing.T) {
	for name, file := range map[string]string{"no other source": "", "both refused": keyOfFile} {
		t.Run(name, func(t *testing.T) {
			inKeyRig(t, 5, func(r *keyRig) {
				if file != "" {
					r.write(file)
					r.sim.SetKey(file, sim.Key{State: sim.KeyUnknown})
				}
				began := time.Now()
				sum, err := r.sync(context.Background())
				if sum.Result != "failed" || exitCode(err) != exitFailed || !strings.Contains(err.Error(), "refuses the API key") {
					t.Errorf("%+v: exit %d: %v", sum, exitCode(err), err)
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// Refused later, it holds, uses up nothing, and goes on within seconds once the
// key file has a key that works.
func TestASyncRefusedLaterWatchesTheConfiguration(t *testing.T) {
	inKeyRig(t, 60, func(r *keyRig) {
		r.sim.SetKey(keyOfEnv, sim.Key{})
		written := make(chan time.Time, 1)
		go func() {
			for r.sim.Stats().Calls < 15 {
				time.Sleep(100 * time.Millisecond)
			}
			r.sim.SetKey(keyOfEnv, sim.Key{State: sim.KeyUnknown})
			time.Sleep(3 * time.Minute)
			r.write(keyLater)
			written <- time.Now()
		}()
		sum, err := r.sync(context.Background())
		if err != nil || sum.Result != "completed" || sum.Matches.Success != 60 {
			t.Errorf("%+v: %v", sum, err)
		}
		if took := time.Since(<-written); took > time.Minute {
			t.Errorf("it ended %v after the key was there", took)
		}
		if r.keys.From() != r.keys.Path() || !strings.Contains(r.out.String(), "NO KEY") {
			t.Errorf("the key is from %q", r.keys.From())
		}
	})
}

// One stray 401 is no reason to leave a key that works.
func TestAStrayRefusalKeepsTheKey(t *testing.T) {
	inKeyRig(t, 12, func(r *keyRig) {
		r.sim.SetKey(keyOfEnv, sim.Key{})
		r.write(keyOfFile)
		id := r.sim.MatchIDs("Ana#EUW")[2]
		if err := r.sim.Inject(sim.Fault{Kind: sim.Status, Status: 401, Match: sim.Match{ID: id, Attempts: 1}}); err != nil {
			t.Fatal(err)
		}
		sum, err := r.sync(context.Background())
		if err != nil || sum.Result != "completed" || r.keys.From() != keyring.Env {
			t.Errorf("%+v: %v; the key is from %q", sum, err, r.keys.From())
		}
	})
}
