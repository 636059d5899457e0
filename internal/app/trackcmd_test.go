package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrackFile(t *testing.T) {
	t.Parallel()
	dir, folder := freshDir(t), t.TempDir()
	list := filepath.Join(folder, "list.csv")
	var b strings.Builder
	b.WriteString("\ufeffriot_id,platform,tags\r\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "Player %d#EUW,euw1,pro;eu\n", i)
	}
	b.WriteString("no tag,euw1\nAna#EUW,mars\n\"=cmd#EUW\",\nplayer 7#euw,euw1\nÄnn#KR1,kr,a b\n")
	if err := os.WriteFile(list, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	track := func(args ...string) result {
		return command{args: append([]string{"track", "--data-dir", dir}, args...)}.asked(t)
	}
	res := track("--file", list, "--dry-run")
	if !strings.Contains(res.stdout, "5,001 of 5,005 accounts would be tracked") || !strings.Contains(res.stdout, "210,042 calls") {
		t.Errorf("dry run: %q", res.stdout)
	}
	res = track("--file", list)
	if res.code != exitIncomplete || !strings.Contains(res.stderr, list+".rejects.csv") {
		t.Errorf("exit %d, %q", res.code, res.stderr)
	}
	cost, done := strings.Index(res.stdout, "210,042 calls"), strings.Index(res.stdout, "5,001 of 5,005 accounts tracked")
	if cost < 0 || done < cost || strings.Count(res.stdout, "210,042 calls") != 1 {
		t.Errorf("the cost must come first, once: %q", res.stdout)
	}
	raw, err := os.ReadFile(list + ".rejects.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"line,reason,riot_id", "5002,", "5003,", "5004,", "'=cmd#EUW", "5005,the same account as in line 9,player 7#euw"} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the rejects lack %q:\n%s", want, raw)
		}
	}
	again := track("--file", list)
	if !strings.Contains(again.stdout, "0 of 5,005 accounts tracked, 5,001 already were") {
		t.Errorf("again: %q", again.stdout)
	}
	accounts := command{args: []string{"accounts", "Änn", "--json", "--data-dir", dir}}.asked(t).wants(t, exitDone)
	if !strings.Contains(accounts.stdout, `"tags":["a","b"]`) || !strings.Contains(accounts.stdout, `"tracked":true`) {
		t.Errorf("%s", accounts.stdout)
	}
}

func TestV9a_AnAccountThatIsStoredNeedsNoPlatform(t *testing.T) {
	t.Parallel()
	dir := freshDir(t)
	for _, c := range []struct {
		line string
		code int
		says string
	}{
		{"track Ana#EUW --platform euw1", exitDone, "Ana#EUW is tracked now"},
		{"track Ana#EUW", exitDone, "Ana#EUW"},
		{"track Ana#EUW --platform mars", exitUsage, "unknown platform \"mars\""},
		{"track Ben#KR1", exitUsage, "Ben#KR1 is new here: name its platform, such as kr"},
		{"track Ben#KR1 --platform kr", exitDone, "Ben#KR1 is tracked now"},
	} {
		res := command{args: append(words(c.line), "--data-dir", dir)}.asked(t)
		if res.code != c.code || !strings.Contains(res.stdout+res.stderr, c.says) {
			t.Errorf("%s: exit %d, want %d and %q: %s%s", c.line, res.code, c.code, c.says, res.stdout, res.stderr)
		}
	}
	if res := (command{args: words("trigger Ben#KR1 --data-dir " + freshDir(t))}).asked(t); !strings.Contains(res.stderr, "--platform kr") {
		t.Errorf("%s", res.stderr)
	}
}

