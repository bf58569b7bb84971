package i18n

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Key is an English text and the key of its translations. With arguments it is a format.
type Key string

type contextKey struct{}

// With returns a context with the language; nil: the default.
func With(ctx context.Context, l *Language) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// FromContext returns the context's language, by default English.
func FromContext(ctx context.Context) *Language {
	if l, ok := ctx.Value(contextKey{}).(*Language); ok && l != nil {
		return l
	}
	return English
}

// T returns the text in the context's language. Without arguments it is no format, and may have a percent sign.
func T(ctx context.Context, key Key, args ...any) string {
	l := FromContext(ctx)
	return l.formatText(l.translate(key), args)
}

// N returns a text about a count, in the plural form of the number. Both keys are formats with the grouped
// number as their first argument: a string.
func N(ctx context.Context, n int, one, other Key, args ...any) string {
	l := FromContext(ctx)
	return l.formatText(l.translateCount(n, one, other), append([]any{l.Number(n)}, args...))
}

// Forms returns all plural forms of a count by their CLDR category, for scripts.
func Forms(ctx context.Context, one, other Key) map[string]string {
	l := FromContext(ctx)
	if forms := l.texts()[other].forms; forms != nil && l.change == nil {
		return forms
	}
	return map[string]string{"one": l.translate(one), "other": l.translate(other)}
}

// Number formats a number with the language's separator of thousands: "1,204".
func Number(ctx context.Context, n int) string { return FromContext(ctx).Number(n) }

// Parts returns a sentence cut at its bars. The page puts links, code and values between the parts, in the same
// order in every language. It does not show the part "…".
func Parts(ctx context.Context, key Key, args ...any) []string {
	l := FromContext(ctx)
	parts := strings.Split(l.translate(key), "|")
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
		if strings.Contains(part, "%") {
			parts[i] = l.formatText(parts[i], args)
		}
	}
	return parts
}

// Decimal formats a number with the language's decimal mark, in as few digits as it needs: "10.53".
func Decimal(ctx context.Context, f float64) string {
	return strings.Replace(strconv.FormatFloat(f, 'f', -1, 64), ".", FromContext(ctx).point, 1)
}

func (l *Language) formatText(format string, args []any) string {
	if len(args) == 0 || !strings.Contains(format, "%") {
		return format
	}
	if l.point != "." {
		args = slices.Clone(args)
		for i, arg := range args {
			if f, ok := arg.(float64); ok {
				args[i] = decimal{f, l.point}
			}
		}
	}
	return fmt.Sprintf(format, args...)
}

// decimal is a number that is formatted with a language's decimal mark.
type decimal struct {
	value float64
	point string
}

// Format implements fmt.Formatter.
func (d decimal) Format(s fmt.State, verb rune) {
	text := fmt.Sprintf(fmt.FormatString(s, verb), d.value)
	_, _ = io.WriteString(s, strings.Replace(text, ".", d.point, 1)) // fails as the caller's writer does
}

// Lower converts a text for the middle of a sentence. Only English drops its capital.
func Lower(ctx context.Context, text string) string {
	if l := FromContext(ctx); l != English && l.change == nil {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + text[size:]
}

// Capital converts a text for the beginning of a sentence.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
