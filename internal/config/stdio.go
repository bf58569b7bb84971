package config

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// Program is one that connectors may start.
type Program struct {
	Path string   // absolute and clean
	Args []string // as the operator wrote them
	Rule string   // how a connector's arguments are compared with Args: "", none or prefix
	Dirs []string // allowed working directories; nil: not restricted, empty: none
	Env  []string // allowed environment variables; nil: not restricted, empty: none
}

// parsePrograms parses commands separated by commas: an absolute path, and its required arguments, if any,
// separated by spaces. Single or double quotes protect spaces and commas. Rules may precede the path:
//
//	args=none             no arguments at all
//	args=prefix           the arguments begin with those of the list, and any may follow
//	args=any              any arguments, as where none follow
//	cwd=FOLDER, cwd=none  an allowed working directory; repeatable
//	env=NAME, env=none    an allowed environment variable; repeatable
func (c *fieldErrors) parsePrograms(variable, list string) []Program {
	entries, err := splitCommands(list)
	if err != nil {
		c.addField(variable, "must close all quotes.")
		return nil
	}
	var programs []Program
	for _, words := range entries {
		p, wrong := parseProgram(words)
		if wrong != "" {
			c.addField(variable, "%s", wrong)
			return nil
		}
		programs = append(programs, p)
	}
	return programs
}

// parseProgram parses one entry; wrong is the end of an error's sentence.
func parseProgram(words []string) (p Program, wrong string) {
	at := slices.IndexFunc(words, func(word string) bool { return path.IsAbs(word) || !strings.Contains(word, "=") })
	if at < 0 {
		at = len(words) - 1
	}
	rule := ""
	for _, word := range words[:at] {
		key, value, _ := strings.Cut(word, "=")
		var known bool
		switch key {
		case "args":
			rule, known = value, rule == "" && slices.Contains([]string{"any", "none", "prefix"}, value)
		case "cwd":
			p.Dirs, known = appendFolder(p.Dirs, value)
		case "env":
			p.Env, known = appendVariable(p.Env, value)
		}
		if !known {
			return p, "must have only args=any, args=none, args=prefix, cwd=FOLDER, cwd=none, env=NAME and env=none before a path, not \"" + word + "\"."
		}
	}
	p.Path, p.Args = path.Clean(words[at]), words[at+1:]
	switch {
	case !path.IsAbs(words[at]) || p.Path == "/":
		return p, "must be comma-separated absolute paths, with optional arguments; \"" + words[at] + "\" is not one."
	case rule == "prefix" && len(p.Args) == 0:
		return p, "must have arguments after " + p.Path + " with args=prefix."
	case (rule == "none" || rule == "any") && len(p.Args) > 0:
		return p, "must have no arguments after " + p.Path + " with args=" + rule + "."
	case rule != "any":
		p.Rule = rule
	}
	return p, ""
}

// appendFolder adds an allowed working directory.
func appendFolder(dirs []string, value string) ([]string, bool) {
	if value == "none" {
		return []string{}, dirs == nil
	}
	nothing := dirs != nil && len(dirs) == 0
	return append(dirs, path.Clean(value)), path.IsAbs(value) && !nothing
}

// appendVariable adds an allowed variable.
func appendVariable(names []string, value string) ([]string, bool) {
	if value == "none" {
		return []string{}, names == nil
	}
	nothing := names != nil && len(names) == 0
	return append(names, value), value != "" && !strings.ContainsAny(value, "=*") && !nothing
}

var errQuotes = errors.New("an open quote")

// splitCommands splits at commas, and each part at spaces. An entry is never empty.
func splitCommands(list string) ([][]string, error) {
	var (
		entries [][]string
		entry   []string
		word    strings.Builder
		begun   bool // in a word, which may be empty in quotes
		quote   rune
	)
	endWord := func() {
		if begun {
			entry = append(entry, word.String())
		}
		word.Reset()
		begun = false
	}
	endEntry := func() {
		if endWord(); len(entry) > 0 {
			entries = append(entries, entry)
		}
		entry = nil
	}
	for _, r := range list {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, begun = r, true
		case r == ',':
			endEntry()
		case strings.ContainsRune(" \t\r\n", r):
			endWord()
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	endEntry()
	if quote != 0 {
		return nil, errQuotes
	}
	return entries, nil
}
