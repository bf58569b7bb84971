package toolchange

import (
	"fmt"
	"slices"
	"strings"
)

// compareSchemas compares two schemas with all subschemas. A missing one accepts everything.
func (c *comparison) compareSchemas(path string, before, now any) {
	if c.work.equalValues(before, now) {
		return
	}
	w := schemaComparison{
		comparison: c, before: newSchemaRoot(before, c.work), now: newSchemaRoot(now, c.work),
		seenRefs: map[[2]string]bool{}, hashes: map[*any][]valueHash{}, conditions: map[*any]map[valueHash]bool{},
	}
	w.compareNodes(path, before, now, 0)
	w.compareDefinitions(path)
}

// schemaComparison is a comparison of two schemas in progress.
type schemaComparison struct {
	*comparison
	before, now schemaRoot
	seenRefs    map[[2]string]bool // followed pairs of references, for recursive schemas
	// hashes and conditions are caches for lists of alternatives, by their first element.
	hashes     map[*any][]valueHash        // of each alternative
	conditions map[*any]map[valueHash]bool // of the alternatives without texts
}

func (w *schemaComparison) compareNodes(path string, before, now any, depth int) {
	if !w.work.spendUnits(nodeWork + len(path)) {
		return
	}
	a, aFits := w.before.expandRef(before)
	b, bFits := w.now.expandRef(now)
	switch {
	case !aFits || !bFits || depth > maxDepth:
		if !w.work.equalValues(before, now) {
			w.addDifference(path, TypeChanged, w.shortJSON(before, before != nil), w.shortJSON(now, now != nil), "can't be compared")
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
	for _, name := range w.work.memberNames(a.node, b.node) {
		w.compareKeyword(path, name, a.node, b.node, depth+1)
	}
}

// addDifference reports a difference; happened completes the sentence after the path.
func (w *schemaComparison) addDifference(path string, kind Kind, before, after, happened string) {
	d := Difference{Path: path, Kind: kind, Before: before, After: after}
	if !w.isFull() {
		d.Sentence = path + " " + happened + "."
	}
	w.add(d)
}

// textKeywords inform a model and validate nothing.
var textKeywords = []string{"description", "title", "default", "examples", "$comment"}

// ignoredKeywords neither inform nor validate.
var ignoredKeywords = []string{"$schema", "deprecated"}

func (w *schemaComparison) compareTextKeywords(path string, a, b map[string]any) {
	for _, keyword := range textKeywords {
		before, hadBefore := a[keyword]
		now, hasNow := b[keyword]
		if hadBefore == hasNow && w.work.equalValues(before, now) {
			continue
		}
		textPath := path
		if keyword != "description" {
			textPath += " (" + strings.TrimPrefix(keyword, "$") + ")"
		}
		w.compareText(textPath, Text, before, now, hadBefore, hasNow)
	}
	for _, keyword := range ignoredKeywords {
		if before, now := a[keyword], b[keyword]; !w.work.equalValues(before, now) {
			w.add(Difference{Path: path, Kind: Cosmetic, Before: w.shortJSON(before, before != nil), After: w.shortJSON(now, now != nil),
				Sentence: strings.TrimPrefix(keyword, "$") + " changed, which models ignore."})
		}
	}
}

// validationKeywords returns the keywords that validate.
func (w *schemaComparison) validationKeywords(node map[string]any) map[string]any {
	if !w.work.spendUnits(entryWork * len(node)) {
		return nil
	}
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
		case hasNow && w.containsSchema(now, a):
			w.addDifference(path, TypeWidened, w.shortJSON(w.validationKeywords(a), true), w.shortJSON(w.validationKeywords(b), true), "now accepts more values")
			return true
		case hadBefore && w.containsSchema(before, b):
			w.addDifference(path, TypeNarrowed, w.shortJSON(w.validationKeywords(a), true), w.shortJSON(w.validationKeywords(b), true), "now accepts fewer values")
			return true
		}
	}
	return false
}

