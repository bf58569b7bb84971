package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// inspectText searches a response for secrets and for other tenants' marks.
func (w *world) inspectText(t *tenant, where string, text []byte) {
	for _, other := range w.tenants {
		if other != t && bytes.Contains(text, []byte(other.mark)) {
			w.tally.recordProblem("crossed", fmt.Sprintf("%s of %s holds the mark of %s", where, t.slug, other.slug))
		}
	}
	if bytes.Contains(text, []byte(wrongAnswer)) {
		w.tally.recordProblem("believed", where)
	}
	if kind := w.findSecret(text); kind != "" {
		w.tally.recordProblem("secret", where+" holds "+kind)
	}
}

// findSecret is the kind of secret in a text; empty: none.
func (w *world) findSecret(text []byte) string {
	switch {
	case bytes.Contains(text, []byte(plantedPrefix)):
		return "a secret that was planted"
	case w.keyset != "" && bytes.Contains(text, []byte(w.keyset)):
		return "the keyset"
	}
	for _, t := range w.tenants {
		for kind, secret := range map[string]string{"an API key": t.key, "an assistant's API key": t.assistant, "an agent's token": t.robot} {
			if secret != "" && bytes.Contains(text, []byte(secret)) {
				return kind
			}
		}
	}
	return ""
}

// Runs of characters that may be encoded.
var (
	hexRun    = regexp.MustCompile(`[0-9a-f]{32,}`)
	base64Run = regexp.MustCompile(`[A-Za-z0-9+/_-]{24,}`)
	issuedRun = regexp.MustCompile(`[A-Z2-7]{26}`) // the end of oauthtest's secrets
)

// searchDecoded searches a text, as it is and decoded.
func (w *world) searchDecoded(where string, text []byte, issued map[string]bool) {
	texts := [][]byte{text}
	var decoded []byte
	for _, run := range hexRun.FindAll(text, -1) {
		decoded, _ = hex.AppendDecode(decoded, run[:len(run)/2*2])
		decoded = append(decoded, '\n')
	}
	for _, run := range base64Run.FindAll(text, -1) {
		plain := strings.NewReplacer("-", "+", "_", "/").Replace(string(run))
		b, _ := base64.RawStdEncoding.DecodeString(plain[:len(plain)/4*4])
		decoded = append(append(decoded, b...), '\n')
	}
	for _, candidate := range append(texts, decoded) {
		kind := w.findSecret(candidate)
		for _, run := range issuedRun.FindAll(candidate, -1) {
			if issued[string(run)] {
				kind = "a token or a secret of the authorization server"
			}
		}
		if w.programs.hasIssuedSecret(candidate) {
			kind = "a code or a token of a program that signed in"
		}
		if kind != "" {
			w.tally.recordProblem("secret", where+" holds "+kind)
		}
	}
}

// hasIssuedSecret reports whether a text contains an issued secret: 52 characters of lower-case base32. A
// regular expression is several times slower.
func (p *programLog) hasIssuedSecret(text []byte) bool {
	const size = 52
	start := 0
	for i, b := range text {
		if b >= 'a' && b <= 'z' || b >= '2' && b <= '7' {
			if i-start+1 >= size && p.issued[string(text[i-size+1:i+1])] {
				return true
			}
			continue
		}
		start = i + 1
	}
	return false
}

// searchEverywhere searches a dump of the database, logs, and files.
func (w *world) searchEverywhere(ctx context.Context, r *runReport) error {
	issued := map[string]bool{}
	for _, token := range w.as.Issued() {
		issued[token[strings.LastIndexByte(token, '-')+1:]] = true
	}
	dump, err := w.engine.dumpAll(ctx)
	if err != nil {
		return fmt.Errorf("dump: %w", err)
	}
	if !bytes.Contains(dump, []byte(w.tenants[0].mark)) || len(issued) < 4 || len(w.programs.issued) < 4 {
		return fmt.Errorf("the dump lacks rows, or no tokens were issued (%d, %d): the search would show nothing", len(issued), len(w.programs.issued))
	}
	w.searchDecoded("the database", dump, issued)
	r.searched = int64(len(dump))
	if err := w.engine.stopCluster(ctx); err != nil {
		return err
	}
	w.engine.cluster = nil
	return filepath.WalkDir(w.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // our own
		if err != nil {
			return err
		}
		r.searched += int64(len(text))
		name, _ := filepath.Rel(w.home, path)
		if strings.HasPrefix(name, "disk") { // the dump covers the rows; the files also hold deleted ones
			if kind := w.findSecret(text); kind != "" {
				w.tally.recordProblem("secret", name+" holds "+kind)
			}
			return nil
		}
		w.searchDecoded(name, text, issued)
		return nil
	})
}
