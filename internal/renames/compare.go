package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strings"
)

// comparison is of two trees.
type comparison struct {
	old, now *tree
	forward  map[object]object // of old's objects that were met
	backward map[object]object
	words    map[string]map[string]bool // the names that an old name has now: identifiers and parts of paths
	moved    map[string]string          // files, by their old path
	wrong    []string
	literals []literalPair // that differ, and are judged when all names are known
	renamed  map[object]bool
}

type literalPair struct {
	where     string
	old, now  string
	generated bool // of templ: it tells places in its source by their numbers
}

func compare(old, now *tree) (*comparison, error) {
	c := &comparison{
		old: old, now: now, forward: map[object]object{}, backward: map[object]object{}, words: map[string]map[string]bool{}, moved: map[string]string{}, renamed: map[object]bool{},
	}
	pairs, err := c.pairFiles()
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		if isGo(p[0]) {
			if err := c.compareGo(p[0], p[1]); err != nil {
				return nil, err
			}
		}
	}
	c.compareLiterals()
	for _, p := range pairs {
		if !isGo(p[0]) && path.Ext(p[0]) != ".md" {
			if err := c.compareText(p[0], p[1]); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

func (c *comparison) complain(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// pairFiles finds the file of now for each file of old: the one at its path, else one of the same shape.
func (c *comparison) pairFiles() (pairs [][2]string, err error) {
	for p := range c.old.files {
		if c.now.files[p] {
			pairs = append(pairs, [2]string{p, p})
		}
	}
	added := map[[sha256.Size]byte][]string{}
	for _, p := range c.now.without(c.old) {
		s, err := shapeOf(c.now, p)
		if err != nil {
			return nil, err
		}
		added[s] = append(added[s], p)
	}
	for _, p := range c.old.without(c.now) {
		s, err := shapeOf(c.old, p)
		if err != nil {
			return nil, err
		}
		candidates := added[s]
		if len(candidates) == 0 {
			if path.Ext(p) != ".md" {
				c.complain("%s: no file of the new tree has its shape", p)
			}
			continue
		}
		best := closest(p, candidates)
		c.moved[p] = candidates[best]
		c.notePath(p, candidates[best])
		pairs = append(pairs, [2]string{p, candidates[best]})
		added[s] = slices.Delete(candidates, best, best+1)
	}
	for _, left := range added {
		for _, p := range left {
			if path.Ext(p) != ".md" {
				c.complain("%s: no file of the old tree has its shape", p)
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return pairs, nil
}

// closest is the candidate that has most of a path in common.
func closest(p string, candidates []string) (best int) {
	most := -1
	for i, q := range candidates {
		common := 0
		for common < min(len(p), len(q)) && p[len(p)-1-common] == q[len(q)-1-common] {
			common++
		}
		if common > most {
			best, most = i, common
		}
	}
	return best
}

// notePath notes what the parts of a path are called now.
func (c *comparison) notePath(old, now string) {
	from, to := strings.Split(strings.TrimSuffix(old, ".go"), "/"), strings.Split(strings.TrimSuffix(now, ".go"), "/")
	c.noteWord(path.Dir(old), path.Dir(now))
	c.noteWord(path.Base(old), path.Base(now))
	if len(from) == len(to) {
		for i := range from {
			c.noteWord(from[i], to[i])
		}
	}
}

func (c *comparison) noteWord(old, now string) {
	if old == now {
		return
	}
	if c.words[old] == nil {
		c.words[old] = map[string]bool{}
	}
	c.words[old][now] = true
}

// lexeme is one token of a file.
type lexeme struct {
	token  token.Token
	text   string
	offset int
	line   int
}

// lexemes are the tokens of a file, without comments, imports, and what depends on where lines are broken.
func lexemes(path string, text []byte) (all []lexeme, imports []string, err error) {
	files := token.NewFileSet()
	file := files.AddFile(path, -1, len(text))
	var s scanner.Scanner
	var failed scanner.ErrorList
	s.Init(file, text, failed.Add, 0)
	inImport, depth := false, 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return dropBreaks(all), imports, failed.Err()
		}
		switch {
		case tok == token.IMPORT:
			inImport = true
		case inImport && tok == token.LPAREN:
			depth++
		case inImport && tok == token.RPAREN:
			depth--
		case inImport && tok == token.STRING:
			imports = append(imports, lit)
		case inImport && tok == token.SEMICOLON && depth == 0:
			inImport = false
			continue
		}
		if !inImport {
			all = append(all, lexeme{tok, lit, file.Offset(pos), file.Line(pos)})
		}
	}
}

// dropBreaks leaves out the commas and semicolons that gofmt writes only where a line ends.
func dropBreaks(all []lexeme) (kept []lexeme) {
	for i, l := range all {
		if l.token == token.COMMA || l.token == token.SEMICOLON {
			if i+1 < len(all) && (all[i+1].token == token.RPAREN || all[i+1].token == token.RBRACE || all[i+1].token == token.RBRACK) {
				continue
			}
		}
		kept = append(kept, l)
	}
	return kept
}

// shapeOf is a digest of a file that a renaming does not change.
func shapeOf(t *tree, p string) (shape [sha256.Size]byte, err error) {
	text, err := t.read(p)
	if err != nil {
		return shape, err
	}
	if !isGo(p) {
		return sha256.Sum256(text), nil
	}
	all, _, err := lexemes(p, text)
	if err != nil {
		return shape, err
	}
	h := sha256.New()
	for _, l := range all {
		fmt.Fprintln(h, l.token)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// compareGo compares two Go files token by token.
func (c *comparison) compareGo(oldPath, nowPath string) error {
	oldText, err := c.old.read(oldPath)
	if err != nil {
		return err
	}
	nowText, err := c.now.read(nowPath)
	if err != nil {
		return err
	}
	oldObjects, nowObjects := c.old.objects[oldPath], c.now.objects[nowPath]
	if bytes.Equal(oldText, nowText) && oldObjects == nil {
		return nil // not built on this machine, and the same
	}
	from, oldImports, err := lexemes(oldPath, oldText)
	if err != nil {
		return err
	}
	to, nowImports, err := lexemes(nowPath, nowText)
	if err != nil {
		return err
	}
	if len(oldImports) != len(nowImports) {
		c.complain("%s: %d imports, and %d before", nowPath, len(nowImports), len(oldImports))
	}
	if directives(oldText) != directives(nowText) {
		c.complain("%s: its directives (//go:…) are not the same", nowPath)
	}
	for i := range max(len(from), len(to)) {
		if i >= len(from) || i >= len(to) || from[i].token != to[i].token {
			line := 0
			if i < len(to) {
				line = to[i].line
			}
			c.complain("%s:%d: the code is not the same", nowPath, line)
			return nil
		}
		where := fmt.Sprintf("%s:%d", nowPath, to[i].line)
		switch {
		case from[i].token == token.IDENT:
			c.pairNames(where, from[i].text, to[i].text, oldObjects[from[i].offset], nowObjects[to[i].offset])
		case from[i].text != to[i].text:
			c.literals = append(c.literals, literalPair{where, from[i].text, to[i].text, strings.HasSuffix(nowPath, "_templ.go")})
		}
	}
	return nil
}

// pairNames notes that an object of the old tree is one of the new tree.
func (c *comparison) pairNames(where, oldName, nowName string, old, now object) {
	if oldName != nowName {
		c.noteWord(oldName, nowName)
	}
	if old == "" || now == "" { // of a file that is not built on this machine
		if oldName != nowName {
			c.literals = append(c.literals, literalPair{where: where, old: oldName, now: nowName})
		}
		return
	}
	if oldName != nowName {
		c.renamed[old] = true
	}
	if strings.HasPrefix(string(old), "name ") && old != now {
		c.complain("%s: %s is not declared here, and was %s", where, now, old)
		return
	}
	if was, met := c.forward[old]; met && was != now {
		c.complain("%s: %s was %s, which is %s elsewhere", where, now, old, was)
		return
	}
	if was, met := c.backward[now]; met && was != old {
		c.complain("%s: %s was %s, and is what was %s elsewhere", where, now, old, was)
		return
	}
	c.forward[old], c.backward[now] = now, old
}

// directives are the lines that the compiler reads.
func directives(text []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "//go:") || strings.HasPrefix(line, "// +build") {
			b.WriteString(line)
		}
	}
	return b.String()
}
