package ctl

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// table is what a person reads.
type table struct {
	head []string
	rows [][]string
}

func newTable(head ...string) *table { return &table{head: head} }

func (t *table) row(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = cell(c)
	}
	t.rows = append(t.rows, row)
}

// cell is a value in one line.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "–"
	case *string:
		if v == nil {
			return "–"
		}
		return plain(*v)
	case *time.Time:
		if v == nil {
			return "–"
		}
		return cell(*v)
	case time.Time:
		return v.Local().Format(time.DateTime)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case []string:
		return plain(strings.Join(v, ", "))
	}
	return plain(fmt.Sprint(v))
}

// plain is a text without what would steer a terminal or turn it around: servers have a say in most of what is shown.
func plain(s string) string {
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

// Lines is a text whose lines are without what would steer a terminal.
func Lines(s string) string {
	all := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range all {
		all[i] = plain(line)
	}
	return strings.Join(all, "\n")
}

// print shows v, or the table of it.
func (s *session) print(v any, t *table) error {
	if s.flags.Output == "json" {
		return s.json(v)
	}
	w := tabwriter.NewWriter(s.world.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.Join(t.head, "\t"))
	for _, row := range t.rows {
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// json writes v. Its texts are escaped where a terminal would be steered.
func (s *session) json(v any) error {
	enc := json.NewEncoder(ascii{s.world.Out})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// say prints a sentence; with JSON nothing, unless there is something to show.
func (s *session) say(v any, form string, args ...any) error {
	if s.flags.Output == "json" {
		if v == nil {
			return nil
		}
		return s.json(v)
	}
	for i, a := range args {
		if text, ok := a.(string); ok {
			args[i] = plain(text)
		}
	}
	_, err := fmt.Fprintf(s.world.Out, form+"\n", args...)
	return err
}

// all gathers what comes page by page.
func all[T any](items func(yield func(T, error) bool)) ([]T, error) {
	list := []T{}
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

// inJSON is a value as JSON, in one line.
func inJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return plain(fmt.Sprint(v))
	}
	return plain(string(text))
}
