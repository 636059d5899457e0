package filter_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/filter"
)

var (
	seoul = time.FixedZone("KST", 9*3600)
	noon  = time.Date(2026, 11, 20, 12, 31, 35, 0, seoul)
)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// jobs are rows of the Jobs screen, in the engine's words.
var jobs = []engine.JobRow{
	{Job: engine.Job{
		ID: "01", Key: "match:KR_7214550881", Queue: "ingest.summoner.full", Kind: "match.fetch", State: engine.Retryable, Tries: 2, Attempts: 2, Class: "5xx",
		LastError: "503 service unavailable", Due: ago(-12 * time.Second), Created: ago(90 * time.Second), Owner: "A1",
	}},
	{Job: engine.Job{
		ID: "02", Key: "match:KR_7214550777", Queue: "ingest.summoner.full", Kind: "match.fetch", State: engine.Running, Tries: 1, Attempts: 1,
		Created: ago(3 * time.Minute), Started: ago(400 * time.Millisecond), Owner: "A1",
	}},
	{Job: engine.Job{
		ID: "03", Key: "match:KR_7214550655", Queue: "ingest.summoner.full", Kind: "match.fetch", State: engine.Scheduled, Hold: engine.HoldThrottled,
		Class: "429.app", LastError: "429 app, RA 12", Worker: 2, Due: ago(-400 * time.Millisecond), Created: ago(12 * time.Second), Owner: "A1",
	}, Why: "throttled"},
	{Job: engine.Job{
		ID: "04", Key: "match:KR_6011000003", Queue: "ingest.summoner.full", Kind: "match.fetch", State: engine.Discarded, Tries: 1, Attempts: 4, Class: "404", Bytes: 41_000,
		LastError: "404 not found (final)", Created: ago(50 * time.Hour), Finished: ago(11 * time.Minute), Owner: "A2",
	}},
	{Job: engine.Job{
		ID: "05", Key: "latest:8Qf_x2c", Queue: "ingest.summoner.latest", Kind: "account.sync", State: engine.Cancelled,
		Created: ago(3 * time.Hour), Finished: ago(2 * time.Hour), Owner: "A3", Crashes: 3, By: "ana",
	}, Player: "Little Wren#EUW"},
	{Job: engine.Job{
		ID: "06", Key: "report:2026-W47", Queue: "report.weekly", Kind: "report.build", State: engine.Available, Created: ago(30 * time.Minute),
	}, Why: "queue paused by ana", Place: 1},
	{Job: engine.Job{
		ID: "07", Key: "full:A9", Queue: "ingest.summoner.full", Kind: "account.sync", State: engine.Scheduled, Due: ago(-2 * time.Hour), Created: ago(25 * time.Hour), Owner: "A9", By: "schedule full.daily",
	}},
}

func fitting[T any](t *testing.T, s *filter.Schema[T], query string, rows []T, id func(*T) string) string {
	t.Helper()
	f, err := filter.Parse(query, s)
	if err != nil {
		t.Fatalf("Parse(%q): %v", query, err)
	}
	var ids []string
	for i := range rows {
		if f.Match(&rows[i], noon) {
			ids = append(ids, id(&rows[i]))
		}
	}
	again, err := filter.Parse(f.String(), s)
	if err != nil || again.String() != f.String() {
		t.Errorf("String of %q is %q, which parses to %q, %v", query, f.String(), again.String(), err)
	}
	return strings.Join(ids, " ")
}

