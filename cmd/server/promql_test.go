package main

import (
	"fmt"
	"slices"
	"strings"
	"text/scanner"
)

// series is a selector in a PromQL expression: a metric and its label matchers.
type series struct {
	metric string
	labels map[string]string // by name, the value with its operator
}

// expression has the selectors and labels of a PromQL expression.
type expression struct {
	series []series
	groups []string // labels of by, without, on, ignoring, group_left and group_right
}

// functions of PromQL in the files. A word that is no function and no keyword is a metric.
var (
	functions = []string{"absent", "changes", "count", "histogram_quantile", "increase", "max", "min", "rate", "sum", "time", "topk"}
	groupings = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}
	operators = []string{"and", "or", "unless", "bool", "offset"}
)

// readPromQL finds the metrics and labels of an expression. It is no full parser: it fails on unknown syntax.
func readPromQL(text string) (e expression, err error) {
	w := words(text)
	for i := 0; i < len(w); i++ {
		next := ""
		if i+1 < len(w) {
			next = w[i+1]
		}
		switch word := w[i]; {
		case !isName(word):
			if word == "{" || word == "}" || word[0] == '"' {
				return e, fmt.Errorf("%q stands where it cannot", word)
			}
			if word == "[" {
				i += slices.Index(w[i:], "]")
			}
		case slices.Contains(groupings, word):
			end := i + slices.Index(w[i:], ")")
			for _, label := range w[i+2 : end] {
				if label != "," {
					e.groups = append(e.groups, label)
				}
			}
			i = end
		case slices.Contains(operators, word):
		case slices.Contains(functions, word) && (next == "(" || slices.Contains(groupings, next)):
		case next == "(":
			return e, fmt.Errorf("%s is no function that is known here", word)
		case next == "{":
			end := i + slices.Index(w[i:], "}")
			s := series{metric: word, labels: map[string]string{}}
			if err := s.match(w[i+2 : end]); err != nil {
				return e, fmt.Errorf("%s: %w", word, err)
			}
			e.series, i = append(e.series, s), end
		default:
			e.series = append(e.series, series{metric: word})
		}
	}
	if len(e.series) == 0 {
		return e, fmt.Errorf("no metric in %q", text)
	}
	for open, shut := range map[string]string{"(": ")", "{": "}", "[": "]"} {
		if count(w, open) != count(w, shut) {
			return e, fmt.Errorf("%s and %s do not pair", open, shut)
		}
	}
	return e, nil
}

// match parses label op "value" pairs, separated by commas.
func (s series) match(w []string) error {
	for len(w) > 0 {
		if len(w) < 3 || !isName(w[0]) || !slices.Contains([]string{"=", "!=", "=~", "!~"}, w[1]) || !strings.HasPrefix(w[2], `"`) {
			return fmt.Errorf("no label, operator and text: %q", w)
		}
		s.labels[w[0]] = w[1] + strings.Trim(w[2], `"`)
		if w = w[3:]; len(w) > 0 && w[0] != "," {
			return fmt.Errorf("no comma: %q", w)
		} else if len(w) > 0 {
			w = w[1:]
		}
	}
	return nil
}

// words splits an expression. An operator of two characters is one word.
func words(text string) []string {
	var s scanner.Scanner
	s.Init(strings.NewReader(text))
	s.Mode = scanner.ScanIdents | scanner.ScanFloats | scanner.ScanStrings
	var w []string
	for s.Scan() != scanner.EOF {
		word := s.TokenText()
		if n := len(w) - 1; n >= 0 && (word == "=" || word == "~") && slices.Contains([]string{"=", "!", "<", ">"}, w[n]) {
			w[n] += word
			continue
		}
		w = append(w, word)
	}
	return w
}

func isName(word string) bool {
	c := word[0]
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func count(w []string, word string) (n int) {
	for _, other := range w {
		if other == word {
			n++
		}
	}
	return n
}