func TestTrackWithTagsAndPolicy(t *testing.T) {
	t.Parallel()
	dir, korean := freshDir(t), filepath.Join(t.TempDir(), "korean.csv")
	write(t, korean, "\xb4\xde\xba\xfb#KR1,kr\n") // 달빛#KR1, as Excel saves it in Korea
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"Ana#EUW", "--platform", "euw1", "--tag", "pro", "--policy", "queues=420 cadence=6h"}, exitDone, "Ana#EUW is tracked now"},
		{[]string{"Ana#EUW", "--platform", "euw1", "--tag", "pro", "--policy", "queues=420 cadence=6h"}, exitDone, "already"},
		{[]string{"--tag", "pro", "--policy", "timelines=none"}, exitDone, "accounts tagged pro"},
		{[]string{"--tag", "pro"}, exitUsage, "--policy"},
		{[]string{"--policy", "queues=solo", "--tag", "pro"}, exitUsage, "queues=420,440"},
		{[]string{"--file", filepath.Join(t.TempDir(), "none.csv")}, exitFailed, "cannot be read"},
		{[]string{"--file", korean}, exitFailed, "save it as UTF-8"},
		{[]string{"--file", "-"}, exitFailed, "names no account"},
		{[]string{"Ana#EUW", "--file", "x"}, exitUsage, "leave out"},
	} {
		res := command{args: append([]string{"track", "--data-dir", dir}, c.args...)}.asked(t).wants(t, c.code)
		if !strings.Contains(res.stdout+res.stderr, c.says) {
			t.Errorf("%v says %q %q, want %q", c.args, res.stdout, res.stderr, c.says)
		}
	}
}

func TestSchedulesCommand(t *testing.T) {
	t.Parallel()
	dir := freshDir(t)
	command{args: []string{"track", "Ana#EUW", "--platform", "euw1", "--data-dir", dir}}.asked(t).wants(t, exitDone)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitDone, "0 */1 * * *"},
		{[]string{"--cron-tz", "Asia/Seoul", "--cron-latest-every", "30 * * * *"}, exitDone, "Asia/Seoul"},
		{[]string{"--pause", "latest", "--reason", "holidays", "--dry-run"}, exitDone, "would pause schedule latest"},
		{[]string{"--pause", "latest", "--reason", "holidays"}, exitDone, "schedule latest is paused"},
		{nil, exitDone, "paused by tester"},
		{[]string{"--resume", "latest"}, exitDone, "schedule latest is running"},
		{[]string{"--run", "latest"}, exitDone, "schedule latest ran: 1 job inserted"},
		{[]string{"--run", "latest"}, exitDone, "the latest sync of Ana#EUW still waits for its turn"},
		{[]string{"--run", "latest", "--sync-enable", "false"}, exitDone, "SYNC_ENABLE"},
		{[]string{"--run", "nope"}, exitFailed, "there is no schedule"},
		{[]string{"--edit", "latest", "--cron", "30 2 * * *", "--zone", "Asia/Seoul", "--dry-run"}, exitDone, "02:30 Asia/Seoul = "},
		{nil, exitDone, "0 */1 * * *  UTC "},
		{[]string{"--edit", "latest", "--cron", "30 2 * * *", "--zone", "Asia/Seoul", "--reason", "nights"}, exitDone, "latest: 30 2 * * * Asia/Seoul (was 0 */1 * * * UTC)"},
		{nil, exitDone, "30 2 * * * (edited by tester, config says 0 */1 * * * UTC)"},
		{[]string{"--cron-latest-every", "45 * * * *"}, exitDone, "config says 45 * * * * UTC"},
		{[]string{"--edit", "latest", "--cron", "61 * * * *"}, exitUsage, `"61" in "61 * * * *" is no minute`},
		{[]string{"--edit", "latest"}, exitUsage, "say when latest runs"},
		{[]string{"--cron", "0 * * * *"}, exitUsage, "name the schedule"},
		{[]string{"--edit", "latest", "--cron", "0 * * * *", "--reset"}, exitUsage, "not both"},
		{[]string{"--edit", "latest", "--reset"}, exitDone, "as the configuration says again: 0 */1 * * * UTC"},
		{[]string{"--run", "latest", "--pause", "latest"}, exitUsage, "one of"},
		{[]string{"--cron-latest-every", "often"}, exitUsage, "cron_latest_every"},
		{[]string{"--schedule-enable", "false", "--json"}, exitDone, `"name":"sweep"`},
	} {
		res := command{args: append([]string{"schedules", "--data-dir", dir}, c.args...)}.asked(t).wants(t, c.code)
		if !strings.Contains(res.stdout+res.stderr, c.says) {
			t.Errorf("%v says %q %q, want %q", c.args, res.stdout, res.stderr, c.says)
		}
	}
}