func TestJobsFilter(t *testing.T) {
	for query, want := range map[string]string{
		"":    "01 02 03 04 05 06 07",
		"   ": "01 02 03 04 05 06 07",
		// as typed on the Jobs screen and in the palette
		"state:retrying,snoozed,running,dead age<1d -queue:report.*": "01 02 03 04",
		"state:failed,queued age<1d -queue:report.*":                 "01 04",
		"state:failed":            "01 04",
		"job:match:KR_7214550881": "01",
		"job:match:KR_72*":        "01 02 03",
		// words
		"503 unavailable":          "01",
		"503 timeout":              "",
		`"503 service"`:            "01",
		`"service 503"`:            "",
		"SERVICE":                  "01",
		"match:KR_72*81":           "01",
		"match:kr_6":               "04",
		"report:2026":              "06",
		"-match":                   "05 06 07",
		"429 app,":                 "03",
		`"("`:                      "04",
		"running":                  "02",
		"held":                     "03",
		"snoozed":                  "03",
		`\-W47`:                    "06",
		`"-w47"`:                   "06",
		"KR_??1455*":               "01 02 03",
		"KR_?1455":                 "",
		`k"r"_7214550881`:          "01",
		`queue:"report.*"`:         "",
		`queue:report\.*`:          "06",
		"queue:report":             "",
		"queue:report.weekly":      "06",
		"QUEUE:REPORT.WEEKLY":      "06",
		"queue:*.full,*.latest":    "01 02 03 04 05 07",
		"-queue:*.full,*.latest":   "06",
		"queue!=ingest.*":          "06",
		"-queue!=ingest.*":         "01 02 03 04 05 07",
		"queue=report.weekly":      "06",
		"why:paused":               "06",
		`err:""`:                   "02 05 06 07",
		`-err:""`:                  "01 03 04",
		"err:4*found":              "04",
		"result:throttled":         "03",
		"class:4*":                 "03 04",
		"class:429.app,404":        "03 04",
		"owner:a1":                 "01 02 03",
		`player:"little wren#euw"`: "05",
		"player:*wren*":            "05",
		"player:nobody":            "",
		"account:A1":               "01 02 03",
		// states
		"state:ret":                   "01",
		"state:scheduled":             "03 07",
		"state:held":                  "03",
		"state:scheduled -state:held": "07",
		"state:c*":                    "05",
		"state:/^(run|can)/":          "02 05",
		"state:live":                  "01 02 03 06 07",
		"-state:live":                 "04 05",
		"state:ended":                 "04 05",
		"state:*":                     "01 02 03 04 05 06 07",
		"hold:throttled":              "03",
		"hold:none":                   "01 02 04 05 06 07",
		"suspect:yes":                 "05",
		"suspect:y -stopping:true":    "05",
		// numbers
		"try>1":        "01",
		"try>=1":       "01 02 04",
		"try:1,2":      "01 02 04",
		"-try:1,2":     "03 05 06 07",
		"try<1":        "03 05 06 07",
		"try<=1 try>0": "02 04",
		"attempts=4":   "04",
		"place:none":   "01 02 03 04 05 07",
		"place>0":      "06",
		"-place>0":     "01 02 03 04 05 07",
		"worker:2":     "03",
		"worker:none":  "01 02 04 05 06 07",
		"by:ana":       "05",
		"by:sched*":    "07",
		"by:engine":    "01 02 03 04 06",
		"bytes>40KB":   "04",
		"bytes:none":   "01 02 03 05 06 07",
		"try:>1":       "01",
		// durations
		"age<60s":      "02 03",
		"age>1d":       "07",
		"age>=2h":      "05 07",
		"age:11m":      "04",
		"age:2h":       "05",
		"age:1h59m":    "",
		"age>1h30m":    "05 07",
		"<60s":         "02 03",
		"age<0.5s":     "02",
		"due<60s":      "01 03",
		"next>1m":      "07",
		"due:none":     "02 04 05 06",
		"created>1d":   "04 07",
		"created<=90s": "01 03",
		// times
		"due>12:31:40":                   "01 07",
		"due>@now-1h":                    "01 03 07",
		"due>now+1m":                     "07",
		"due<2026-11-20T14:31:36":        "01 03 07",
		"due<=2026-11-20T05:31:35Z":      "01 03 07",
		"created>12:30":                  "01 03",
		">12:30":                         "01 03",
		"created:12:28":                  "02",
		"created:today":                  "01 02 03 05 06",
		"created:yesterday":              "07",
		"created<yesterday":              "04",
		"created>2026-11-19":             "01 02 03 05 06",
		"created<=2026-11-19":            "04 07",
		"created>=2026-11-19":            "01 02 03 05 06 07",
		"created<2026-11-19":             "04",
		"created:2026-11-18":             "04",
		"created:2026-11,2025":           "01 02 03 04 05 06 07",
		"finished:none":                  "01 02 03 06 07",
		"created>2026-11-20T12:30+09:00": "01 03",
		// expressions and letters
		`/KR_72\d+81$/`:          "01",
		`/kr_(72|60)/ -/655/`:    "01 02 04",
		"/(?-i)kr_/":             "",
		"key:/^match/,/^latest/": "01 02 03 04 05",
		`err:/not found/`:        "04",
		`-/./`:                   "",
		"~mtchkr63":              "04",
		"~isl":                   "01 02 03 04 05 07",
		"key:~lst8":              "05",
	} {
		if got := fitting(t, columns.Jobs.Schema, query, jobs, func(r *engine.JobRow) string { return string(r.ID) }); got != want {
			t.Errorf("%s\nfits %s\nwant %s", query, got, want)
		}
	}
}

