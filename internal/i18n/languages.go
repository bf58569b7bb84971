package i18n

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/text/language"
)

//go:embed catalogs/*.json
var catalogs embed.FS

// The languages. English needs no catalog: its texts are the keys.
var (
	English = &Language{Code: "en", Name: "English", tag: language.English, group: ",", point: ".", texts: noTexts}
	German  = newLanguage("de", Language{Name: "Deutsch", tag: language.German, group: ".", point: ","})
)

// Languages can be chosen. The first is the default.
var Languages = []*Language{English, German}

var matcher = language.NewMatcher(languageTags())

func languageTags() []language.Tag {
	var tags []language.Tag
	for _, l := range Languages {
		tags = append(tags, l.tag)
	}
	return tags
}

// ByCode returns the language with this code; nil if there is none.
func ByCode(code string) *Language {
	i := slices.IndexFunc(Languages, func(l *Language) bool { return l.Code == code })
	if i < 0 {
		return nil
	}
	return Languages[i]
}

// Choose returns the chosen language, else the best in accept (the value of Accept-Language), else English.
func Choose(chosen, accept string) *Language {
	if l := ByCode(chosen); l != nil {
		return l
	}
	accepted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil || len(accepted) == 0 {
		return English
	}
	_, i, confidence := matcher.Match(accepted...)
	if confidence == language.No {
		return English
	}
	return Languages[i]
}

// Pseudo is a language for tests: English with each text changed by a function, known texts of other packages
// included.
func Pseudo(change func(string) string) *Language {
	return newLanguage("en", Language{Name: "Pseudo", tag: language.English, group: ",", change: change})
}

func noTexts() map[Key]entry { return nil }

// newLanguage adds the catalog to a language. It is read at its first use, and texts of other packages are indexed at theirs:
// most commands translate nothing.
func newLanguage(code string, l Language) *Language {
	l.Code = code
	l.texts = sync.OnceValue(func() map[Key]entry { return mustLoad(code) })
	l.known = sync.OnceValue(l.loadKnown)
	return &l
}

// mustLoad reads an embedded catalog, which the tests have validated.
func mustLoad(code string) map[Key]entry {
	texts, err := loadCatalog(code)
	if err != nil {
		panic(err)
	}
	return texts
}

func loadCatalog(code string) (map[Key]entry, error) {
	raw, err := catalogs.ReadFile("catalogs/" + code + ".json")
	if err != nil {
		return nil, fmt.Errorf("read catalog %s: %w", code, err)
	}
	var file map[Key]json.RawMessage
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("parse catalog %s: %w", code, err)
	}
	texts := make(map[Key]entry, len(file))
	for key, value := range file {
		e, err := parseEntry(value)
		if err != nil {
			return nil, fmt.Errorf("catalog %s, %q: %w", code, key, err)
		}
		texts[key] = e
	}
	return texts, nil
}

// parseEntry reads a text, or an object with a text for each form.
func parseEntry(raw json.RawMessage) (entry, error) {
	if raw[0] == '"' {
		var text string
		err := json.Unmarshal(raw, &text)
		return entry{text: text}, err
	}
	var forms map[string]string
	if err := json.Unmarshal(raw, &forms); err != nil {
		return entry{}, err
	}
	return entry{text: forms["other"], forms: forms}, nil
}
