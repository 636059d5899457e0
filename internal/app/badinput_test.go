package app

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/riot/sim"
)

// wrong is one wrong input: the run must end with the code and one sentence that
// holds the words, and change nothing on disk.
type wrong struct {
	args []string
	env  map[string]string
	code int
	says []string
}

// Every wrong word on the command line and in the environment. None may reach
// Riot: the base URL leads to a port where nobody listens.
func TestBadInput_OneClearSentence(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]wrong{
		"no account":             {args: words("sync"), says: words("Name#TAG")},
		"two accounts":           {args: words("sync a#b c#d"), says: words("Name#TAG")},
		"Riot ID without tag":    {args: words("sync Name --platform euw1"), says: []string{"Name#EUW", "Name"}},
		"Riot ID with no name":   {args: words("sync #EUW --platform euw1"), says: words("name")},
		"Riot ID with escapes":   {args: []string{"sync", "\x1b[31mred", "--platform", "euw1"}, says: words("name")},
		"no platform":            {args: words("sync Name#EUW"), says: words("--platform euw1")},
		"unknown platform":       {args: words("sync Name#EUW --platform mars"), says: words("mars euw1")},
		"region for platform":    {args: words("sync Name#EUW --platform europe"), says: words("europe euw1")},
		"count is a word":        {args: words("sync Name#EUW --platform euw1 --count five"), says: words("--count five whole number")},
		"count without end":      {args: words("sync Name#EUW --platform euw1 --count 99999999999999999999"), says: words("--count too large")},
		"count below zero":       {args: words("sync Name#EUW --platform euw1 --count -3"), says: words("--count -3")},
		"since without unit":     {args: words("sync Name#EUW --platform euw1 --since 30"), says: words("--since 30 90d")},
		"unknown timelines":      {args: words("sync Name#EUW --platform euw1 --timelines some"), says: words("some ranked none")},
		"unknown flag":           {args: words("sync Name#EUW --speedy"), says: words("--speedy --help")},
		"flag without value":     {args: words("sync Name#EUW --platform"), says: words("--platform --help")},
		"unknown command":        {args: words("frobnicate"), says: words("frobnicate --help")},
		"nearly a command":       {args: words("synk Name#EUW"), says: words("synk sync")},
		"transposed letters":     {args: words("snyc Name#EUW"), says: words("snyc sync")},
		"another program's word": {args: words("ls"), says: []string{"no command \"ls\": see"}},
		"too many words":         {args: words("check twice"), says: words("twice")},
		"two filters":            {args: words("jobs a b"), says: words("quotes")},
		"export of nothing":      {args: words("export"), says: words("matches")},
		"export of what is not":  {args: words("export sandwiches"), says: words("sandwiches")},
		"export format":          {args: words("export matches --format xml"), says: words("xml ndjson")},
		"demo speed":             {args: words("demo --headless --speed 0"), says: words("--speed 0")},
		"demo speed, no number":  {args: words("demo --headless --speed NaN"), says: words("--speed NaN")},
		"demo speed, a word":     {args: words("demo --headless --speed fast"), says: words("--speed fast")},
		"demo seed":              {args: words("demo --headless --seed -1"), says: words("--seed -1")},
		"sim limits":             {args: words("sim --limits 20/s"), says: words("20/s 20:1,100:120")},
		"sim limits twice":       {args: words("sim --limits 20:1,30:1"), says: words("1")},
		"sim latency":            {args: words("sim --latency soon"), says: words("soon 60ms,30ms")},
		"sim latency swing":      {args: words("sim --latency 60ms,odd"), says: words("60ms,odd")},
		"sim player":             {args: words("sim --player Heron"), says: words("Heron Name#TAG,platform,matches")},
		"sim player, platform":   {args: words("sim --player Heron#A,mars,4"), says: words("mars")},
		"sim window":             {args: words("sim --window odd"), says: words("odd lazy")},
		"sim epoch":              {args: words("sim --epoch yesterday"), says: words("yesterday 2026-")},
		"sim retention":          {args: words("sim --retention maybe"), says: words("maybe off")},
		"sim speed":              {args: words("sim --speed -1"), says: words("-1")},
		"sim speed, no number":   {args: words("sim --speed NaN --listen 127.0.0.1:0"), says: words("NaN")},
		"sim fault, no number":   {args: words("sim --fault 503,rate=NaN --listen 127.0.0.1:0"), says: words("NaN")},
		"sim fixtures":           {args: words("sim --fixtures /nowhere"), says: words("/nowhere matches/*.json")},
		"sim address":            {args: words("sim --listen 127.0.0.1:99999"), code: exitFailed, says: words("99999 --listen")},
		"track without platform": {args: words("track Name#EUW"), says: words("--platform")},
		"track without tag":      {args: words("track Name --platform euw1"), says: words("Name#EUW")},
		"untrack a stranger":     {args: words("untrack Name#EUW"), code: exitFailed, says: words("Name#EUW")},

		"no key":                {args: words("sync Name#EUW --platform euw1"), env: set("RIOT_API_KEY="), code: exitFailed, says: words("RIOT_API_KEY riot.key farsight")},
		"key with a space":      {args: words("sync Name#EUW --platform euw1"), env: set("RIOT_API_KEY=two words"), code: exitFailed, says: words("RIOT_API_KEY paste")},
		"key file missing":      {args: words("sync Name#EUW --platform euw1 --key-file /nowhere/key"), env: set("RIOT_API_KEY="), code: exitFailed, says: words("/nowhere/key")},
		"key file a directory":  {args: words("sync Name#EUW --platform euw1 --key-file /"), env: set("RIOT_API_KEY="), code: exitFailed, says: words("regular")},
		"base URL of ftp":       {args: words("sync Name#EUW --platform euw1"), env: set("RIOT_BASE_URL=ftp://x"), says: words("base_url RIOT_BASE_URL https://")},
		"base URL unencrypted":  {args: words("sync Name#EUW --platform euw1"), env: set("RIOT_BASE_URL=http://example.com"), says: words("RIOT_BASE_URL https://")},
		"timeout of zero":       {args: words("config"), env: set("RIOT_HTTP_TIMEOUT_MS=0"), says: words("RIOT_HTTP_TIMEOUT_MS 100")},
		"retries below zero":    {args: words("config"), env: set("RIOT_MAX_RETRIES=-1"), says: words("RIOT_MAX_RETRIES -1")},
		"workers beyond 64":     {args: words("config"), env: set("WORKER_CONCURRENCY=65"), says: words("WORKER_CONCURRENCY 64")},
		"workers by its alias":  {args: words("config"), env: set("BULLMQ_CONCURRENCY=zero"), says: words("BULLMQ_CONCURRENCY zero")},
		"ceiling of nothing":    {args: words("config"), env: set("RATE_CEILING=0"), says: words("RATE_CEILING 18/s")},
		"ceiling per hour":      {args: words("config"), env: set("BULLMQ_GLOBAL_RATE=18/h"), says: words("BULLMQ_GLOBAL_RATE 900/m")},
		"retention in words":    {args: words("config"), env: set("RETENTION_MATCHES=forever"), says: words("RETENTION_MATCHES forever")},
		"switch in words":       {args: words("config"), env: set("SYNC_ENABLE=sometimes"), says: words("SYNC_ENABLE true false")},
		"cooldown without unit": {args: words("config"), env: set("SYNC_COOLDOWN=5"), says: words("SYNC_COOLDOWN 5m")},
		"zone that is none":     {args: words("config"), env: set("REPORT_TZ=Mars/Olympus"), says: words("REPORT_TZ Europe/Berlin")},
		"delay table":           {args: words("config"), env: set("FARSIGHT_RETRY_MATCH=30s,,60s"), says: words("FARSIGHT_RETRY_MATCH 30s,60s,120s,300s")},
		"log level":             {args: words("config"), env: set("FARSIGHT_LOG_LEVEL=loud"), says: words("FARSIGHT_LOG_LEVEL debug")},
		"theme":                 {args: words("config"), env: set("FARSIGHT_THEME=beige"), says: words("FARSIGHT_THEME beige dark")},
		"glyphs":                {args: words("config"), env: set("FARSIGHT_GLYPHS=runes"), says: words("FARSIGHT_GLYPHS ascii")},

		"nothing stored, jobs":   {args: words("jobs"), code: exitFailed, says: words("stored --data-dir")},
		"nothing stored, check":  {args: words("check"), code: exitFailed, says: words("stored --data-dir")},
		"nothing stored, export": {args: words("export matches"), code: exitFailed, says: words("stored --data-dir")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := freshDir(t)
			env := map[string]string{"RIOT_API_KEY": canary, "RIOT_BASE_URL": "http://127.0.0.1:1/{routing}", "FARSIGHT_DATA_DIR": dir}
			for k, v := range w.env {
				env[k] = v
			}
			if w.code == 0 {
				w.code = exitUsage
			}
			res := command{args: w.args, env: env}.asked(t).wants(t, w.code)
			oneSentence(t, res.stderr, w.says...)
			if res.stdout != "" {
				t.Errorf("stdout %q", res.stdout)
			}
			if strings.ContainsAny(res.stderr, "\x1b\a") {
				t.Errorf("control characters in %q", res.stderr)
			}
			if _, err := os.Stat(dir); err == nil && w.code == exitUsage {
				t.Errorf("a wrong word made the data directory")
			}
		})
	}
}

