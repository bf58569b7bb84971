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

// look holds an answer against what must not be in it: a secret, or another tenant's mark.
func (w *world) look(t *tenant, where string, text []byte) {
	for _, other := range w.tenants {
		if other != t && bytes.Contains(text, []byte(other.mark)) {
			w.tally.note("crossed", fmt.Sprintf("%s of %s holds the mark of %s", where, t.slug, other.slug))
		}
	}
	if bytes.Contains(text, []byte(lie)) {
		w.tally.note("believed", where)
	}
	if what := w.secretIn(text); what != "" {
		w.tally.note("secret", where+" holds "+what)
	}
}

// secretIn is which kind of secret a text holds as it is; empty: none.
func (w *world) secretIn(text []byte) string {
	switch {
	case bytes.Contains(text, []byte(planted)):
		return "a secret that was planted"
	case w.keyset != "" && bytes.Contains(text, []byte(w.keyset)):
		return "the keyset"
	}
	for _, t := range w.tenants {
		for what, secret := range map[string]string{"an API key": t.key, "an assistant's API key": t.assistant, "an agent's token": t.robot} {
			if secret != "" && bytes.Contains(text, []byte(secret)) {
				return what
			}
		}
	}
	return ""
}

// Runs of characters that may be something else, encoded.
var (
	hexRun    = regexp.MustCompile(`[0-9a-f]{32,}`)
	base64Run = regexp.MustCompile(`[A-Za-z0-9+/_-]{24,}`)
	issuedRun = regexp.MustCompile(`[A-Z2-7]{26}`) // what oauthtest's secrets end with
)

// hunt looks for all secrets in a text, as it is and decoded.
func (w *world) hunt(where string, text []byte, issued map[string]bool) {
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
	for _, one := range append(texts, decoded) {
		what := w.secretIn(one)
		for _, run := range issuedRun.FindAll(one, -1) {
			if issued[string(run)] {
				what = "a token or a secret of the authorization server"
			}
		}
		if w.programs.givenIn(one) {
			what = "a code or a token of a program that signed in"
		}
		if what != "" {
			w.tally.note("secret", where+" holds "+what)
		}
	}
}

// givenIn tells whether a text holds the secret part of a code or a token of ours, which are 52 characters of base32 in lower case. A regular
// expression takes several times as long, of hundreds of MiB.
func (p *programs) givenIn(text []byte) bool {
	const size = 52
	from := 0
	for i, b := range text {
		if b >= 'a' && b <= 'z' || b >= '2' && b <= '7' {
			if i-from+1 >= size && p.given[string(text[i-size+1:i+1])] {
				return true
			}
			continue
		}
		from = i + 1
	}
	return false
}

// search looks for secrets in a dump of the database, in every log, and in every file that is left.
func (w *world) search(ctx context.Context, r *report) error {
	issued := map[string]bool{}
	for _, one := range w.as.Issued() {
		issued[one[strings.LastIndexByte(one, '-')+1:]] = true
	}
	dump, err := w.engine.dump(ctx)
	if err != nil {
		return fmt.Errorf("dump: %w", err)
	}
	if !bytes.Contains(dump, []byte(w.tenants[0].mark)) || len(issued) < 4 || len(w.programs.given) < 4 {
		return fmt.Errorf("the dump lacks rows, or no tokens were issued (%d, %d): the search would show nothing", len(issued), len(w.programs.given))
	}
	w.hunt("the database", dump, issued)
	r.searched = int64(len(dump))
	if err := w.engine.stop(ctx); err != nil {
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
		if strings.HasPrefix(name, "disk") { // of which the dump is the text: here what is not in any row any more
			if what := w.secretIn(text); what != "" {
				w.tally.note("secret", name+" holds "+what)
			}
			return nil
		}
		w.hunt(name, text, issued)
		return nil
	})
}
