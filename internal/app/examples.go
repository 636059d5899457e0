package app

import (
	"strings"

	"github.com/spf13/cobra"
)

// examples are what the help of each command shows, by its path.
var examples = map[string]string{
	"accounts":              "farsight accounts 'status:failed'",
	"alerts":                "farsight alerts --json",
	"attach":                "farsight attach\nfarsight attach /run/farsight/control.sock\nfarsight attach https://farsight.example.com --token-file ~/.farsight-token",
	"audit":                 "farsight audit --op cancel --last 20",
	"backup":                "farsight backup --to /mnt/backup",
	"bundle":                "farsight bundle --out report.tar.gz",
	"check":                 "farsight check && echo sound",
	"migrate":               "farsight migrate --to postgres://farsight@db.example/lol --dry-run",
	"compact":               "farsight compact --month 2026-10",
	"completion":            "source <(farsight completion bash)",
	"completion bash":       "source <(farsight completion bash)",
	"completion fish":       "farsight completion fish | source",
	"completion powershell": "farsight completion powershell | Out-String | Invoke-Expression",
	"completion zsh":        "source <(farsight completion zsh)",
	"config":                "farsight config --json",
	"config init":           "farsight config init",
	"config schema":         "farsight config schema",
	"demo":                  "farsight demo --seed 3 --speed 2",
	"doctor":                "farsight doctor",
	"export":                "farsight export matches --out matches.ndjson",
	"export jobs":           "farsight export jobs --format csv --out jobs.csv",
	"export matches":        "farsight export matches --payload --out matches.ndjson",
	"export participants":   "farsight export participants --format csv --out seats.csv",
	"export ranks":          "farsight export ranks --format csv --out ranks.csv",
	"export timelines":      "farsight export timelines --out timelines.ndjson",
	"farsight":              "farsight\nfarsight --data-dir /var/lib/farsight --read-only",
	"forensics":             "farsight forensics 31",
	"forget":                "farsight forget 'Name#TAG' --platform euw1 --dry-run",
	"freeze":                "farsight freeze europe match-v5.match --for 10m",
	"freshness":             "farsight freshness",
	"help":                  "farsight help sync",
	"joblog":                "farsight joblog --kind match.fetch --limit 50",
	"jobs":                  "farsight jobs 'state:retryable try>2'\nfarsight jobs --watch --sort -created --limit 20\nfarsight jobs --all -o csv --columns id,state,result\nfarsight jobs --classes",
	"members":               "farsight members --store postgres://farsight@db.example/lol",
	"limits":                "farsight limits europe",
	"logs":                  "farsight logs --level warn --follow",
	"matches":               "farsight matches 'Name#TAG champion:Lux len>20m'",
	"metrics":               "farsight metrics --days 7",
	"pager":                 "farsight pager",
	"pager test":            "farsight pager test discord",
	"prune":                 "farsight prune --completed 30d --dry-run",
	"queues":                "farsight queues",
	"ranks":                 "farsight ranks 'Name#TAG' --queue RANKED_SOLO_5x5",
	"reports":               "farsight reports 'Name#TAG'",
	"reresolve":             "farsight reresolve --dry-run",
	"reset":                 "farsight reset --dry-run",
	"restore":               "farsight restore --dry-run",
	"retries":               "farsight retries 'class:503'",
	"schedules":             "farsight schedules --run rank-daily",
	"serve":                 "farsight serve --http 127.0.0.1:7171",
	"silence":               "farsight silence key-expires --for 2h",
	"sim":                   "farsight sim --limits 20:1,100:120 --player 'Name#TAG,euw1,879'",
	"status":                "farsight status --all",
	"sync":                  "farsight sync 'Name#TAG' --platform euw1\nfarsight sync 'Name#TAG' --since 30d --json | tail -n 1",
	"track":                 "farsight track 'Name#TAG' --platform euw1 --tag team\nfarsight track --file accounts.csv",
	"trigger":               "farsight trigger 'Name#TAG' --platform euw1 --mode latest",
	"undo":                  "farsight undo 31",
	"untrack":               "farsight untrack 'Name#TAG' --platform euw1",
	"version":               "farsight version --json",
	"weekly":                "farsight weekly 2026-11-16",
}

// exemplify gives every command its example.
func exemplify(root *cobra.Command) {
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Example == "" {
			c.Example = examples[strings.TrimPrefix(c.CommandPath(), root.Name()+" ")]
		}
		c.Example = "  " + strings.ReplaceAll(c.Example, "\n", "\n  ")
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
}
