package ctl

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

type table struct {
	head  []string
	rows  [][]string
	notes []string // printable texts below the rows
}

func newTable(head ...string) *table { return &table{head: head} }

func (t *table) addRow(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = formatCell(c)
	}
	t.rows = append(t.rows, row)
}

func formatCell(v any) string {
	switch v := v.(type) {
	case nil:
		return "–"
	case *string:
		if v == nil {
			return "–"
		}
		return escapeText(*v)
	case *int64:
		if v == nil {
			return "–"
		}
		return formatCell(*v)
	case *time.Time:
		if v == nil {
			return "–"
		}
		return formatCell(*v)
	case time.Time:
		return v.Local().Format(time.DateTime)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case []string:
		return escapeText(strings.Join(v, ", "))
	}
	return escapeText(fmt.Sprint(v))
}

// escapeText escapes characters that control a terminal or the text direction: servers wrote most of the texts.
func escapeText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// Lines escapes characters that control a terminal in a text of lines.
func Lines(s string) string {
	all := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range all {
		all[i] = escapeText(line)
	}
	return strings.Join(all, "\n")
}

// printValue prints v as JSON, or its table.
func (s *session) printValue(v any, t *table) error {
	if s.flags.Output == "json" {
		return s.printJSON(v)
	}
	w := tabwriter.NewWriter(s.world.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.Join(t.head, "\t"))
	for _, row := range t.rows {
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, note := range t.notes {
		if _, err := fmt.Fprintln(s.world.Out, "\n"+note); err != nil {
			return err
		}
	}
	return nil
}

// printJSON prints v, with escapes on a terminal.
func (s *session) printJSON(v any) error {
	enc := json.NewEncoder(asciiWriter{s.world.Out})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printSentence prints a sentence; with JSON only v, if any.
func (s *session) printSentence(v any, form string, args ...any) error {
	if s.flags.Output == "json" {
		if v == nil {
			return nil
		}
		return s.printJSON(v)
	}
	for i, a := range args {
		if text, ok := a.(string); ok {
			args[i] = escapeText(text)
		}
	}
	_, err := fmt.Fprintf(s.world.Out, form+"\n", args...)
	return err
}

func collectPages[T any](items func(yield func(T, error) bool)) ([]T, error) {
	list := []T{}
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return escapeText(fmt.Sprint(v))
	}
	return escapeText(string(text))
}
