package toolchange

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
		kind, happened := TypeWidened, "may hold the same twice now"
		if hasNow {
			kind, happened = TypeNarrowed, "may not hold the same twice any more"
		}
		w.addDifference(path, kind, fmt.Sprint(hadBefore), fmt.Sprint(hasNow), happened)
	}
}

// schemaTypes returns the accepted types, all if there is no type. A number includes integer.
func schemaTypes(node map[string]any) []string {
	var types []string
	switch v := node["type"].(type) {
	case nil:
		return allTypes
	case string:
		types = []string{v}
	default:
		types = toStrings(v)
	}
	if slices.Contains(types, "number") && !slices.Contains(types, "integer") {
		types = append(types, "integer")
	}
	return types
}

func (w *schemaComparison) compareTypes(path string, a, b map[string]any) {
	w.compareSets(path, schemaTypes(a), schemaTypes(b), keywordJSON("type", a["type"], a["type"] != nil), keywordJSON("type", b["type"], b["type"] != nil), "type")
}

// compareAllowedValues compares enum, and const as an enum of one value.
func (w *schemaComparison) compareAllowedValues(path string, a, b map[string]any) {
	before, hadBefore := allowedValues(a)
	now, hasNow := allowedValues(b)
	shownBefore, shownNow := allowedJSON(a), allowedJSON(b)
	switch {
	case hadBefore && hasNow:
		w.compareSets(path, before, now, shownBefore, shownNow, "list of values")
	case hasNow:
		w.addDifference(path, TypeNarrowed, "", shownNow, "takes listed values only now")
	case hadBefore:
		w.addDifference(path, TypeWidened, shownBefore, "", "takes values that are not listed now")
	}
}

func allowedValues(node map[string]any) (values []string, ok bool) {
	if v, found := node["const"]; found {
		return []string{canonicalJSON(v)}, true
	}
	list, named := node["enum"].([]any)
	for _, v := range list {
		values = append(values, canonicalJSON(v))
	}
	return values, named
}

func allowedJSON(node map[string]any) string {
	if v, found := node["const"]; found {
		return keywordJSON("const", v, true)
	}
	v, ok := node["enum"]
	return keywordJSON("enum", v, ok)
}

// compareSets compares two sets of accepted values.
func (w *schemaComparison) compareSets(path string, before, now []string, shownBefore, shownNow, label string) {
	more, less := valuesOnlyIn(now, before), valuesOnlyIn(before, now)
	switch {
	case len(more) > 0 && len(less) > 0:
		w.addDifference(path, TypeChanged, shownBefore, shownNow, "has another "+label)
	case len(more) > 0:
		w.addDifference(path, TypeWidened, shownBefore, shownNow, "takes more now: "+truncateText(strings.Join(more, ", ")))
	case len(less) > 0:
		w.addDifference(path, TypeNarrowed, shownBefore, shownNow, "does not take any more: "+truncateText(strings.Join(less, ", ")))
	}
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
	if hadBefore == hasNow && equalValues(before, now) {
		return
	}
	kind, happened := TypeChanged, "has another "+keyword
	switch {
	case !hadBefore:
		kind, happened = TypeNarrowed, "has a "+keyword+" now"
	case !hasNow:
		kind, happened = TypeWidened, "has no "+keyword+" any more"
	default:
		switch order := compareNumbers(before, now) * up; {
		case order < 0:
			kind, happened = TypeNarrowed, "has a narrower "+keyword
		case order > 0:
			kind, happened = TypeWidened, "has a wider "+keyword
		}
	}
	w.addDifference(path, kind, keywordJSON(keyword, before, hadBefore), keywordJSON(keyword, now, hasNow), happened)
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
