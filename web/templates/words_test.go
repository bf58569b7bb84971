package templates_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"patchbay/internal/i18n"
	"patchbay/web"
)

// pseudo marks translated English: its letters stand between signs.
var pseudo = i18n.Pseudo(func(text string) string {
	parts := strings.Split(text, "|")
	for i, part := range parts {
		parts[i] = "⟦" + part + "⟧"
	}
	return strings.Join(parts, "|")
})

// shown are the attributes that people see or hear.
var shown = map[string]bool{"title": true, "aria-label": true, "placeholder": true, "alt": true}

// untranslated are the texts and attributes of a page with words outside of the signs.
func untranslated(page string) []string {
	var found []string
	look := func(where, text string) {
		for said.MatchString(text) { // innermost first
			text = said.ReplaceAllString(text, "")
		}
		if rest := strings.TrimSpace(text); letters.MatchString(rest) {
			found = append(found, where+": "+rest)
		}
	}
	z := html.NewTokenizer(strings.NewReader(page))
	var inside []string
	for {
		switch z.Next() {
		case html.ErrorToken:
			return found
		case html.StartTagToken, html.SelfClosingTagToken:
			tok := z.Token()
			inside = append(inside, tok.Data)
			for _, a := range tok.Attr {
				if shown[a.Key] {
					look(tok.Data+" "+a.Key, a.Val)
				}
			}
		case html.TextToken:
			if in := inside[max(0, len(inside)-1):]; len(in) == 0 || in[0] != "script" && in[0] != "style" {
				look("text", z.Token().Data)
			}
		}
	}
}

var (
	said    = regexp.MustCompile(`(?s)⟦[^⟦⟧]*⟧`)
	letters = regexp.MustCompile(`[A-Za-z]{2,}`)
)

// own are words that are the same in every language.
var own = regexp.MustCompile(`^(Patchbay|English|Deutsch|Esc|CSV|JSON|Claude|Cursor|VS Code|Windsurf|Gemini CLI|Zed|Codex|UTC|PATCH|HEAD)$`)

var (
	// machine matches texts of programs: addresses, parameter names, code.
	machine = regexp.MustCompile(`[_/0-9{}="@]|^x-|^-`)
	between = regexp.MustCompile(`[·:“”\n]`)
)

func TestWhatTemplatesSayCanBeTranslated(t *testing.T) {
	t.Parallel()
	data, pages := dataOfSamples(t), samples(web.Asset)
	if len(pages) < 50 {
		t.Errorf("%d samples of pages are rendered", len(pages))
	}
	for name, c := range pages {
		var b strings.Builder
		if err := c.Render(i18n.With(t.Context(), pseudo), &b); err != nil {
			t.Fatal(err)
		}
		for _, text := range untranslated(b.String()) {
			where, said, _ := strings.Cut(text, ": ")
			for _, piece := range between.Split(said, -1) {
				if piece = strings.TrimSpace(piece); letters.MatchString(piece) && !own.MatchString(piece) && !machine.MatchString(piece) && !data(piece) {
					t.Errorf("%s says %q, which is not translated (%s)", name, piece, where)
				}
			}
		}
	}
}

// dataOfSamples reports whether a text is data of the samples, which view builders translate.
func dataOfSamples(t *testing.T) func(text string) bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var sources strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(raw)
	}
	all := sources.String()
	return func(text string) bool {
		for _, line := range strings.Split(text, "\n") {
			if !strings.Contains(all, strings.TrimSpace(line)) {
				return false
			}
		}
		return true
	}
}
