package words

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
	English = &Language{Code: "en", Name: "English", tag: language.English, group: ","}
	German  = loaded("de", Language{Name: "Deutsch", tag: language.German, group: "."})
)

// Languages are all that can be chosen. The first is spoken to whoever asks for none of them.
var Languages = []*Language{English, German}

var matcher = language.NewMatcher(tags())

func tags() []language.Tag {
	var tags []language.Tag
	for _, l := range Languages {
		tags = append(tags, l.tag)
	}
	return tags
}

// ByCode is the language of this code; nil where there is none.
func ByCode(code string) *Language {
	i := slices.IndexFunc(Languages, func(l *Language) bool { return l.Code == code })
	if i < 0 {
		return nil
	}
	return Languages[i]
}

// Choose is the language that a person chose, else the best that the browser accepts (the value of Accept-Language), else English.
func Choose(chosen, accept string) *Language {
	if l := ByCode(chosen); l != nil {
		return l
	}
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil || len(wanted) == 0 {
		return English
	}
	_, i, confidence := matcher.Match(wanted...)
	if confidence == language.No {
		return English
	}
	return Languages[i]
}

// Pseudo is a language for tests: English, each text changed by a function. What other rooms say is changed if it is known.
func Pseudo(change func(string) string) *Language {
	return loaded("en", Language{Name: "Pseudo", tag: language.English, group: ",", change: change})
}

// loaded is a language with its catalog. What other rooms say is learned when it is first asked for.
func loaded(code string, l Language) *Language {
	l.Code, l.texts = code, mustLoad(code)
	l.known = sync.OnceValue(l.learn)
	return &l
}

// mustLoad reads an embedded catalog. The tests have read it before.
func mustLoad(code string) map[Key]entry {
	texts, err := load(code)
	if err != nil {
		panic(err)
	}
	return texts
}

func load(code string) (map[Key]entry, error) {
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
