package main

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

var (
	word   = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[^\sA-Za-z0-9_]`)
	number = regexp.MustCompile(`^[0-9]+$`)
)

// compareLiterals judges literals that differ: they may name what was renamed.
func (c *comparison) compareLiterals() {
	for _, l := range c.literals {
		if !c.sameWords(l.old, l.now, l.generated) {
			c.complain("%s: %s was %s", l.where, l.now, l.old)
		}
	}
}

// sameWords reports whether two texts are the same but for words that were renamed. numbers: numbers may differ.
func (c *comparison) sameWords(old, now string, numbers bool) bool {
	from, to := word.FindAllString(old, -1), word.FindAllString(now, -1)
	if len(from) != len(to) {
		return c.words[strings.Trim(old, "`\"")][strings.Trim(now, "`\"")]
	}
	for i := range from {
		if from[i] != to[i] && !c.words[from[i]][to[i]] && !(numbers && number.MatchString(from[i]) && number.MatchString(to[i])) {
			return false
		}
	}
	return true
}

// ceilings counts words, which renaming changes. The test that reads it holds that its figures are right.
const ceilings = "internal/archtest/testdata/vocabulary.txt"

// compareText compares two files that are not Go.
func (c *comparison) compareText(oldPath, nowPath string) error {
	if oldPath == ceilings {
		return nil
	}
	old, err := c.old.read(oldPath)
	if err != nil {
		return err
	}
	now, err := c.now.read(nowPath)
	if err != nil {
		return err
	}
	if !bytes.Equal(old, now) && !c.sameWords(withoutComments(oldPath, old), withoutComments(nowPath, now), false) {
		c.complain("%s: more than names is different", nowPath)
	}
	return nil
}

// withoutComments leaves out the lines that are comments.
func withoutComments(name string, text []byte) string {
	marker := map[string]string{".templ": "//", ".sql": "--", ".yaml": "#", ".yml": "#", ".txt": "#", "": "#"}[path.Ext(name)]
	if marker == "" {
		return string(text)
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		trimmed := strings.TrimSpace(line)
		if !strings.HasPrefix(trimmed, marker) || strings.HasPrefix(trimmed, "-- name:") || strings.HasPrefix(trimmed, "#!") {
			b.WriteString(line)
		}
	}
	return b.String()
}
