package connectors

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"patchbay/internal/fault"
)

// Bounds of what people type.
const (
	MaxName        = 100  // characters
	MaxDescription = 2000 // characters
)

// check gathers what is wrong with an input.
type check struct{ fields []fault.Field }

func (c *check) refuse(location, format string, args ...any) {
	c.fields = append(c.fields, fault.Field{Location: location, Message: fmt.Sprintf(format, args...)})
}

func (c *check) name(name string) {
	switch {
	case name == "":
		c.refuse("name", "A name is needed.")
	case utf8.RuneCountInString(name) > MaxName:
		c.refuse("name", "A name has at most %d characters.", MaxName)
	case !plainText(name, ""):
		c.refuse("name", "A name holds no control characters.")
	case strings.ContainsFunc(name, Misleads):
		c.refuse("name", MisleadingName)
	}
}

func (c *check) slug(slug string) {
	if !ValidSlug(slug) {
		c.refuse("slug", "A slug has 1 to %d lower-case letters, digits and hyphens, and begins and ends with a letter or digit.", MaxSlug)
	}
	if reserved(slug) {
		c.refuse("slug", "The slug %q would be mistaken for something else. Choose another.", slug)
	}
}

func (c *check) description(d string) {
	switch {
	case utf8.RuneCountInString(d) > MaxDescription:
		c.refuse("description", "A description has at most %d characters.", MaxDescription)
	case !plainText(d, "\n\r\t"):
		c.refuse("description", "A description holds no control characters.")
	}
}

// plainText tells whether s is valid UTF-8 without control characters but those of allowed.
func plainText(s, allowed string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune(allowed, r) })
}

// oneOf refuses a value that is none of the known ones.
func oneOf[T ~string](c *check, location string, value T, known ...T) {
	names := make([]string, len(known))
	for i, k := range known {
		if value == k {
			return
		}
		names[i] = string(k)
	}
	c.refuse(location, "Choose one of %s.", strings.Join(names, ", "))
}
