package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// newModel is the model of the command line.
func newModel(t *testing.T) *kong.Node {
	t.Helper()
	parser, err := kong.New(new(commandLine), kong.Name("patchbay"), kong.Vars{"version": "1", "dev_token": "t"})
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model.Node
}

// findCommand follows the words to a command, and returns the words after it. Words that are no commands are arguments.
func findCommand(root *kong.Node, words []string) (command *kong.Node, rest []string) {
	command = root
	for i, word := range words {
		at := slices.IndexFunc(command.Children, func(n *kong.Node) bool { return n.Name == word })
		if at < 0 {
			return command, words[i:]
		}
		command = command.Children[at]
	}
	return command, nil
}

// hasFlag reports whether a command has a flag, or one of the commands above it.
func hasFlag(command *kong.Node, name string) bool {
	for _, group := range command.AllFlags(false) {
		for _, flag := range group {
			if flag.Name == name || flag.Short != 0 && string(flag.Short) == name {
				return true
			}
		}
	}
	return false
}

var (
	flagPattern    = regexp.MustCompile(`(?:^|[ (\x60])--([a-z][a-z0-9-]*)`)
	commandPattern = regexp.MustCompile(`\bpatchbay ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)*)`)
)

// checkHelp checks that a command's texts name only flags and commands that exist. A flag may be of the command, or of one that
// the same text names.
func checkHelp(t *testing.T, root, command *kong.Node) (texts int) {
	t.Helper()
	all := []string{command.Help, command.Detail}
	for _, flag := range command.Flags {
		all = append(all, flag.Help)
	}
	for _, argument := range command.Positional {
		all = append(all, argument.Help)
	}
	for _, text := range all {
		if text == "" {
			continue
		}
		texts++
		named := []*kong.Node{command}
		for _, match := range commandPattern.FindAllStringSubmatch(text, -1) {
			other, _ := findCommand(root, strings.Fields(match[1]))
			if other == root {
				t.Errorf("%s: there is no command patchbay %s, which the help names", command.FullPath(), match[1])
			}
			named = append(named, other)
		}
		for _, match := range flagPattern.FindAllStringSubmatch(text, -1) {
			if !slices.ContainsFunc(named, func(n *kong.Node) bool { return hasFlag(n, match[1]) }) {
				t.Errorf("%s: there is no flag --%s, which the help names: %s", command.FullPath(), match[1], text)
			}
		}
	}
	for _, child := range command.Children {
		texts += checkHelp(t, root, child)
	}
	return texts
}

func TestHelp_NamesOnlyWhatExists(t *testing.T) {
	t.Parallel()
	root := newModel(t)
	if texts := checkHelp(t, root, root); texts < 150 {
		t.Errorf("only %d texts were looked at", texts)
	}
}

// Each command and flag says what it does. A value of a closed set is named in the help of its flag, or of its placeholder.
func TestHelp_IsComplete(t *testing.T) {
	t.Parallel()
	var check func(command *kong.Node)
	check = func(command *kong.Node) {
		if command.Help == "" {
			t.Errorf("%s has no help", command.FullPath())
		}
		for _, flag := range command.Flags {
			if flag.Help == "" {
				t.Errorf("%s: --%s has no help", command.FullPath(), flag.Name)
			}
		}
		for _, argument := range command.Positional {
			if argument.Help == "" && !command.Hidden {
				t.Errorf("%s: %s has no help", command.FullPath(), argument.Name)
			}
		}
		for _, child := range command.Children {
			check(child)
		}
	}
	for _, child := range newModel(t).Children {
		check(child)
	}
}

// "Without a command, the program does this." "Settings have variables, too."
func TestHelp_OfServeIsTrue(t *testing.T) {
	t.Parallel()
	root := newModel(t)
	serve, _ := findCommand(root, []string{"serve"})
	if root.DefaultCmd != serve {
		t.Errorf("without a command the program does %v", root.DefaultCmd)
	}
	for _, flag := range serve.Flags {
		if len(flag.Envs) == 0 {
			t.Errorf("--%s has no variable", flag.Name)
		}
	}
}

// documentedCommands finds the commands in a document: code that begins with patchbay or ctl, after a prompt, variables or "--".
var documentedCommands = regexp.MustCompile("(?m)(?:`|^(?:\\$ )?(?:[A-Z_]+=\\S+ )*|patchbay |-- )(?:\\./bin/)?((?:patchbay(?: ctl)?|ctl) [a-z][^`\\n|;&)]*)")

func TestDocuments_NameOnlyCommandsThatExist(t *testing.T) {
	t.Parallel()
	root := newModel(t)
	pages, err := filepath.Glob("../../docs/operations/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range append(pages, "../../README.md", "../../docs/user-guide.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range documentedCommands.FindAllStringSubmatch(string(text), -1) {
			words := strings.Fields(strings.TrimPrefix(match[1], "patchbay "))
			command, rest := findCommand(root, words)
			found++
			if command == root || len(command.Children) > 0 && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
				t.Errorf("%s: there is no command %s", filepath.Base(page), match[1])
				continue
			}
			for _, word := range rest {
				name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
				if strings.HasPrefix(word, "-") && strings.Trim(word, "-") != "" && !hasFlag(command, name) {
					t.Errorf("%s: %s has no flag %s", filepath.Base(page), command.FullPath(), word)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d commands were found", found)
	}
}
