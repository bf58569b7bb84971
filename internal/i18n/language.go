package i18n

import (
	"strconv"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// Language is a language of the dashboard.
type Language struct {
	Code string // as in <html lang> and in the name of its catalog: "de"
	Name string // in itself: "Deutsch"

	tag    language.Tag
	group  string // separator of thousands
	point  string // decimal mark
	change func(string) string
	texts  func() map[Key]entry // the catalog, read at its first use
	known  func() *knownTexts   // texts of other packages; nil: they are not translated
}

// entry is a translation: one text, or one per plural form.
type entry struct {
	text  string
	forms map[string]string // by the plural category of CLDR: "one", "few", "other"
}

// translate returns the translation, or the key itself.
func (l *Language) translate(key Key) string {
	if l.change != nil {
		return l.change(string(key))
	}
	if e, ok := l.texts()[key]; ok {
		return e.text
	}
	return string(key)
}

// translateCount returns the translation in the plural form of n.
func (l *Language) translateCount(n int, one, other Key) string {
	form := l.pluralForm(n)
	if e, ok := l.texts()[other]; ok {
		if text, ok := e.forms[form]; ok {
			return text
		}
		return e.text
	}
	if form == "one" {
		return l.translate(one)
	}
	return l.translate(other)
}

var formNames = map[plural.Form]string{
	plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other",
}

// pluralForm is the plural category of n in CLDR.
func (l *Language) pluralForm(n int) string {
	if n < 0 {
		n = -n
	}
	return formNames[plural.Cardinal.MatchPlural(l.tag, n, 0, 0, 0, 0)]
}

// Number groups thousands.
func (l *Language) Number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + l.group + s[i:]
	}
	return s
}
