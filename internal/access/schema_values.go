package access

import (
	"encoding/json"
	"strings"
)

// values compiles the values of an enum or a const; nil: they cannot be used.
func (n *node) values(word keyword) *enum {
	e := &enum{texts: map[string]bool{}, numbers: map[float64]bool{}, other: map[string]bool{}}
	var all bool
	at := n.at[word]
	switch {
	case word == kwConst:
		all = n.value(e, at)
	case n.text[at] != '[':
		n.leaveOut(word, isAny, UncheckedKeyword)
		return nil
	default:
		all = n.eachItem(at, func(item int) bool { return n.value(e, item) })
	}
	if !all {
		n.leaveOut(word, isAny, UncheckedSize)
		return nil
	}
	if n.shown == "" {
		n.shown, n.single = n.spelled(word), word == kwConst
	}
	return e
}

// value adds a value to an enum, and reports whether there was room for it.
func (n *node) value(e *enum, at int) bool {
	end := n.skip(at)
	if !n.entry(end - at) {
		return false
	}
	switch kindAt(n.text[at]) {
	case isString:
		text, _ := n.quoted(at)
		plain := string(n.unescaped(text))
		e.texts[plain], e.longest = true, max(e.longest, len(plain))
	case isBool, isNull:
		e.other[string(n.text[at:end])] = true
	case isArray, isObject:
		form, _, ok := n.canonical(nil, at)
		if !ok {
			return false
		}
		if e.composites == nil {
			e.composites = map[string]bool{}
		}
		e.composites[string(form)] = true
	default:
		if !n.afford(workDigit * (end - at)) {
			return false
		}
		v, err := judged(n.text[at:end])
		if err != nil {
			return true // no value equals it
		}
		e.numbers[v] = true
	}
	return true
}

// spelled is what a keyword allows, for people.
func (n *node) spelled(word keyword) string {
	const most = 10
	var words []string
	if word == kwConst {
		return spelledValue(n.raw(word))
	}
	n.eachItem(n.at[word], func(item int) bool {
		if len(words) == most {
			words = append(words, "…")
			return false
		}
		words = append(words, spelledValue(n.text[item:n.skip(item)]))
		return true
	})
	return strings.Join(words, ", ")
}

func spelledValue(raw []byte) string {
	var v any
	if len(raw) > 600 || json.Unmarshal(raw, &v) != nil {
		return "…"
	}
	b, err := json.Marshal(v)
	if err != nil || len(b) > 100 {
		return "…"
	}
	return string(b)
}
