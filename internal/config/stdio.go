package config

import (
	"errors"
	"path"
	"strings"
)

// programs reads commands with commas between them: an absolute path, and the arguments that it must have, if any, with spaces
// between them. Quotes, single or double, keep spaces and commas together.
func (c *checker) programs(variable, list string) [][]string {
	entries, err := splitCommands(list)
	if err != nil {
		c.refuse(variable, "must close the quotes that it opens.")
		return nil
	}
	for _, entry := range entries {
		if !path.IsAbs(entry[0]) || path.Clean(entry[0]) == "/" {
			c.refuse(variable, "must be absolute paths with commas between them, each with its arguments or without, and %q is no such path.", entry[0])
			return nil
		}
		entry[0] = path.Clean(entry[0])
	}
	return entries
}

var errQuotes = errors.New("an open quote")

// splitCommands splits at commas, and each part at spaces. An entry is never empty.
func splitCommands(list string) ([][]string, error) {
	var (
		entries [][]string
		entry   []string
		word    strings.Builder
		begun   bool // a word, which may be an empty one in quotes
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
