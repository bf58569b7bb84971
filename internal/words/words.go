package words

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Key is a text in English, by which its translations are found. It is a format where it has arguments.
type Key string

type contextKey struct{}

// With puts the language into the context, for all that is rendered with it.
func With(ctx context.Context, l *Language) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// Of is the context's language; English where none was put in.
func Of(ctx context.Context) *Language {
	if l, ok := ctx.Value(contextKey{}).(*Language); ok {
		return l
	}
	return English
}

// T is the text in the context's language. Without arguments it is no format: a percent sign is one.
func T(ctx context.Context, key Key, args ...any) string {
	return sprintf(Of(ctx).text(key), args)
}

// N is a text about a count, in the form that the language has for the number. Both keys are formats whose first argument is
// the number, grouped as the language groups it: a string.
func N(ctx context.Context, n int, one, other Key, args ...any) string {
	l := Of(ctx)
	return sprintf(l.count(n, one, other), append([]any{l.Number(n)}, args...))
}

// Forms are all forms of a count, by their names in CLDR, for a script that counts by itself.
func Forms(ctx context.Context, one, other Key) map[string]string {
	l := Of(ctx)
	if forms := l.texts[other].forms; forms != nil && l.change == nil {
		return forms
	}
	return map[string]string{"one": l.text(one), "other": l.text(other)}
}

// Number is a number as the context's language groups it: "1,204".
func Number(ctx context.Context, n int) string { return Of(ctx).Number(n) }

// Parts is a sentence cut at its bars. The page puts links, code and values between the parts, in this order in every
// language; "…" is a part that it does not show.
func Parts(ctx context.Context, key Key, args ...any) []string {
	l := Of(ctx)
	parts := strings.Split(l.text(key), "|")
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
		if strings.Contains(part, "%") {
			parts[i] = sprintf(parts[i], args)
		}
	}
	return parts
}

func sprintf(format string, args []any) string {
	if len(args) == 0 || !strings.Contains(format, "%") {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// Lower is a text that goes on in the middle of a sentence. Only English writes it without its capital.
func Lower(ctx context.Context, text string) string {
	if l := Of(ctx); l != English && l.change == nil {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + text[size:]
}

// Capital is a text that begins a sentence.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
