package templates

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/i18n"
)

var (
	saidByScript = regexp.MustCompile(`words\.(?:say\(|count\(\w+, )"([^"]+)"`)
	comment      = regexp.MustCompile(`(?m)(^|\s)//.*$`)
	literal      = regexp.MustCompile("\"[^\"\n]*\"|`[^`]*`")
	ofPeople     = regexp.MustCompile(`[A-Za-z]{2,} [A-Za-z]{2,}|^[A-Z][a-z]+$|^ [a-z]+$`)
)

// noTexts are literals of scripts that look like texts: of language, selectors, key names, storage and time
// zones.
var noTexts = map[string]bool{
	"use strict": true, "views ": true, "Enter": true, "Escape": true, "UTC": true, "Ctrl K": true,
}

// ofSelectors matches selectors and addresses, but no texts.
var ofSelectors = regexp.MustCompile(`[\[\]#]|^(\w+, )+\w+$|^main |^dialog|^\.`)

func scripts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "static", "js", "*.js"))
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	sources := map[string]string{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[filepath.Base(file)] = comment.ReplaceAllString(string(raw), "")
	}
	return sources
}

func TestScriptsSayNothingThatThePageDoesNotBring(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	for name, source := range scripts(t) {
		for _, m := range saidByScript.FindAllStringSubmatch(source, -1) {
			said[m[1]] = true
		}
		for _, text := range literal.FindAllString(saidByScript.ReplaceAllString(source, ""), -1) {
			if text = text[1 : len(text)-1]; ofPeople.MatchString(text) && !noTexts[text] && !ofSelectors.MatchString(text) {
				t.Errorf("%s says %q by itself: write words.say(…), and the text into scriptTexts", name, text)
			}
		}
	}
	pseudo := i18n.With(t.Context(), i18n.Pseudo(func(text string) string { return "⟦" + text + "⟧" }))
	brought := wordsOf(t, func() (string, error) { return scriptWords(pseudo) })
	if have, want := slices.Sorted(maps.Keys(brought)), slices.Sorted(maps.Keys(said)); !slices.Equal(have, want) {
		t.Errorf("the page brings %q,\nand scripts say %q", have, want)
	}
	german := wordsOf(t, func() (string, error) { return scriptWords(i18n.With(t.Context(), i18n.German)) })
	if german["Copied"] != "Kopiert" {
		t.Errorf("%v", german)
	}
	if n, _ := scriptWords(t.Context()); len(n) > 200 || strings.Contains(n, "Copied") {
		t.Errorf("an English page brings what its scripts know: %s", n)
	}
}

func wordsOf(t *testing.T, of func() (string, error)) map[string]any {
	t.Helper()
	raw, err := of()
	if err != nil {
		t.Fatal(err)
	}
	var texts map[string]any
	if err := json.Unmarshal([]byte(raw), &texts); err != nil {
		t.Fatal(err)
	}
	return texts
}
