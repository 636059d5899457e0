package app

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	filters "github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/cli"
)

// What the shell completes beside commands and flags: fixed words, and what the
// running engine, or else the data directory, knows. Whatever goes wrong, nothing is
// offered: an error would be printed into the line that somebody is typing.

// How long completion may take, and how much it may offer.
const (
	completeWait = time.Second // a shell that stands still is worse than one that offers nothing
	completeMost = 200         // nobody reads more
)

// completeFlags are the completions of flags. One of "command flag" is of that command
// alone.
// A flag means the same in every command that has it, with few exceptions: --queue of `ranks` and
// `collect` is a ladder of Riot's, that of all others is one of our queues.
func completeFlags() map[string]cobra.CompletionFunc {
	return map[string]cobra.CompletionFunc{
		"platform": offer(texts(route.Platforms())...), "log-level": offer(engine.LogLevels()...), "level": offer(engine.LogLevels()...),
		"theme": offer(config.Themes()...), "glyphs": offer(themes.GlyphNames()...), "keep-running": offer("auto", "true", "false"),
		"timelines": offer(string(league.TimelinesAll), string(league.TimelinesRanked), string(league.TimelinesNone)),
		"mode":      offer(ingest.ModeFull, ingest.ModeLatest), "format": offer(cli.NDJSON, cli.CSV), "export format": offer("parquet"), "output": offer(forms...), "logs output": offer(forms[:2]...), "metrics output": offer(forms[:2]...), "confirm": offer(engine.ConfirmAll),
		"state": completeStates, "class": completeClasses, "account": completeAccounts, "job": completeJobs(engine.States()),
		"queue": completeQueues, "ranks queue": offer("RANKED_SOLO_5x5", "RANKED_FLEX_SR"), "kind": offer(kinds()...),
		"collect queue": offer("solo", "flex"),
		"run":           completeSchedules, "pause": completeSchedules, "resume": completeSchedules, "edit": completeSchedules,
		"collections pause": completeCollections, "collections resume": completeCollections, "collection": completeCollections,
		"cancel": completeCollections, "retry": completeCollections, "forget": completeCollections,
		"sim window": offer(string(sim.FixedLazy), string(sim.WallAligned), string(sim.Sliding)), "sim retention": offer("on", "off"),
		"data-dir": completeFolders, "to": completeFolders, "from": completeFolders, "collect from": completeAccounts, "fixtures": completeFolders,
		"out": completeFiles, "file": completeFiles, "key-file": completeFiles, "token-file": completeFiles, "ca-file": completeFiles, "socket-path": completeFiles,
	}
}

