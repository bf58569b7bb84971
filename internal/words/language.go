package words

import (
	"strconv"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// Language is one in which the dashboard speaks.
type Language struct {
	Code string // as in <html lang> and in the name of its catalog: "de"
	Name string // in itself: "Deutsch"

	tag    language.Tag
	group  string // between thousands
	change func(string) string
	texts  map[Key]entry
	known  func() *known // what other rooms say; nil: it is not translated
}

// entry is a translation: one text, or one for each form of a count.
type entry struct {
	text  string
	forms map[string]string // by the name of the form in CLDR: "one", "few", "other"
}

// text is the translation; the key itself where there is none.
func (l *Language) text(key Key) string {
	if l.change != nil {
		return l.change(string(key))
	}
	if e, ok := l.texts[key]; ok {
		return e.text
	}
	return string(key)
}

// count is the translation of a count in the form that n needs.
func (l *Language) count(n int, one, other Key) string {
	form := l.form(n)
	if e, ok := l.texts[other]; ok {
		if text, ok := e.forms[form]; ok {
			return text
		}
		return e.text
	}
	if form == "one" {
		return l.text(one)
	}
	return l.text(other)
}

var formNames = map[plural.Form]string{
	plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other",
}

// form is the name that CLDR has for the form of a count of n.
func (l *Language) form(n int) string {
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