// containsSchema reports whether a schema is one of the alternatives, apart from texts.
func (w *schemaComparison) containsSchema(alternatives []any, node map[string]any) bool {
	return len(alternatives) > 0 && w.alternativeConditions(alternatives)[w.work.hashValue(w.validationKeywords(node))]
}

// compareRequired compares required for members in both schemas.
func (w *schemaComparison) compareRequired(path string, a, b map[string]any) {
	if w.work.equalValues(a["required"], b["required"]) {
		return
	}
	before, now := w.toStrings(a["required"]), w.toStrings(b["required"])
	members, _ := a["properties"].(map[string]any)
	still, _ := b["properties"].(map[string]any)
	for _, name := range valuesOnlyIn(now, before) {
		happened := "is now required"
		if _, known := members[name]; !known {
			happened = "is required"
		}
		w.addDifference(w.memberPath(path, name), RequiredAdded, "", "", happened)
	}
	for _, name := range valuesOnlyIn(before, now) {
		if _, present := still[name]; present {
			w.addDifference(w.memberPath(path, name), RequiredRemoved, "", "", "is now optional")
		}
	}
}

// toStrings returns the distinct strings of a list.
func (w *schemaComparison) toStrings(v any) []string {
	list, _ := v.([]any)
	if !w.work.spendUnits(2 * entryWork * len(list)) {
		return nil
	}
	var texts []string
	seen := make(map[string]bool, len(list))
	for _, item := range list {
		if s, ok := item.(string); ok && !seen[s] {
			texts, seen[s] = append(texts, s), true
		}
	}
	return texts
}

func (w *schemaComparison) memberPath(path, name string) string {
	if len(path) > maxShownBytes {
		return path
	}
	name = truncateText(name)
	w.work.spendUnits(len(path) + len(name))
	return path + "." + name
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
		if slices.Contains(textKeywords, keyword) || slices.Contains(ignoredKeywords, keyword) || valueKeywords[keyword] || w.work.equalValues(before, now) {
			return
		}
		w.addDifference(path, TypeChanged, w.keywordJSON(keyword, before, hadBefore), w.keywordJSON(keyword, now, hasNow), "is now checked differently: "+truncateText(keyword))
	}
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
		w.addDifference(path, TypeChanged, w.shortJSON(before, before != nil), w.shortJSON(now, now != nil), "can't be compared")
		return
	}
	for _, name := range w.work.memberNames(a, b) {
		old, hadBefore := a[name]
		next, hasNow := b[name]
		propertyPath := w.memberPath(path, name)
		switch {
		case !hadBefore:
			w.now.markReached(next, 0)
			w.addDifference(propertyPath, ParameterAdded, "", w.shortJSON(next, true), "is new: "+w.describeTypes(next))
		case !hasNow:
			w.before.markReached(old, 0)
			w.addDifference(propertyPath, ParameterRemoved, w.shortJSON(old, true), "", "was removed")
		default:
			w.compareNodes(propertyPath, old, next, depth)
		}
	}
}

// describeTypes lists the accepted types in words.
func (w *schemaComparison) describeTypes(schema any) string {
	object, _ := schema.(map[string]any)
	if kinds := w.schemaTypes(object); len(kinds) > 0 && len(kinds) < len(allTypes) {
		return strings.Join(kinds, " or ")
	}
	return "any value"
}

// compareAdditional compares the schemas of unnamed members or items.
func (w *schemaComparison) compareAdditional(path string, before, now any, depth int) {
	switch allowedBefore, allowedNow := before != false, now != false; {
	case allowedBefore && !allowedNow:
		w.addDifference(path, TypeNarrowed, w.shortJSON(before, true), "false", "is no longer allowed")
	case !allowedBefore && allowedNow:
		w.addDifference(path, TypeWidened, "false", w.shortJSON(now, true), "is now allowed")
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
		w.addDifference(path, TypeChanged, w.shortJSON(before, before != nil), w.shortJSON(now, now != nil), "now has different items")
		return
	}
	for i := range a {
		w.compareNodes(fmt.Sprintf("%s %d", path, i+1), a[i], b[i], depth)
	}
}