// complete gives every command and flag its completion: the one for "command flag", the one for the flag, or none. What
// has none offers no files either, which could never be right.
func complete(root *cobra.Command) {
	// Cobra adds its own command for the scripts of the shells only when the tree is carried out;
	// made here it gets completion and help like the others.
	flags := completeFlags()
	root.InitDefaultCompletionCmd()
	completeInQuotes(root)
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.ValidArgsFunction == nil {
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
		for _, set := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} { // those that its children inherit, too
			set.VisitAll(func(f *pflag.Flag) {
				for _, by := range []cobra.CompletionFunc{flags[c.Name()+" "+f.Name], flags[f.Name], cobra.NoFileCompletions} {
					if by != nil && c.RegisterFlagCompletionFunc(f.Name, by) == nil { // an error: it has its own already
						break
					}
				}
			})
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

// offer completes to fixed words.
func offer(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		// A copy: starting filters in place, and the words serve each completion of this process.
		return starting(slices.Clone(words), begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// onlyFirst completes the first argument only.
func onlyFirst(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, args, begun)
	}
}

// completeFiles leaves files to the shell, which knows how to quote them.
func completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeFolders is completeFiles for folders alone.
func completeFolders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// kinds are all kinds of jobs that an engine of this version makes.
func kinds() []string {
	return texts([]engine.Kind{
		ingest.KindSync, ingest.KindMatch, ingest.KindTimeline, ingest.KindRank,
		ingest.KindWeekly, ingest.KindResolve, ingest.KindSweep, ingest.KindPrune, ingest.KindCompact,
		engine.KindCall, pager.KindWebhook, pager.KindCommand, pager.KindEvent,
	})
}

// completeHosts offers Riot's hosts by their first label: europe, euw1. They are fixed, so
// nothing is asked of a store.
var completeHosts = offer(slices.Concat(texts(route.Regions()), texts(route.Platforms()))...)

// completeBuckets offers hosts, then the methods that such a host serves.
func completeBuckets(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return completeHosts(cmd, args, begun)
	case 1:
	default:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	// A platform's host answers no method of a region's, and the other way round: freezing it would
	// freeze nothing.
	regional := slices.Contains(route.Regions(), route.Region(args[0]))
	var words []string
	for _, m := range route.Methods() {
		if (m.Routing() != route.ToPlatform) == regional {
			words = append(words, string(m))
		}
	}
	return starting(words, begun), cobra.ShellCompDirectiveNoFileComp
}

// completeFilter offers what the console's filter line does.
func completeFilter[T any](s *filters.Schema[T]) cobra.CompletionFunc {
	return onlyFirst(func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var words []string
		for _, c := range s.Complete(begun, len(begun)) {
			// The shell replaces the whole word and not only what stands behind the cursor.
			words = append(words, cobra.CompletionWithDesc(begun[:c.From]+c.Text, c.Help))
		}
		// No blank behind "state:": the value follows at once.
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// orAccount offers accounts once something is typed that is none of a filter's words.
func orAccount(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if words, how := f(cmd, args, begun); len(words) > 0 || len(args) > 0 {
			return words, how
		}
		return completeAccounts(cmd, args, begun)
	}
}

// find asks the engine that holds the data directory, or the directory, for words. A
// name that could harm a terminal is not offered.
func find(cmd *cobra.Command, ask func(context.Context, engine.Console) []cobra.Completion) ([]cobra.Completion, cobra.ShellCompDirective) {
	cfg, err := configOf(cmd)
	// Completing must not make a directory, and one that is not there knows no words.
	if err != nil || !hasStore(cfg) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, done := context.WithTimeout(cmd.Context(), completeWait)
	defer done()
	var words []cobra.Completion
	// The error stays unsaid: see above.
	_ = browse(ctx, cfg, func(c engine.Console) error {
		words = ask(ctx, c)
		return nil
	})
	seen := map[string]bool{"": true}
	words = slices.DeleteFunc(words, func(w cobra.Completion) bool {
		word, _, _ := strings.Cut(w, "\t")
		had := seen[word] // shells put a word in quotes only when it is the only one
		seen[word] = true
		return had || safe.Text(word) != word
	})
	return words[:min(len(words), completeMost)], cobra.ShellCompDirectiveNoFileComp
}

// hint is a word with what it means. Descriptions may hold anything but line ends.
func hint(word, about string) cobra.Completion {
	return cobra.CompletionWithDesc(word, safe.Line(about, 60))
}

// completeAccounts offers Riot IDs. The engine searches anywhere in the name, the shell takes
// only what begins with the word: so pages are read until enough of those are found.
func completeAccounts(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return find(cmd, func(ctx context.Context, c engine.Console) (words []cobra.Completion) {
		// Bounded by completeWait, too: on a store of a million accounts the pages that are read by
		// then are offered.
		for a, err := range engine.Accounts(ctx, c, engine.AccountsQuery{Text: begun, Page: engine.Page{Limit: engine.LargestPage}}) {
			if err != nil || len(words) >= completeMost {
				break
			}
			if strings.HasPrefix(a.RiotID, begun) {
				words = append(words, hint(a.RiotID, a.Platform+", "+a.Status.String()))
			}
		}
		return words
	})
}

// completeJobs offers jobs in some states: by id, and by key once that is begun.
func completeJobs(states []engine.State) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return find(cmd, func(ctx context.Context, c engine.Console) (words []cobra.Completion) {
			q := engine.JobsQuery{States: states, Ended: slices.ContainsFunc(states, engine.State.Terminal), Page: engine.Page{Limit: completeMost}}
			// A key has a colon (match:KR_7214550881) and an id has none: only then does searching
			// texts find more than the page of the newest.
			if strings.Contains(begun, ":") {
				q.Text = begun
			}
			names := map[string]string{} // by account: neither full:01M8… nor match:KR_72… tells whose it is
			for _, j := range found[engine.JobsPage](ctx, c, q).Jobs {
				name, known := names[j.Owner]
				if c, ok := engine.CollectionOf(j.Queue); ok {
					name = c
				}
				if name = cmp.Or(j.Player, name); name == "" && !known && j.Owner != "" {
					name = found[engine.AccountDetail](ctx, c, engine.AccountQuery{ID: j.Owner}).Row.RiotID
					names[j.Owner] = name
				}
				about := strings.TrimLeft(name+", "+strings.ToUpper(j.State.String()), ", ")
				switch id := string(j.ID); {
				// named already
				case slices.Contains(args, id), slices.Contains(args, j.Key):
				case strings.HasPrefix(id, begun):
					words = append(words, hint(id, j.Key+", "+about))
				case begun != "" && strings.HasPrefix(j.Key, begun):
					words = append(words, hint(j.Key, about))
				}
			}
			return words
		})
	}
}

// completing offers the words that ask finds, each with what it means.
// It is for lists that come whole in one answer; [completeAccounts] and [completeJobs] read pages.
func completing(ask func(ctx context.Context, c engine.Console, word func(word, about string))) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return find(cmd, func(ctx context.Context, c engine.Console) (words []cobra.Completion) {
			ask(ctx, c, func(word, about string) {
				if strings.HasPrefix(word, begun) {
					words = append(words, hint(word, about))
				}
			})
			return words
		})
	}
}

