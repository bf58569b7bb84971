package toolchange

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var allTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// valued are the keywords of which values knows what they say.
var valued = map[string]bool{
	"type": true, "enum": true, "const": true, "pattern": true, "format": true, "multipleOf": true, "uniqueItems": true,
	"contentEncoding": true, "contentMediaType": true, "minimum": true, "exclusiveMinimum": true, "minLength": true, "minItems": true,
	"minProperties": true, "minContains": true, "maximum": true, "exclusiveMaximum": true, "maxLength": true, "maxItems": true,
	"maxProperties": true, "maxContains": true,
}

// values compares what is said of the value itself.
func (w *walk) values(path string, a, b map[string]any) {
	w.types(path, a, b)
	w.allowed(path, a, b)
	for _, name := range []string{"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"} {
		w.bound(path, name, a, b, 1)
	}
	for _, name := range []string{"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"} {
		w.bound(path, name, a, b, -1)
	}
	for _, name := range []string{"pattern", "format", "multipleOf", "contentEncoding", "contentMediaType"} {
		w.bound(path, name, a, b, 0)
	}
	if was, is := a["uniqueItems"] == true, b["uniqueItems"] == true; was != is {
		kind, happened := TypeWidened, "may hold the same twice now"
		if is {
			kind, happened = TypeNarrowed, "may not hold the same twice any more"
		}
		w.turn(path, kind, fmt.Sprint(was), fmt.Sprint(is), happened)
	}
}

// typesOf are the types that a schema names, all of them where it names none; a number is an integer, too.
func typesOf(node map[string]any) []string {
	var types []string
	switch v := node["type"].(type) {
	case nil:
		return allTypes
	case string:
		types = []string{v}
	default:
		types = textsOf(v)
	}
	if slices.Contains(types, "number") && !slices.Contains(types, "integer") {
		types = append(types, "integer")
	}
	return types
}

func (w *walk) types(path string, a, b map[string]any) {
	w.sets(path, typesOf(a), typesOf(b), keyed("type", a["type"], a["type"] != nil), keyed("type", b["type"], b["type"] != nil), "type")
}

// allowed compares the values that are listed: enum, and const, which is a list of one.
func (w *walk) allowed(path string, a, b map[string]any) {
	before, was := listed(a)
	now, is := listed(b)
	shownBefore, shownNow := listShown(a), listShown(b)
	switch {
	case was && is:
		w.sets(path, before, now, shownBefore, shownNow, "list of values")
	case is:
		w.turn(path, TypeNarrowed, "", shownNow, "takes listed values only now")
	case was:
		w.turn(path, TypeWidened, shownBefore, "", "takes values that are not listed now")
	}
}

func listed(node map[string]any) (values []string, there bool) {
	if v, there := node["const"]; there {
		return []string{canonical(v)}, true
	}
	list, named := node["enum"].([]any)
	for _, v := range list {
		values = append(values, canonical(v))
	}
	return values, named
}

func listShown(node map[string]any) string {
	if v, there := node["const"]; there {
		return keyed("const", v, true)
	}
	v, there := node["enum"]
	return keyed("enum", v, there)
}

// sets compares what is taken as two sets.
func (w *walk) sets(path string, before, now []string, shownBefore, shownNow, what string) {
	more, less := missing(now, before), missing(before, now)
	switch {
	case len(more) > 0 && len(less) > 0:
		w.turn(path, TypeChanged, shownBefore, shownNow, "has another "+what)
	case len(more) > 0:
		w.turn(path, TypeWidened, shownBefore, shownNow, "takes more now: "+cut(strings.Join(more, ", ")))
	case len(less) > 0:
		w.turn(path, TypeNarrowed, shownBefore, shownNow, "does not take any more: "+cut(strings.Join(less, ", ")))
	}
}

// missing are the values of a that are not in b.
func missing(a, b []string) []string {
	there := make(map[string]bool, len(b))
	for _, v := range b {
		there[v] = true
	}
	var out []string
	for _, v := range a {
		if !there[v] {
			out = append(out, v)
		}
	}
	return out
}

// bound compares a keyword that takes values away when it is there. up: a greater number takes more away (1) or fewer (-1); 0: the
// values cannot be compared.
func (w *walk) bound(path, keyword string, a, b map[string]any, up int) {
	before, was := a[keyword]
	now, is := b[keyword]
	if was == is && equal(before, now) {
		return
	}
	kind, happened := TypeChanged, "has another "+keyword
	switch {
	case !was:
		kind, happened = TypeNarrowed, "has a "+keyword+" now"
	case !is:
		kind, happened = TypeWidened, "has no "+keyword+" any more"
	default:
		switch order := compareNumbers(before, now) * up; {
		case order < 0:
			kind, happened = TypeNarrowed, "has a narrower "+keyword
		case order > 0:
			kind, happened = TypeWidened, "has a wider "+keyword
		}
	}
	w.turn(path, kind, keyed(keyword, before, was), keyed(keyword, now, is), happened)
}

// compareNumbers is below 0 where a is less, above where it is more, and 0 where that cannot be told.
func compareNumbers(a, b any) int {
	x, xErr := number(a)
	y, yErr := number(b)
	switch {
	case xErr != nil || yErr != nil || x == y:
		return 0
	case x < y:
		return -1
	default:
		return 1
	}
}

func number(v any) (float64, error) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(n.String(), 64)
}
