package toolchange

import (
	"fmt"
	"slices"
	"strings"
)

// maxNodes bounds the compared pairs of schemas.
const maxNodes = 10_000

// compareSchemas compares two schemas with all subschemas. A missing one accepts everything.
func (c *comparison) compareSchemas(path string, before, now any) {
	if equalValues(before, now) {
		return
	}
	w := schemaComparison{comparison: c, before: newSchemaRoot(before), now: newSchemaRoot(now), seenRefs: map[[2]string]bool{}, remaining: maxNodes}
	w.compareNodes(path, before, now, 0)
	w.compareDefinitions(path)
	if w.remaining < 0 {
		c.add(Difference{Path: path, Kind: TypeChanged, Sentence: fmt.Sprintf("%s is too large to be compared whole.", path)})
	}
}

// schemaComparison is a comparison of two schemas in progress.
type schemaComparison struct {
	*comparison
	before, now schemaRoot
	seenRefs    map[[2]string]bool // followed pairs of references, for recursive schemas
	remaining   int                // pairs that may still be compared
}

func (w *schemaComparison) compareNodes(path string, before, now any, depth int) {
	if w.remaining--; w.remaining < 0 {
		return
	}
	a, aFits := w.before.expandRef(before)
	b, bFits := w.now.expandRef(now)
	switch {
	case !aFits || !bFits || depth > maxDepth:
		if !equalValues(before, now) {
			w.addDifference(path, TypeChanged, shortJSON(before, before != nil), shortJSON(now, now != nil), "cannot be compared")
		}
		return
	case a.ref != "" && b.ref != "":
		pair := [2]string{a.ref, b.ref}
		if w.seenRefs[pair] {
			return
		}
		w.seenRefs[pair] = true
	}
	w.compareTextKeywords(path, a.node, b.node)
	if w.compareWrapping(path, a.node, b.node) {
		return
	}
	w.compareValues(path, a.node, b.node)
	w.compareRequired(path, a.node, b.node)
	for _, name := range memberNames(a.node, b.node) {
		w.compareKeyword(path, name, a.node, b.node, depth+1)
	}
}

// addDifference reports a difference; happened completes the sentence after the path.
func (w *schemaComparison) addDifference(path string, kind Kind, before, after, happened string) {
	w.add(Difference{Path: path, Kind: kind, Before: before, After: after, Sentence: path + " " + happened + "."})
}

// textKeywords inform a model and validate nothing.
var textKeywords = []string{"description", "title", "default", "examples", "$comment"}

// ignoredKeywords neither inform nor validate.
var ignoredKeywords = []string{"$schema", "deprecated"}

func (w *schemaComparison) compareTextKeywords(path string, a, b map[string]any) {
	for _, keyword := range textKeywords {
		before, hadBefore := a[keyword]
		now, hasNow := b[keyword]
		if hadBefore == hasNow && equalValues(before, now) {
			continue
		}
		textPath := path
		if keyword != "description" {
			textPath += " (" + strings.TrimPrefix(keyword, "$") + ")"
		}
		w.compareText(textPath, Text, before, now, hadBefore, hasNow)
	}
	for _, keyword := range ignoredKeywords {
		if before, now := a[keyword], b[keyword]; !equalValues(before, now) {
			w.add(Difference{Path: path, Kind: Cosmetic, Before: shortJSON(before, before != nil), After: shortJSON(now, now != nil),
				Sentence: strings.TrimPrefix(keyword, "$") + " changed, which no model acts on."})
		}
	}
}

// validationKeywords returns the keywords that validate.
func validationKeywords(node map[string]any) map[string]any {
	out := make(map[string]any, len(node))
	for name, v := range node {
		if !slices.Contains(textKeywords, name) && !slices.Contains(ignoredKeywords, name) {
			out[name] = v
		}
	}
	return out
}

// compareWrapping handles a schema that became an alternative of anyOf or oneOf, or stopped being one: for
// example, a value that may now be null.
func (w *schemaComparison) compareWrapping(path string, a, b map[string]any) bool {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		before, hadBefore := a[keyword].([]any)
		now, hasNow := b[keyword].([]any)
		switch {
		case hadBefore == hasNow:
		case hasNow && containsSchema(now, a):
			w.addDifference(path, TypeWidened, shortJSON(validationKeywords(a), true), shortJSON(validationKeywords(b), true), "takes other values as well now")
			return true
		case hadBefore && containsSchema(before, b):
			w.addDifference(path, TypeNarrowed, shortJSON(validationKeywords(a), true), shortJSON(validationKeywords(b), true), "takes fewer values now")
			return true
		}
	}
	return false
}

// containsSchema reports whether a schema is one of the alternatives.
func containsSchema(alternatives []any, node map[string]any) bool {
	want := canonicalJSON(validationKeywords(node))
	return slices.ContainsFunc(alternatives, func(v any) bool {
		object, isObject := v.(map[string]any)
		return isObject && canonicalJSON(validationKeywords(object)) == want
	})
}

