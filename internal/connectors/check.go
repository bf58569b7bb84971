package connectors

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"patchbay/internal/fault"
)

// Bounds of text fields.
const (
	MaxName        = 100  // characters
	MaxDescription = 2000 // characters
)

type validation struct{ fields []fault.Field }

func (c *validation) addField(location, format string, args ...any) {
	c.fields = append(c.fields, fault.Field{Location: location, Message: fmt.Sprintf(format, args...)})
}

func (c *validation) name(name string) {
	switch {
	case name == "":
		c.addField("name", "Enter a name.")
	case utf8.RuneCountInString(name) > MaxName:
		c.addField("name", "At most %d characters.", MaxName)
	case !isPlainText(name, ""):
		c.addField("name", "No control characters allowed.")
	case strings.ContainsFunc(name, Misleads):
		c.addField("name", MisleadingName)
	}
}

func (c *validation) slug(slug string) {
	if !ValidSlug(slug) {
		c.addField("slug", "Use 1–%d lowercase letters, digits or hyphens; no hyphen at either end.", MaxSlug)
	}
	if isReservedSlug(slug) {
		c.addField("slug", "The slug %q is reserved. Choose another.", slug)
	}
}

func (c *validation) checkDescription(d string) {
	switch {
	case utf8.RuneCountInString(d) > MaxDescription:
		c.addField("description", "At most %d characters.", MaxDescription)
	case !isPlainText(d, "\n\r\t"):
		c.addField("description", "No control characters allowed.")
	}
}

// isPlainText reports whether s is valid UTF-8 without control characters except allowed.
func isPlainText(s, allowed string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune(allowed, r) })
}

func checkOneOf[T ~string](c *validation, location string, value T, known ...T) {
	names := make([]string, len(known))
	for i, k := range known {
		if value == k {
			return
		}
		names[i] = string(k)
	}
	c.addField(location, "Choose one of %s.", strings.Join(names, ", "))
}