// Completions of classes, schedules and collections, each of which comes whole in one answer.
var (
	completeClasses = completing(func(ctx context.Context, c engine.Console, word func(word, about string)) {
		for _, row := range found[engine.ClassesAnswer](ctx, c, engine.ClassesQuery{}).Classes {
			word(row.ID, human.Counted(row.Jobs, "job", "jobs")+": "+row.Error)
		}
	})
	completeSchedules = completing(func(ctx context.Context, c engine.Console, word func(word, about string)) {
		for _, row := range found[engine.SchedulesPage](ctx, c, engine.SchedulesQuery{}).Schedules {
			word(row.Name, row.Expr)
		}
	})
	completeCollections = completing(func(ctx context.Context, c engine.Console, word func(word, about string)) {
		for _, row := range found[engine.CollectionsAnswer](ctx, c, engine.CollectionsQuery{}).Collections {
			word(row.Name, row.Stands())
		}
	})
)

// completeAlerts offers alerts in some states; none given = all.
func completeAlerts(states ...engine.AlertState) cobra.CompletionFunc {
	return completing(func(ctx context.Context, c engine.Console, word func(word, about string)) {
		for _, a := range found[engine.AlertsAnswer](ctx, c, engine.AlertsQuery{}).Alerts {
			if len(states) == 0 || slices.Contains(states, a.State) {
				word(a.ID, string(a.State)+": "+a.About)
			}
		}
	})
}

// completeUndo offers the commands that may be taken back, newest first.
func completeUndo(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	words, how := completing(func(ctx context.Context, c engine.Console, word func(word, about string)) {
		for _, e := range found[engine.AuditPage](ctx, c, engine.AuditQuery{Page: engine.Page{Limit: 100}}).Entries {
			if e.Applied > 0 && operation.Of(e.Op).Undo {
				word(strconv.FormatUint(e.Seq, 10), fmt.Sprintf("%s of %s", e.Op, e.Target))
			}
		}
	})(cmd, args, begun)
	// By their age: a shell would sort 9 behind 31.
	return words, how | cobra.ShellCompDirectiveKeepOrder
}

// A name is typed in quotes, since most have a space: farsight sync 'Lo<TAB>. The scripts
// that complete come from cobra and read the line again with the quote still open, which
// no shell can do. So each gets a few lines that close the quote before the program is asked.