func TestAccountsFilter(t *testing.T) {
	rows := []engine.AccountRow{
		{ID: "a1", RiotID: "Blue Heron#KR1", Platform: "kr", Region: "asia", Status: engine.Syncing, Phase: engine.PhaseMatches, Tags: []string{"pro", "lck"}, Tracked: true, Matches: engine.Progress{Total: 300, Stored: 291, Open: 9}, LastSync: ago(26 * time.Hour)},
		{ID: "a2", RiotID: "카인#KR1", Platform: "kr", Region: "asia", Status: engine.SyncPending, Matches: engine.Progress{Total: -1}},
		{ID: "a3", RiotID: "Oslo Fox#EUW", Platform: "euw1", Region: "europe", Status: engine.SyncCompleted, Result: "completed", Matches: engine.Progress{Total: 412, Stored: 18, Had: 394}, LastSync: ago(3 * time.Hour), Tags: []string{"Amateur"}},
		{ID: "a4", RiotID: "\u202eevil#NA1", Platform: "na1", Region: "americas", Status: engine.SyncFailed, LastError: "resolve: 404 not found"},
		{ID: "a5", RiotID: "STRAẞE#1", Platform: "euw1", Region: "europe", Status: engine.SyncCompleted, Result: "incomplete", Matches: engine.Progress{Total: 10, Stored: 7, Failed: 3}, LastSync: ago(time.Hour)},
		{ID: "a6", RiotID: "\xff\xfebroken#X", Platform: "kr", Status: engine.SyncNever},
	}
	for query, want := range map[string]string{
		"state:syncing,queued,failed,done region:*": "a1 a2 a3 a4 a5", // as typed on the Accounts screen
		"account:카인#KR1":                            "a2",
		"카":                                         "a2",
		"카?#kr1":                                    "a2",
		"account:heron":                             "a1",
		`name:"blue heron"`:                         "a1",
		"name:Blue*KR1":                             "a1",
		"straße":                                    "a5",
		"broken":                                    "a6",
		"name:??broken":                             "a6",
		"queued":                                    "a2",
		"state:done":                                "a3 a5",
		"state:incomplete":                          "a5",
		"state:i":                                   "a5",
		"tag:pro":                                   "a1",
		"tags:p*,amateur":                           "a1 a3",
		`tag:""`:                                    "a2 a4 a5 a6",
		"tag:/^L/":                                  "a1",
		"~blhrn":                                    "a1",
		"~amtr":                                     "a3",
		"tracked:no -state:n":                       "a2 a3 a4 a5",
		"total>300":                                 "a3",
		"total:none":                                "a2",
		"percent>=97%":                              "a1 a3 a5",
		"percent<100":                               "a1",
		"failed>0":                                  "a5",
		"last>1d":                                   "a1",
		"last:never":                                "a2 a4 a6",
		"<2h":                                       "a5",
		"phase:matches":                             "a1",
		"europe -straße":                            "a3",
	} {
		if got := fitting(t, columns.Accounts.Schema, query, rows, func(r *engine.AccountRow) string { return r.ID }); got != want {
			t.Errorf("%s\nfits %s\nwant %s", query, got, want)
		}
	}
}

func TestMatchesFilter(t *testing.T) {
	rows := []engine.MatchRow{
		{ID: "KR_1", Status: "success", Timeline: "unfetched", Played: ago(13 * time.Hour), Duration: 31*time.Minute + 7*time.Second, QueueID: 420, Mode: "CLASSIC", Champion: "Ahri", Kills: new(9), Deaths: new(1), Assists: new(4), Won: new(true), FetchedAt: ago(12 * time.Hour), Bytes: 41_300},
		{ID: "KR_2", Status: "temporary_failure", Timeline: "unfetched", LastError: "503", Attempts: 2},
		{ID: "EUW1_3", Status: "outside_retention_window", Timeline: "outside_retention_window", Played: ago(800 * 24 * time.Hour)},
		{ID: "EUW1_4", Status: "permanently_unfetchable", Attempts: 1, LastError: "404 not found", Corrupt: true},
	}
	for query, want := range map[string]string{
		"state:stored":         "KR_1",
		"state:retrying":       "KR_2",
		`state:"too old"`:      "EUW1_3",
		"state:gave-up,perm":   "EUW1_4",
		"timeline:unf":         "KR_1 KR_2",
		"queue:420 result:win": "KR_1",
		"result:loss":          "",
		"champion:a*":          "KR_1",
		"size:41KB":            "KR_1",
		"size>=41.3kb":         "KR_1",
		"size>1.5MB":           "",
		"len:31m7s":            "KR_1",
		"len>31m":              "KR_1",
		"played<1d":            "KR_1",
		"<1d":                  "KR_1",
		"played:yesterday":     "KR_1",
		"platform:euw1":        "EUW1_3 EUW1_4",
		"kills:>8":             "KR_1",
		"corrupt:yes":          "EUW1_4",
		"404":                  "EUW1_4",
	} {
		if got := fitting(t, columns.Matches.Schema, query, rows, func(r *engine.MatchRow) string { return r.ID }); got != want {
			t.Errorf("%s\nfits %s\nwant %s", query, got, want)
		}
	}
}

