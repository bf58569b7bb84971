package toolchange

import (
	"slices"
	"strings"
)

// memberNames returns the sorted names of both objects' members; none if the work is exhausted.
func (w *work) memberNames(a, b map[string]any) []string {
	if !w.spendUnits(nameWork * (len(a) + len(b))) {
		return nil
	}
	all := make([]string, 0, max(len(a), len(b)))
	for name := range a {
		all = append(all, name)
	}
	for name := range b {
		if _, exists := a[name]; !exists {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// equalValues compares decoded values; numbers by their spelling. It returns false if the work is exhausted.
func (w *work) equalValues(a, b any) bool {
	if !w.spendUnits(valueWork) {
		return false
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && len(a) == len(b) && w.equalObjects(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, w.equalValues)
	case string:
		b, ok := b.(string)
		return ok && len(a) == len(b) && w.spendUnits(len(a)/16) && a == b
	default: // a number, true, false or null
		return isScalar(b) && a == b
	}
}

func (w *work) equalObjects(a, b map[string]any) bool {
	for name, v := range a {
		other, exists := b[name]
		if !exists || !w.equalValues(v, other) {
			return false
		}
	}
	return true
}

// isScalar reports whether a decoded value is neither an object nor an array.
func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// collapseSpace replaces each run of white space by one space.
func collapseSpace(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for word := range strings.FieldsSeq(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}
