package agentview

import (
	"encoding/json"
	"strings"
)

// compileEnum compiles enum or const; nil if invalid.
func (n *schemaNode) compileEnum(word keyword) *enumValues {
	e := &enumValues{strings: map[string]bool{}, numbers: map[float64]bool{}, literals: map[string]bool{}}
	var all bool
	pos := n.offsets[word]
	switch {
	case word == kwConst:
		all = n.addEnumValue(e, pos)
	case n.text[pos] != '[':
		n.markUnchecked(word, typeAny, UncheckedKeyword)
		return nil
	default:
		all = n.eachItem(pos, func(item int) bool { return n.addEnumValue(e, item) })
	}
	if !all {
		n.markUnchecked(word, typeAny, UncheckedSize)
		return nil
	}
	if n.enumText == "" {
		n.enumText, n.isConst = n.formatValues(word), word == kwConst
	}
	return e
}

// addEnumValue reports whether the bounds allowed the value.
func (n *schemaNode) addEnumValue(e *enumValues, pos int) bool {
	end := n.skipValue(pos)
	if !n.addEntry(end - pos) {
		return false
	}
	switch typeAt(n.text[pos]) {
	case typeString:
		text, _ := n.readString(pos)
		plain := string(n.unescapeString(text))
		e.strings[plain], e.maxStringBytes = true, max(e.maxStringBytes, len(plain))
	case typeBool, typeNull:
		e.literals[string(n.text[pos:end])] = true
	case typeArray, typeObject:
		form, _, ok := n.appendCanonical(nil, pos)
		if !ok {
			return false
		}
		if e.composites == nil {
			e.composites = map[string]bool{}
		}
		e.composites[string(form)] = true
	default:
		if !n.reserveWork(workDigit * (end - pos)) {
			return false
		}
		v, err := parseNumber(n.text[pos:end])
		if err != nil {
			return true // no value equals it
		}
		e.numbers[v] = true
	}
	return true
}

// formatValues lists the allowed values for an error message.
func (n *schemaNode) formatValues(word keyword) string {
	const maxShown = 10
	var words []string
	if word == kwConst {
		return formatValue(n.rawValue(word))
	}
	n.eachItem(n.offsets[word], func(item int) bool {
		if len(words) == maxShown {
			words = append(words, "…")
			return false
		}
		words = append(words, formatValue(n.text[item:n.skipValue(item)]))
		return true
	})
	return strings.Join(words, ", ")
}

func formatValue(raw []byte) string {
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