func TestCallsFilter(t *testing.T) {
	rows := []engine.CallRow{
		{At: ago(time.Minute), Target: "a", Host: "asia", Method: "match-v5.match", Status: 200, Took: 118*time.Millisecond + 400*time.Microsecond, Paced: 840 * time.Millisecond, PacedBy: "app:100:120", Job: "12"},
		{At: ago(2 * time.Minute), Target: "b", Host: "asia", Method: "match-v5.match", Status: 503, Class: "5xx", Took: 121 * time.Millisecond},
		{At: ago(30 * time.Minute), Target: "c", Host: "kr", Method: "summoner-v4", Status: 429, Class: "429.app", Took: 97 * time.Millisecond, RetryAfter: 10 * time.Second, Unforeseen: true},
		{At: ago(time.Second), Target: "d", Host: "kr", Method: "summoner-v4", Class: "timeout", Took: 10 * time.Second},
	}
	for query, want := range map[string]string{
		"status:429,503":   "b c", // as typed in the flight recorder
		"status>=400":      "b c",
		"status:5xx":       "b",
		"status:4??,2*":    "a c",
		"status:none":      "d",
		"-status:200":      "b c d",
		"429":              "c",
		"ms>100":           "a b d",
		"ms:118":           "a",
		"ms>=1s":           "d",
		"took<0.1s":        "c",
		">1s":              "d",
		"paced>500ms":      "a",
		"by:app":           "a",
		"ra:10s":           "c",
		"unforeseen:yes":   "c",
		"method:match-v5*": "a b",
		"~smv4":            "c d",
		">12:30":           "a d",
		"age<90s":          "a d",
		"job:12":           "a",
		"host:asia ms<120": "a",
	} {
		if got := fitting(t, columns.Calls.Schema, query, rows, func(r *engine.CallRow) string { return r.Target }); got != want {
			t.Errorf("%s\nfits %s\nwant %s", query, got, want)
		}
	}
}

func TestCanonicalForm(t *testing.T) {
	for query, want := range map[string]string{
		"  a   b ":                 "a b",
		"STATE:Retrying,DEAD":      "state:retryable,discarded",
		"next<60S":                 "due<60S",
		"-queue!=a":                "queue:a",
		"try:>5":                   "try>5",
		">12:30":                   "created>12:30",
		"match:KR_72*":             `"match:KR_72"*`,
		"key:match:KR_72*":         "key:match:KR_72*",
		`err:two" words"*here`:     `err:"two words"*here`,
		`"a\"b\\c"`:                `"a\"b\\c"`,
		`\-x \~y \/z`:              `"-x" "~y" "/z"`,
		"state:c*":                 "state:completed,cancelled",
		"hold:key":                 `hold:"key invalid"`,
		`/a\/b/ key:/c,d/`:         `/a\/b/ key:/c,d/`,
		"a\u3000b":                 "a b", // the space of Korean and Japanese keyboards
		"due:never":                "due:none",
		"job:x,\"y,z\" -~a\"b c\"": "job:x,\"y,z\" -~\"ab c\"",
	} {
		f, err := filter.Parse(query, columns.Jobs.Schema)
		if err != nil || f.String() != want {
			t.Errorf("%q is %q (%v), want %q", query, f.String(), err, want)
		}
	}
}