// compareRequired compares required for members in both schemas.
func (w *schemaComparison) compareRequired(path string, a, b map[string]any) {
	before, now := toStrings(a["required"]), toStrings(b["required"])
	members, _ := a["properties"].(map[string]any)
	still, _ := b["properties"].(map[string]any)
	for _, name := range now {
		if !slices.Contains(before, name) {
			happened := "has to be given now"
			if _, known := members[name]; !known {
				happened = "has to be given"
			}
			w.addDifference(memberPath(path, name), RequiredAdded, "", "", happened)
		}
	}
	for _, name := range before {
		if _, present := still[name]; present && !slices.Contains(now, name) {
			w.addDifference(memberPath(path, name), RequiredRemoved, "", "", "may be left out now")
		}
	}
}

func toStrings(v any) []string {
	list, _ := v.([]any)
	var texts []string
	for _, item := range list {
		if s, ok := item.(string); ok && !slices.Contains(texts, s) {
			texts = append(texts, s)
		}
		if len(texts) == maxDifferences {
			break
		}
	}
	return texts
}

func memberPath(path, name string) string {
	if len(path) > maxShownBytes {
		return path
	}
	return path + "." + truncateText(name)
}

// compareKeyword compares a keyword with subschemas. Keywords that other functions compare are skipped.
func (w *schemaComparison) compareKeyword(path, keyword string, a, b map[string]any, depth int) {
	before, hadBefore := a[keyword]
	now, hasNow := b[keyword]
	switch keyword {
	case "properties", "patternProperties":
		w.compareProperties(path, before, now, depth)
	case "additionalProperties", "unevaluatedProperties":
		w.compareAdditional(path+".*", schemaOrTrue(before, hadBefore), schemaOrTrue(now, hasNow), depth)
	case "items", "additionalItems", "unevaluatedItems":
		w.compareItems(path+"[]", schemaOrTrue(before, hadBefore), schemaOrTrue(now, hasNow), depth)
	case "anyOf", "oneOf", "allOf":
		w.compareAlternatives(path, keyword, before, now, depth)
	case "prefixItems":
		w.compareTuple(path+"[]", before, now, depth)
	case "required", "$defs", "definitions":
	default:
		if slices.Contains(textKeywords, keyword) || slices.Contains(ignoredKeywords, keyword) || valueKeywords[keyword] || equalValues(before, now) {
			return
		}
		w.addDifference(path, TypeChanged, keywordJSON(keyword, before, hadBefore), keywordJSON(keyword, now, hasNow), "is checked in another way now: "+truncateText(keyword))
	}
}

func keywordJSON(keyword string, v any, ok bool) string {
	if !ok {
		return ""
	}
	return shortJSON(map[string]any{keyword: v}, true)
}

// schemaOrTrue returns v, or true for an absent schema.
func schemaOrTrue(v any, ok bool) any {
	if ok {
		return v
	}
	return true
}

func (w *schemaComparison) compareProperties(path string, before, now any, depth int) {
	a, aFits := before.(map[string]any)
	b, bFits := now.(map[string]any)
	if !aFits && before != nil || !bFits && now != nil {
		w.addDifference(path, TypeChanged, shortJSON(before, before != nil), shortJSON(now, now != nil), "cannot be compared")
		return
	}
	for _, name := range memberNames(a, b) {
		old, hadBefore := a[name]
		next, hasNow := b[name]
		propertyPath := memberPath(path, name)
		switch {
		case !hadBefore:
			w.now.markReached(next, 0)
			w.addDifference(propertyPath, ParameterAdded, "", shortJSON(next, true), "is new: "+describeTypes(next))
		case !hasNow:
			w.before.markReached(old, 0)
			w.addDifference(propertyPath, ParameterRemoved, shortJSON(old, true), "", "is not there any more")
		default:
			w.compareNodes(propertyPath, old, next, depth)
		}
	}
}

// describeTypes lists the accepted types in words.
func describeTypes(schema any) string {
	object, _ := schema.(map[string]any)
	if kinds := schemaTypes(object); len(kinds) > 0 && len(kinds) < len(allTypes) {
		return strings.Join(kinds, " or ")
	}
	return "any value"
}

// compareAdditional compares the schemas of unnamed members or items.
func (w *schemaComparison) compareAdditional(path string, before, now any, depth int) {
	switch allowedBefore, allowedNow := before != false, now != false; {
	case allowedBefore && !allowedNow:
		w.addDifference(path, TypeNarrowed, shortJSON(before, true), "false", "is not taken any more: only the named members are")
	case !allowedBefore && allowedNow:
		w.addDifference(path, TypeWidened, "false", shortJSON(now, true), "is taken now: members of any name")
	case allowedBefore && allowedNow:
		w.compareNodes(path, before, now, depth)
	}
}

func (w *schemaComparison) compareItems(path string, before, now any, depth int) {
	_, list := before.([]any)
	_, listNow := now.([]any)
	if list || listNow {
		w.compareTuple(path, before, now, depth)
		return
	}
	w.compareAdditional(path, before, now, depth)
}

func (w *schemaComparison) compareTuple(path string, before, now any, depth int) {
	a, aFits := before.([]any)
	b, bFits := now.([]any)
	if !aFits || !bFits || len(a) != len(b) {
		w.addDifference(path, TypeChanged, shortJSON(before, before != nil), shortJSON(now, now != nil), "has other places now")
		return
	}
	for i := range a {
		w.compareNodes(fmt.Sprintf("%s %d", path, i+1), a[i], b[i], depth)
	}
}
