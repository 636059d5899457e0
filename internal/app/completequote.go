package app

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

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