// bashQuote completes a word in an open quote by itself: within one there are no words to
// break and no signs to escape. It goes behind cobra's script. Bash without the package
// bash-completion, as on a Mac, has the words of the line put together here, too.
const bashQuote = `
__farsight_init_completion()
{
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    # Bash parts words at = and : as well; here they are one where no space parts them.
    local word rest=${COMP_LINE:0:COMP_POINT}
    words=()
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ ${#words[@]} == 0 || -z ${rest} || ${rest} == [[:space:]]* ]]; then
            words+=("${word}")
            rest=${rest#"${rest%%[![:space:]]*}"}
        else
            words[${#words[@]}-1]+=${word}
        fi
        rest=${rest#"${word}"}
    done
    cword=$((${#words[@]}-1))
    cur=${words[cword]}
    prev=${words[cword-1]}
}

__farsight_complete()
{
    local word=${COMP_WORDS[COMP_CWORD]}
    local quote=${word:0:1} line=${COMP_LINE:0:COMP_POINT}
    if [[ ${quote} != [\"\'] || ${word:1} == *"${quote}"* || ${line} != *"${word}" ]]; then
        __start_farsight "$@"
        return
    fi
    line=${line%"${word}"}
    word=${word:1}
    local offer directive out
    out=$(eval "${line%%[[:space:]]*} __complete ${line#*[[:space:]]} \"\${word}\"" 2>/dev/null)
    directive=${out##*:}
    COMPREPLY=()
    (((directive & 2) == 0)) || compopt -o nospace
    (((directive & 4) == 0)) || compopt +o default
    while IFS='' read -r offer; do
        offer=${offer%%$'\t'*}
        [[ -z ${offer} || ${offer} != "${word}"* ]] || COMPREPLY+=("${offer}")
    done <<<"${out%:*}"
}

if [[ $(type -t compopt) == builtin ]]; then
    complete -o default -F __farsight_complete farsight
fi
`

// bashComma is put before the line of cobra's that compares an offer, as printf %q escapes it,
// with what was typed: bash escapes commas, and nobody types job\,created.
const (
	bashMatch = "        [[ $comp == \"$cur\"* ]] || continue\n"
	bashComma = "        comp=${comp//\\\\,/,}\n"
)

// zshQuote and fishQuote are put before and in the place of a line of cobra's.
const (
	zshWords  = "    words=(\"${=words[1,CURRENT]}\")\n"
	zshQuote  = "    # A quote that is open is closed for the program.\n    words[CURRENT]+=${compstate[quote]}\n"
	fishWords = "    set -l lastArg (string escape -- (commandline -ct))\n"
	fishQuote = "    # Without its quotes: the program is given the word that is meant.\n" +
		`    set -l lastArg (string escape -- (commandline -ct | string replace -r '^([\'"])([^\'"]*)\1?$' '$2'))` + "\n"
)

// completeInQuotes lets `completion bash`, zsh and fish write scripts that do.
func completeInQuotes(root *cobra.Command) {
	scripts := map[string]func(descriptions bool, w io.Writer) error{
		"bash": func(descriptions bool, w io.Writer) error {
			return edited(w, bashMatch, bashComma+bashMatch, func(w io.Writer) error {
				if err := root.GenBashCompletionV2(w, descriptions); err != nil {
					return err
				}
				_, err := io.WriteString(w, bashQuote)
				return err
			})
		},
		"zsh": func(descriptions bool, w io.Writer) error {
			generate := root.GenZshCompletion
			if !descriptions {
				generate = root.GenZshCompletionNoDesc
			}
			return edited(w, zshWords, zshQuote+zshWords, generate)
		},
		"fish": func(descriptions bool, w io.Writer) error {
			return edited(w, fishWords, fishQuote, func(w io.Writer) error { return root.GenFishCompletion(w, descriptions) })
		},
	}
	// In place of cobra's own RunE: the flag that leaves the descriptions out is still cobra's.
	for shell, write := range scripts {
		c, _, err := root.Find([]string{"completion", shell})
		if err != nil {
			continue
		}
		c.RunE = func(cmd *cobra.Command, _ []string) error {
			return write(!flagBool(cmd, "no-descriptions"), cmd.OutOrStdout())
		}
	}
}

// edited writes what generate does with one line changed.
func edited(w io.Writer, line, by string, generate func(io.Writer) error) error {
	// Whole in memory first: cobra writes as it goes, and a line has to be found in it.
	var script bytes.Buffer
	if err := generate(&script); err != nil {
		return err
	}
	// A line that a newer cobra writes in another way is not found, and the script stays cobra's own;
	// the test that completes in a real shell notices.
	_, err := io.WriteString(w, strings.Replace(script.String(), line, by, 1))
	return err
}