// words splits arguments.
func words(s string) []string { return strings.Fields(s) }

// set makes an environment of one variable.
func set(pair string) map[string]string {
	name, value, _ := strings.Cut(pair, "=")
	return map[string]string{name: value}
}

// All that is wrong with a configuration is told at once, each with its source.
func TestBadInput_AllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	dir := freshDir(t)
	write(t, filepath.Join(dir, "config.toml"), "log_level = \"loud\"\nqueue_prefiks = \"x\"\nsync_cooldown = 5\n")
	env := map[string]string{"FARSIGHT_DATA_DIR": dir, "WORKER_CONCURRENCY": "many"}
	res := command{args: []string{"sync", "Name#EUW", "--glyphs", "runes"}, env: env}.run(t).wants(t, exitUsage)
	for _, fault := range []string{
		"5 settings are wrong", `unknown setting "queue_prefiks"`, "log_level (from config.toml)", "sync_cooldown (from config.toml)",
		"worker_concurrency (from WORKER_CONCURRENCY)", "glyphs (from flag --glyphs)",
	} {
		if !strings.Contains(res.stderr, fault) {
			t.Errorf("%q is missing in:\n%s", fault, res.stderr)
		}
	}
	res = command{args: []string{"serve", "--http", "nowhere"}, env: map[string]string{"FARSIGHT_DATA_DIR": freshDir(t)}}.run(t).wants(t, exitUsage)
	if !strings.Contains(res.stderr, "flag --http)") && !strings.Contains(res.stderr, "flag --http:") {
		t.Errorf("a fault of --http reads %q", res.stderr)
	}
	write(t, filepath.Join(dir, "config.toml"), "log_level = \"info\"\nthis is no = = toml\n")
	res = command{args: []string{"config"}, env: map[string]string{"FARSIGHT_DATA_DIR": dir}}.asked(t).wants(t, exitUsage)
	oneSentence(t, res.stderr, "config.toml")
	write(t, filepath.Join(dir, "config.toml"), "[sync]\ncooldown = \"5m\"\n")
	res = command{args: []string{"config"}, env: map[string]string{"FARSIGHT_DATA_DIR": dir}}.asked(t).wants(t, exitUsage)
	oneSentence(t, res.stderr, "config.toml", "sync")
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A key that others may read is no secret any more; a file of our own is taken.
func TestBadInput_KeyFile(t *testing.T) {
	t.Parallel()
	s := startSim(t, quick(player("Key Holder#KEY", 1)))
	for name, c := range map[string]struct {
		text string
		mode fs.FileMode
		code int
		says []string
	}{
		"only mine":     {canary + "\n", 0o600, exitDone, nil},
		"group reads":   {canary + "\n", 0o640, exitFailed, []string{"riot.key", "chmod 600"}},
		"world reads":   {canary + "\n", 0o604, exitFailed, []string{"riot.key", "chmod 600"}},
		"empty":         {"\n", 0o600, exitFailed, []string{"riot.key", "empty"}},
		"a whole novel": {strings.Repeat("key ", 500), 0o600, exitFailed, []string{"riot.key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := freshDir(t)
			path := filepath.Join(dir, "riot.key")
			write(t, path, c.text)
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			cmd := s.sync("Key Holder#KEY", dir)
			delete(cmd.env, "RIOT_API_KEY")
			res := cmd.asked(t).wants(t, c.code)
			if c.code != exitDone {
				oneSentence(t, res.stderr, c.says...)
			}
		})
	}
}