// A filter that cannot exclude anything counts as empty, however it is spelled.
func TestP32_FilterThatExcludesNothingIsEmpty(t *testing.T) {
	for query, want := range map[string]bool{
		"": true, " ": true, "*": true, "**": true, "queue:*": true, "state:* key:*": true, "try:*": true, "/.*/": true, "/x*/ *": true, "key:/^/": true, "result:*": true,
		"a": false, "?": false, "-*": false, "* a": false, "state:live": false, "try>0": false, "/./": false, `err:""`: false, "-queue:*": false, "/x*y/": false,
	} {
		f, err := filter.Parse(query, columns.Jobs.Schema)
		if err != nil || f.Empty() != want {
			t.Errorf("Empty of %q is %v (%v), want %v", query, f.Empty(), err, want)
		}
		if all := f.Match(&jobs[1], noon); want && !all {
			t.Errorf("%q is empty but excludes a row", query)
		}
	}
	var zero filter.Filter[engine.JobRow]
	if !zero.Empty() || !zero.Match(&jobs[0], noon) || zero.String() != "" {
		t.Error("the zero filter must fit everything")
	}
}

func TestErrorsSayWhereAndWhatToDo(t *testing.T) {
	long := strings.Repeat("x", 2000+1)
	for query, want := range map[string]struct {
		part string // of the query that is marked; "" = anything
		text string // of the sentence
	}{
		"app:europe 97":                      {"app", `field "app": quote`},
		"trx>3":                              {"trx", "write try>…"},
		"stat:x":                             {"stat", "write state:…"},
		"size:1":                             {"size", "no field"},
		"a queu:x":                           {"queu", "write queue:…"},
		"nosuch:x":                           {"nosuch", "quote the term"},
		"age:x":                              {"x", "90s"},
		"age>5":                              {"5", "1h30m"},
		"age>1m30":                           {"1m30", "1h30m"},
		"b try>2.5 c":                        {"2.5", "whole number"},
		"try:a":                              {"a", "digits"},
		"try>1,2":                            {"2", "one value"},
		"state:c":                            {"c", "completed or cancelled"},
		"state:bogus,run":                    {"bogus", "pending, available"},
		"state:":                             {"state:", "no value"},
		"-state: x":                          {"-state:", "no value"},
		"state:run,":                         {",", "comma"},
		"state:,run":                         {",", "comma"},
		"state:run,,c":                       {",", "comma"},
		"state>run":                          {"state>run", "write state:word"},
		"queue>b":                            {"queue>b", "is text"},
		"age < 1d":                           {"<", "without a space"},
		"a -":                                {"-", "one term"},
		"--a":                                {"-", "one term"},
		`a "b c`:                             {`"b c`, "no end"},
		`key:x"b`:                            {`"b`, "no end"},
		`""`:                                 {`""`, "nothing between"},
		"/a":                                 {"/a", "no end"},
		"//":                                 {"//", "empty"},
		"/lol/match/v5":                      {"/lol/", "goes on"},
		`x /a\/b(c/`:                         {`a\/b(c`, "missing closing"},
		"/a[z/":                              {"[z", "missing closing ]"},
		"key:/a**/":                          {"**", "invalid nested"},
		"/(a{500}){9}/":                      {"{9}", "repeat"},
		"/((a{9}){9}){9}{9}/":                {"", ""},
		"/a{900}b{900}/":                     {"/a{900}b{900}/", "too large"},
		"try:/a/":                            {"/a/", "no text"},
		"~":                                  {"~", "letters"},
		">5":                                 {">5", "which field"},
		"created:25:00":                      {"25:00", "12:30"},
		"created>1850-01-01":                 {"1850-01-01", "is a time"},
		"created:2026-02-30":                 {"2026-02-30", "is a time"},
		"created>900000w":                    {"900000w", "is a time"},
		"카인 queu:x":                          {"queu", "column 6"},
		"a\xffb":                             {"\xff", "UTF-8"},
		long:                                 {"x", "shorten"},
		strings.Repeat("a ", 65):             {"a ", "64 terms"},
		"/" + strings.Repeat("a", 300) + "/": {"", "200 bytes"},
	} {
		f, err := filter.Parse(query, columns.Jobs.Schema)
		if want.text == "" {
			continue
		}
		e, ok := errors.AsType[*filter.Error](err)
		if !ok {
			t.Errorf("Parse(%.40q) is %q, want an error about %q", query, f, want.text)
			continue
		}
		if marked := query[e.At:e.End]; want.part != "" && marked != want.part {
			t.Errorf("Parse(%.40q) marks %q, want %q (%v)", query, marked, want.part, err)
		}
		if !strings.Contains(err.Error(), want.text) {
			t.Errorf("Parse(%.40q): %v\nwant something with %q", query, err, want.text)
		}
		if !errors.Is(err, engine.ErrInvalid) || e.Do == "" {
			t.Errorf("Parse(%.40q): %v must be ErrInvalid and say what to do", query, err)
		}
	}
}
