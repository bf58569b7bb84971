package toolchange

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

var allTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// valueKeywords are the keywords that compareValues handles.
var valueKeywords = map[string]bool{
	"type": true, "enum": true, "const": true, "pattern": true, "format": true, "multipleOf": true, "uniqueItems": true,
	"contentEncoding": true, "contentMediaType": true, "minimum": true, "exclusiveMinimum": true, "minLength": true, "minItems": true,
	"minProperties": true, "minContains": true, "maximum": true, "exclusiveMaximum": true, "maxLength": true, "maxItems": true,
	"maxProperties": true, "maxContains": true,
}

// compareValues compares the keywords on the value itself.
func (w *schemaComparison) compareValues(path string, a, b map[string]any) {
	w.compareTypes(path, a, b)
	w.compareAllowedValues(path, a, b)
	for _, name := range []string{"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"} {
		w.compareBound(path, name, a, b, 1)
	}
	for _, name := range []string{"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"} {
		w.compareBound(path, name, a, b, -1)
	}
	for _, name := range []string{"pattern", "format", "multipleOf", "contentEncoding", "contentMediaType"} {
		w.compareBound(path, name, a, b, 0)
	}
	if hadBefore, hasNow := a["uniqueItems"] == true, b["uniqueItems"] == true; hadBefore != hasNow {
		kind, happened := TypeWidened, "now allows duplicate items"
		if hasNow {
			kind, happened = TypeNarrowed, "no longer allows duplicate items"
		}
		w.addDifference(path, kind, fmt.Sprint(hadBefore), fmt.Sprint(hasNow), happened)
	}
}

// schemaTypes returns the accepted types, all if there is no type. A number includes integer.
func (w *schemaComparison) schemaTypes(node map[string]any) []string {
	var types []string
	switch v := node["type"].(type) {
	case nil:
		return allTypes
	case string:
		types = []string{v}
	default:
		types = w.toStrings(v)
	}
	if slices.Contains(types, "number") && !slices.Contains(types, "integer") {
		types = append(types, "integer")
	}
	return types
}

func (w *schemaComparison) compareTypes(path string, a, b map[string]any) {
	if w.work.equalValues(a["type"], b["type"]) {
		return
	}
	before, now := w.schemaTypes(a), w.schemaTypes(b)
	w.addSetChange(path, setChange{
		label: "type", added: valuesOnlyIn(now, before), removed: valuesOnlyIn(before, now),
		before: w.keywordJSON("type", a["type"], a["type"] != nil), now: w.keywordJSON("type", b["type"], b["type"] != nil),
	})
}

// compareAllowedValues compares enum, and const as an enum of one value.
func (w *schemaComparison) compareAllowedValues(path string, a, b map[string]any) {
	before, hadBefore := allowedValues(a)
	now, hasNow := allowedValues(b)
	switch {
	case hadBefore && hasNow:
		if !w.work.equalValues(before, now) {
			w.addSetChange(path, setChange{
				label: "list of values", added: w.shownValuesOnlyIn(now, before), removed: w.shownValuesOnlyIn(before, now),
				before: w.allowedJSON(a), now: w.allowedJSON(b),
			})
		}
	case hasNow:
		w.addDifference(path, TypeNarrowed, "", w.allowedJSON(b), "now accepts only listed values")
	case hadBefore:
		w.addDifference(path, TypeWidened, w.allowedJSON(a), "", "now accepts unlisted values")
	}
}

func allowedValues(node map[string]any) (values []any, ok bool) {
	if v, found := node["const"]; found {
		return []any{v}, true
	}
	values, ok = node["enum"].([]any)
	return values, ok
}

func (w *schemaComparison) allowedJSON(node map[string]any) string {
	if v, found := node["const"]; found {
		return w.keywordJSON("const", v, true)
	}
	v, ok := node["enum"]
	return w.keywordJSON("enum", v, ok)
}

// shownValuesOnlyIn returns the values of a that are not in b as short JSON: as many as a sentence shows.
func (w *schemaComparison) shownValuesOnlyIn(a, b []any) []string {
	if !w.work.spendUnits(2 * entryWork * (len(a) + len(b))) {
		return nil
	}
	present := make(map[any]bool, len(b))
	for _, v := range b {
		present[w.work.valueKey(v)] = true
	}
	var shown []string
	size := 0
	for _, v := range a {
		if size > maxShownBytes {
			break
		}
		if !present[w.work.valueKey(v)] {
			text := w.shortJSON(v, true)
			shown, size = append(shown, text), size+len(text)+1
		}
	}
	return shown
}

// setChange is a change of a set of accepted values.
type setChange struct {
	label          string
	added, removed []string
	before, now    string // short JSON
}

func (w *schemaComparison) addSetChange(path string, c setChange) {
	switch {
	case len(c.added) > 0 && len(c.removed) > 0:
		w.addDifference(path, TypeChanged, c.before, c.now, "now has a different "+c.label)
	case len(c.added) > 0:
		w.addDifference(path, TypeWidened, c.before, c.now, "now also accepts: "+joinShort(c.added))
	case len(c.removed) > 0:
		w.addDifference(path, TypeNarrowed, c.before, c.now, "no longer accepts: "+joinShort(c.removed))
	}
}

// joinShort joins texts, and shortens the result.
func joinShort(texts []string) string {
	joined := ""
	for i, text := range texts {
		if len(joined) > maxShownBytes {
			break
		}
		if i > 0 {
			joined += ", "
		}
		joined += truncateText(text)
	}
	return truncateText(joined)
}

// valuesOnlyIn returns the values of a that are not in b.
func valuesOnlyIn(a, b []string) []string {
	present := make(map[string]bool, len(b))
	for _, v := range b {
		present[v] = true
	}
	var out []string
	for _, v := range a {
		if !present[v] {
			out = append(out, v)
		}
	}
	return out
}

// compareBound compares a keyword that restricts values. up is 1 if a greater number restricts more, -1 if
// less, and 0 if values have no order.
func (w *schemaComparison) compareBound(path, keyword string, a, b map[string]any, up int) {
	before, hadBefore := a[keyword]
	now, hasNow := b[keyword]
	if hadBefore == hasNow && w.work.equalValues(before, now) {
		return
	}
	kind, happened := TypeChanged, "now has a different "+keyword
	switch {
	case !hadBefore:
		kind, happened = TypeNarrowed, "now has a "+keyword
	case !hasNow:
		kind, happened = TypeWidened, "no longer has a "+keyword
	default:
		switch order := compareNumbers(before, now) * up; {
		case order < 0:
			kind, happened = TypeNarrowed, "now has a narrower "+keyword
		case order > 0:
			kind, happened = TypeWidened, "now has a wider "+keyword
		}
	}
	w.addDifference(path, kind, w.keywordJSON(keyword, before, hadBefore), w.keywordJSON(keyword, now, hasNow), happened)
}

// compareNumbers returns -1, 0 or 1; 0 also if a value is no number.
func compareNumbers(a, b any) int {
	x, xErr := toFloat(a)
	y, yErr := toFloat(b)
	switch {
	case xErr != nil || yErr != nil || x == y:
		return 0
	case x < y:
		return -1
	default:
		return 1
	}
}

func toFloat(v any) (float64, error) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(n.String(), 64)
}