// A directory that another process works on: exit 4, with the holder's pid and
// since when; reading commands among themselves get along.
func TestBadInput_HeldDirectory(t *testing.T) {
	t.Parallel()
	who := player("Holder#HELD", 4)
	s, dir := startSim(t, quick(who)), freshDir(t)
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	letGo := holdDir(t, dir)
	for _, args := range [][]string{
		{"sync", who.RiotID, "--platform", "euw1"}, {"track", who.RiotID, "--platform", "euw1"}, {"untrack", who.RiotID},
		{"jobs"}, {"status"}, {"accounts"}, {"matches"}, {"limits"}, {"retries"}, {"export", "matches"}, {"check"},
	} {
		res := command{args: append(args, "--data-dir", dir), env: s.env()}.asked(t).wants(t, exitHeld)
		oneSentence(t, res.stderr, dir, strconv.Itoa(os.Getpid()), "since 20")
	}
	out := filepath.Join(t.TempDir(), "out.ndjson")
	command{args: []string{"export", "matches", "--out", out, "--data-dir", dir}}.asked(t).wants(t, exitHeld)
	if _, err := os.Stat(out); err == nil {
		t.Error("an export that was refused left a file")
	}
	letGo()
	command{args: []string{"jobs", "--data-dir", dir}}.asked(t).wants(t, exitDone)
}

