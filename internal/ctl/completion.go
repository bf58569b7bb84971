package ctl

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"patchbay/client"
)

// CompletionCommands print shell completion scripts. The words come from the program, so they match the
// installed version.
type CompletionCommands struct {
	Bash  bashCompletion `cmd:"" help:"For bash; add to ~/.bashrc: source <(patchbay completion bash)"`
	Zsh   zshCompletion  `cmd:"" help:"For zsh; add to ~/.zshrc after compinit: source <(patchbay completion zsh)"`
	Fish  fishCompletion `cmd:"" help:"For fish; add to ~/.config/fish/config.fish: patchbay completion fish | source"`
	Words wordsCommand   `cmd:"" hidden:"" help:"List completions of the next word."`
}

type (
	bashCompletion struct{}
	zshCompletion  struct{}
	fishCompletion struct{}
)

// Run prints the script.
func (bashCompletion) Run(w World) error {
	return writeScript(w.Out, `_patchbay() {
	local IFS=$'\n'
	COMPREPLY=($("${COMP_WORDS[0]}" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _patchbay patchbay
`)
}

// Run prints the script.
func (zshCompletion) Run(w World) error {
	return writeScript(w.Out, `_patchbay() {
	local -a found
	found=("${(@f)$("${words[1]}" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	[[ -n "$found[1]" ]] && compadd -a found || _files
}
compdef _patchbay patchbay
`)
}

// Run prints the script.
func (fishCompletion) Run(w World) error {
	return writeScript(w.Out, `function __patchbay
	set -l before (commandline -opc)
	set -l now (commandline -ct)
	set -l found ($before[1] completion words -- $before[2..-1] "$now" 2>/dev/null)
	if test -n "$found"
		string join \n -- $found
	else
		__fish_complete_path "$now"
	end
end
complete -c patchbay -f -a '(__patchbay)'
`)
}

func writeScript(out io.Writer, text string) error {
	_, err := io.WriteString(out, text)
	return err
}

type wordsCommand struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// completionTimeout bounds the requests of a completion.
const completionTimeout = 2 * time.Second

// Run prints one word a line. Words that cannot be loaded are omitted.
func (c wordsCommand) Run(ctx context.Context, k *kong.Context, w World) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	at, last, stem := findCompletion(k.Model.Node, words), words[len(words)-1], ""
	found := at.words
	if at.source == "path" {
		found, at.source = pathWords(at.previous, last)
		stem = last[:strings.LastIndex(last, "/")+1]
	}
	if at.source != "" {
		ctx, cancel := context.WithTimeout(ctx, completionTimeout)
		defer cancel()
		s := &session{flags: Flags{URL: cmp.Or(w.Env("PATCHBAY_URL"), "http://127.0.0.1:8080")}, world: w}
		for _, name := range s.names(ctx, at.source) {
			found = append(found, stem+name)
		}
	}
	for _, word := range found {
		if strings.HasPrefix(word, last) {
			if _, err := fmt.Fprintln(w.Out, word); err != nil {
				return err
			}
		}
	}
	return nil
}

// completionPoint is what can be completed at the cursor.
type completionPoint struct {
	words    []string
	source   string // of further words: connector, agent or path; empty: none
	previous string // argument; empty: none
}

// findCompletion follows the words up to the last, which is incomplete.
func findCompletion(node *kong.Node, words []string) completionPoint {
	var flags []*kong.Flag
	var open *kong.Flag // its value is next
	argument, before := 0, ""
	flags = append(flags, node.Flags...)
	for _, word := range words[:len(words)-1] {
		switch {
		case open != nil:
			open = nil
		case strings.HasPrefix(word, "-") && word != "-":
			open = needsValue(flags, word)
		default:
			i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word || slices.Contains(n.Aliases, word) })
			if i < 0 {
				argument, before = argument+1, word
				continue
			}
			node, argument, before = node.Children[i], 0, ""
			flags = append(flags, node.Flags...)
		}
	}
	last := words[len(words)-1]
	switch {
	case open != nil:
		return completionPoint{words: open.EnumSlice()}
	case strings.HasPrefix(last, "-"):
		var p completionPoint
		for _, f := range flags {
			if !f.Hidden {
				p.words = append(p.words, "--"+f.Name)
			}
		}
		return p
	case len(node.Children) > 0:
		var p completionPoint
		for _, n := range node.Children {
			if !n.Hidden {
				p.words = append(p.words, n.Name)
			}
		}
		return p
	case argument < len(node.Positional):
		p := node.Positional[argument]
		return completionPoint{words: p.EnumSlice(), source: p.Name, previous: before}
	}
	return completionPoint{}
}

// needsValue returns the flag of a word if its value is the next word.
func needsValue(flags []*kong.Flag, word string) *kong.Flag {
	for _, f := range flags {
		named := word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short)
		if named && !f.IsBool() && !f.IsCounter() {
			return f
		}
	}
	return nil
}

// slugPattern matches slugs that are safe on a command line, whatever the installation returns.
var slugPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// names returns the slugs of connectors or agents; none if the installation is not reachable.
func (s *session) names(ctx context.Context, of string) (names []string) {
	api, err := s.openClient()
	if err != nil {
		return nil
	}
	add := func(slug string, err error) bool {
		if err == nil && slugPattern.MatchString(slug) {
			names = append(names, slug)
		}
		return err == nil
	}
	switch of {
	case "connector":
		for c, err := range api.AllConnectors(ctx, client.ListConnectorsQuery{Limit: pageSize}) {
			if !add(c.Slug, err) {
				break
			}
		}
	case "agent":
		for a, err := range api.AllAgents(ctx, client.ListAgentsQuery{Limit: pageSize}) {
			if !add(a.Slug, err) {
				break
			}
		}
	}
	return names
}