// damages are ways in which state.db can be unusable.
var damages = map[string]func(t *testing.T, path string){
	"cut short":        func(t *testing.T, path string) { resize(t, path, 20<<10) },
	"cut to one page":  func(t *testing.T, path string) { resize(t, path, 4<<10) },
	"empty":            func(t *testing.T, path string) { write(t, path, "") },
	"a text file":      func(t *testing.T, path string) { write(t, path, strings.Repeat("Dear diary, ", 4000)) },
	"meta overwritten": func(t *testing.T, path string) { patch(t, path, 0, make([]byte, 8192)) },
	"another database": func(t *testing.T, path string) {
		_ = os.Remove(path)
		edit(t, path, func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("groceries")); return err })
	},
	"newer schema": func(t *testing.T, path string) { edit(t, path, newerSchema) },
}

func resize(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func patch(t *testing.T, path string, at int64, with []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(with, at)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, path string, change func(*bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err == nil {
		err = errors.Join(db.Update(change), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// newerSchema writes a schema version from the future, framed as records are: a
// format byte, the number, and a CRC-32C over table, key and both.
func newerSchema(tx *bolt.Tx) error {
	table, key := []byte("meta"), []byte("schema")
	b := tx.Bucket(table)
	old := b.Get(key)
	if len(old) != 6 {
		return errors.New("the schema record has another form now")
	}
	framed := []byte{old[0], 99}
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Update(crc32.Checksum(table, castagnoli), castagnoli, key), castagnoli, framed)
	return b.Put(key, binary.LittleEndian.AppendUint32(framed, sum))
}

// A store that cannot be trusted is refused by every command with its path, and
// not a byte of it is changed.
func TestBadInput_DamagedStore(t *testing.T) {
	t.Parallel()
	who := player("Whole#DAMAGE", 3)
	s := startSim(t, quick(who))
	model := freshDir(t)
	s.sync(who.RiotID, model).run(t).wants(t, exitDone)
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := freshDir(t)
			if err := os.CopyFS(dir, os.DirFS(model)); err != nil {
				t.Fatal(err)
			}
			_ = os.Chmod(dir, 0o700)
			path := filepath.Join(dir, "state.db")
			damage(t, path)
			before := sums(t, dir)
			for _, args := range [][]string{{"check"}, {"sync", who.RiotID, "--platform", "euw1", "--force"}, {"jobs"}, {"export", "matches"}, {"track", who.RiotID, "--platform", "euw1"}} {
				res := command{args: append(args, "--data-dir", dir), env: s.env()}.asked(t).wants(t, exitIncomplete)
				if !strings.Contains(res.stderr, path) {
					t.Errorf("%v does not name the file: %q", args, res.stderr)
				}
				if args[0] != "check" {
					oneSentence(t, res.stderr, path)
				}
			}
			if after := sums(t, dir); after[path] != before[path] || len(after) != len(before) {
				t.Errorf("state.db was changed, or files came or went: %d before, %d after", len(before), len(after))
			}
		})
	}
}

// sums are the checksums of the files of a directory. The lock says who was here
// last and the log grows; all else must stand still.
func sums(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "farsight.lock" || d.Name() == "farsight.log" {
			return err
		}
		raw, err := os.ReadFile(path)
		out[path] = sha256.Sum256(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// One flipped byte in a payload is found by check, named, and left alone.
func TestBadInput_DamagedPayload(t *testing.T) {
	t.Parallel()
	who := player("Flipped#DAMAGE", 6)
	s := startSim(t, quick(who))
	dir := freshDir(t)
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	shards, err := filepath.Glob(filepath.Join(dir, "payload", "*.db"))
	if err != nil || len(shards) == 0 {
		t.Fatalf("no shards: %v", err)
	}
	edit(t, shards[0], func(tx *bolt.Tx) error { return flipOne(tx) })
	before := sums(t, dir)
	res := command{args: []string{"check", "--data-dir", dir}}.asked(t).wants(t, exitIncomplete)
	if !strings.Contains(res.stdout+res.stderr, "EUW1_") {
		t.Errorf("the damaged payload is not named: %q %q", res.stdout, res.stderr)
	}
	if after := sums(t, dir); after[shards[0]] != before[shards[0]] {
		t.Error("check changed a shard")
	}
	// A list does not fall over it, and the export names what it could not read.
	command{args: []string{"matches", "--data-dir", dir}}.asked(t).wants(t, exitDone)
	res = command{args: []string{"export", "matches", "--payload", "--data-dir", dir}}.asked(t)
	if res.code == exitDone || !strings.Contains(res.stderr, "EUW1_") {
		t.Errorf("export of a damaged payload: exit %d, %q", res.code, res.stderr)
	}
}

// B-17c: a damaged payload is told on its row once somebody has met it, and is fetched again by a forced sync, and
// by the engine that runs after check --repair.
func TestB17c_ADamagedPayloadIsFetchedAgain(t *testing.T) {
	t.Parallel()
	who := player("Flipped#AGAIN", 3)
	s, dir := startSim(t, quick(who)), freshDir(t)
	s.sync(who.RiotID, dir, "--timelines", "none").run(t).wants(t, exitDone)
	shards, err := filepath.Glob(filepath.Join(dir, "payload", "*.db"))
	if err != nil || len(shards) == 0 {
		t.Fatalf("no shards: %v", err)
	}
	flip := func() { edit(t, shards[0], flipOne) }
	check := func(code int, args ...string) string {
		t.Helper()
		return command{args: append([]string{"check", "--data-dir", dir}, args...)}.asked(t).wants(t, code).stdout
	}
	flip()
	s.sync(who.RiotID, dir, "--timelines", "none", "--force").run(t).wants(t, exitDone)
	check(exitDone)

	flip()
	if said := check(exitDone, "--repair"); !strings.Contains(said, "1 payload is fetched again when an engine runs") {
		t.Errorf("check --repair said %q", said)
	}
	d := s.serving(t, dir, map[string]string{"FARSIGHT_PLATFORM": "euw1"})
	d.until("three matches", func() bool {
		list := command{args: words("matches --json --data-dir " + dir)}.asked(t).wants(t, exitDone).stdout
		return strings.Count(list, `"success"`) == 3
	})
	d.kill()
	check(exitDone)

	flip()
	s.serving(t, dir, map[string]string{"FARSIGHT_PLATFORM": "euw1"})
	command{args: words("export matches --payload --data-dir " + dir)}.asked(t).wants(t, exitIncomplete)
	if list := (command{args: words("matches --json --data-dir " + dir)}).asked(t).wants(t, exitDone).stdout; strings.Count(list, `"corrupt":true`) != 1 {
		t.Errorf("no row tells of the damage: %s", list)
	}
}

// flipOne changes one byte in the middle of the first match payload of a shard.
func flipOne(tx *bolt.Tx) error {
	done := false
	var walk func(b *bolt.Bucket) error
	walk = func(b *bolt.Bucket) error {
		return b.ForEach(func(k, v []byte) error {
			switch {
			case done:
				return nil
			case v == nil:
				return walk(b.Bucket(k))
			case string(k) == "m" && len(v) > 1000:
				done = true
				changed := append([]byte(nil), v...)
				changed[len(v)/2] ^= 0x10
				return b.Put(append([]byte(nil), k...), changed)
			}
			return nil
		})
	}
	err := tx.ForEach(func(_ []byte, b *bolt.Bucket) error {
		if done {
			return nil
		}
		return walk(b)
	})
	if err == nil && !done {
		err = errors.New("no payload found to damage")
	}
	return err
}

// Directories that cannot be used: one sentence with the path, exit 3.
func TestBadInput_UnusableDirectory(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("", "farsight-dirs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = os.Chmod(filepath.Join(base, "closed"), 0o700)
		_ = os.RemoveAll(base)
	})
	farsight(t)
	for _, open := range []string{base, built.dir} {
		if err := os.Chmod(open, 0o755); err != nil { // for the user below
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(base, "file"), "not a directory\n")
	if err := os.Mkdir(filepath.Join(base, "closed"), 0o555); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(base, "open"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(base, "open", "notes.txt"), "anybody may write here\n")
	if err := os.Chmod(filepath.Join(base, "open"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir  string
		says []string
	}{
		"a file":          {filepath.Join(base, "file"), []string{"file", "directory"}},
		"below a file":    {filepath.Join(base, "file", "data"), []string{"file", "directory"}},
		"not writable":    {filepath.Join(base, "closed", "data"), []string{"closed", "permission denied"}},
		"others may":      {filepath.Join(base, "open"), []string{"open", "chmod 700"}},
		"not a real disk": {"/proc/farsight", []string{"/proc/farsight"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command{
				args: []string{"sync", "Name#EUW", "--platform", "euw1", "--data-dir", c.dir},
				env:  map[string]string{"RIOT_API_KEY": canary, "RIOT_BASE_URL": "http://127.0.0.1:1/{routing}"},
			}
			if os.Getuid() == 0 { // root may write anywhere
				cmd.as = func(c *exec.Cmd) {
					c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
				}
				cmd.dir = "/"
			}
			res := cmd.asked(t).wants(t, exitIncomplete)
			oneSentence(t, res.stderr, c.says...)
		})
	}
	raw, err := os.ReadFile(filepath.Join(base, "file"))
	if err != nil || string(raw) != "not a directory\n" {
		t.Errorf("the file in the way was changed: %q, %v", raw, err)
	}
}

// An export never overwrites anything, and a new file holds what standard output
// would have.
func TestBadInput_ExportOverwritesNothing(t *testing.T) {
	t.Parallel()
	who := player("Exporter#OUT", 4)
	s := startSim(t, quick(who))
	dir := freshDir(t)
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	out := filepath.Join(t.TempDir(), "matches.ndjson")
	write(t, out, "precious\n")
	args := []string{"export", "matches", "--data-dir", dir, "--out"}
	res := command{args: append(args, out)}.asked(t).wants(t, exitFailed)
	oneSentence(t, res.stderr, out)
	if raw, _ := os.ReadFile(out); string(raw) != "precious\n" {
		t.Errorf("the file was changed: %q", raw)
	}
	oneSentence(t, command{args: append(args, filepath.Join(out, "x"))}.asked(t).wants(t, exitFailed).stderr, out)
	oneSentence(t, command{args: append(args, t.TempDir())}.asked(t).wants(t, exitFailed).stderr, "exists")

	fresh := out + ".new"
	command{args: append(args, fresh)}.asked(t).wants(t, exitDone)
	plain := command{args: args[:4]}.asked(t).wants(t, exitDone).stdout
	raw, err := os.ReadFile(fresh)
	if err != nil || string(raw) != plain || strings.Count(plain, "\n") != 4 {
		t.Errorf("the file holds %d bytes, standard output had %d: %v", len(raw), len(plain), err)
	}
	if info, err := os.Stat(fresh); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	// --after goes on where an export ended.
	lines := strings.SplitAfter(plain, "\n")
	var second struct {
		Cursor string `json:"cursor"`
	}
	unmarshal(t, lines[1], &second)
	rest := command{args: append(args[:4:4], "--after", second.Cursor)}.asked(t).wants(t, exitDone).stdout
	if rest != lines[2]+lines[3] {
		t.Errorf("after %s: %q", second.Cursor, rest)
	}
}

// What Riot may send that is no match: nothing of it is stored as one.
func TestBadInput_SpoiltBodies(t *testing.T) {
	t.Parallel()
	who := player("Garbage In#BODY", 27)
	o := quick(who)
	kinds := []sim.Kind{sim.Truncate, sim.NotJSON, sim.HTML200, sim.EmptyObject, sim.Null, sim.WrongID, sim.BadGzip, sim.Oversized, sim.Bomb}
	ids := sim.New(o).MatchIDs(who.RiotID)
	for i, kind := range kinds {
		o.Faults = append(o.Faults,
			sim.Fault{Name: "match " + string(kind), Kind: kind, Match: sim.Match{Method: "match-v5.match", ID: ids[i], Attempts: 1}},
			sim.Fault{Name: "timeline " + string(kind), Kind: kind, Match: sim.Match{Method: "match-v5.timeline", ID: ids[i+9], Attempts: 1}},
			sim.Fault{Name: "for ever " + string(kind), Kind: kind, Match: sim.Match{Method: "match-v5.match", ID: ids[i+18]}})
	}
	s := startSim(t, o)
	dir := freshDir(t)
	cmd := s.sync(who.RiotID, dir)
	cmd.env["FARSIGHT_RETRY_MATCH"] = "50ms,50ms,50ms,50ms"
	sum := cmd.asked(t).wants(t, exitIncomplete).summary(t)
	if sum.Matches != (summaryCounts{Total: 27, Success: 18, Permanent: 9}) || sum.Timelines.Success != 18 {
		t.Errorf("summary %+v", sum)
	}
	got := exported(t, dir)
	for i := range kinds {
		if e := got[ids[i+18]]; e.Status != "permanently_unfetchable" || e.Attempts != 5 || e.LastError == nil {
			t.Errorf("%s, spoilt for ever by %s: %+v", e.ID, kinds[i], e)
		}
		if f := s.Fetches()["match-v5.match "+ids[i+18]]; f.Calls != 5 {
			t.Errorf("%s was called %d times (S0-3)", ids[i+18], f.Calls)
		}
		if e := got[ids[i]]; e.Attempts != 2 || e.Timeline != "success" {
			t.Errorf("%s, spoilt once by %s: %+v", e.ID, kinds[i], e)
		}
	}
	noViolations(t, s)
	sound(t, dir)
}

// A process that is stopped for a while (SIGSTOP, a closed laptop) neither bursts
// over the limits afterwards nor loses anything.
func TestStoppedProcessGoesOn(t *testing.T) {
	t.Parallel()
	who := player("Sleeper#STOP", 30)
	s := startSim(t, sim.Options{Seed: 4, Limits: limits("20:1,60:3"), Latency: sim.Latency{Base: 20 * time.Millisecond}, Players: []sim.PlayerSpec{who}})
	dir := freshDir(t)
	p := s.sync(who.RiotID, dir).start(t)
	p.until("ten matches", func() bool { return s.Stats().Matches >= 10 })
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(1500 * time.Millisecond)
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	p.wait().wants(t, exitDone)
	noViolations(t, s)
	wholeHistory(t, s, who.RiotID, dir)
	sound(t, dir)
}
