package toolchange

import (
	"fmt"
	"slices"
	"strings"
)

// mostNodes are the pairs of schemas that are compared before the rest counts as changed.
const mostNodes = 10_000

// schemas compares two schemas with all that they hold. One that is missing takes everything.
func (c *comparison) schemas(path string, before, now any) {
	if equal(before, now) {
		return
	}
	w := walk{comparison: c, before: rootOf(before), now: rootOf(now), met: map[[2]string]bool{}, left: mostNodes}
	w.nodes(path, before, now, 0)
	w.definitions(path)
	if w.left < 0 {
		c.add(Difference{Path: path, Kind: TypeChanged, Sentence: fmt.Sprintf("%s is too large to be compared whole.", path)})
	}
}

// walk is a comparison of two schemas that is under way.
type walk struct {
	*comparison
	before, now root
	met         map[[2]string]bool // pairs of references that were followed: a schema may lead back to itself
	left        int                // nodes that may still be compared
}

// nodes compares two schemas.
func (w *walk) nodes(path string, before, now any, depth int) {
	if w.left--; w.left < 0 {
		return
	}
	a, aFits := w.before.expand(before)
	b, bFits := w.now.expand(now)
	switch {
	case !aFits || !bFits || depth > mostDepth:
		if !equal(before, now) {
			w.turn(path, TypeChanged, short(before, before != nil), short(now, now != nil), "cannot be compared")
		}
		return
	case a.ref != "" && b.ref != "":
		pair := [2]string{a.ref, b.ref}
		if w.met[pair] {
			return
		}
		w.met[pair] = true
	}
	w.proseOf(path, a.node, b.node)
	if w.wrapped(path, a.node, b.node) {
		return
	}
	w.values(path, a.node, b.node)
	w.required(path, a.node, b.node)
	for _, name := range memberNames(a.node, b.node) {
		w.part(path, name, a.node, b.node, depth+1)
	}
}

// turn reports one difference; happened follows the path in the sentence.
func (w *walk) turn(path string, kind Kind, before, after, happened string) {
	w.add(Difference{Path: path, Kind: kind, Before: before, After: after, Sentence: path + " " + happened + "."})
}

// readable are the keywords that tell a model something and check nothing.
var readable = []string{"description", "title", "default", "examples", "$comment"}

// silent are the keywords that neither tell nor check anything.
var silent = []string{"$schema", "deprecated"}

func (w *walk) proseOf(path string, a, b map[string]any) {
	for _, keyword := range readable {
		before, was := a[keyword]
		now, is := b[keyword]
		if was == is && equal(before, now) {
			continue
		}
		at := path
		if keyword != "description" {
			at += " (" + strings.TrimPrefix(keyword, "$") + ")"
		}
		w.prose(at, Text, before, now, was, is)
	}
	for _, keyword := range silent {
		if before, now := a[keyword], b[keyword]; !equal(before, now) {
			w.add(Difference{Path: path, Kind: Cosmetic, Before: short(before, before != nil), After: short(now, now != nil),
				Sentence: strings.TrimPrefix(keyword, "$") + " changed, which no model acts on."})
		}
	}
}

// checks are a schema's keywords without those that check nothing.
func checks(node map[string]any) map[string]any {
	out := make(map[string]any, len(node))
	for name, v := range node {
		if !slices.Contains(readable, name) && !slices.Contains(silent, name) {
			out[name] = v
		}
	}
	return out
}

// wrapped judges a schema that became one of several alternatives, or was: as when a value may be null from now on.
func (w *walk) wrapped(path string, a, b map[string]any) bool {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		before, was := a[keyword].([]any)
		now, is := b[keyword].([]any)
		switch {
		case was == is:
		case is && holds(now, a):
			w.turn(path, TypeWidened, short(checks(a), true), short(checks(b), true), "takes other values as well now")
			return true
		case was && holds(before, b):
			w.turn(path, TypeNarrowed, short(checks(a), true), short(checks(b), true), "takes fewer values now")
			return true
		}
	}
	return false
}

// holds tells whether a schema is one of the alternatives.
func holds(alternatives []any, node map[string]any) bool {
	want := canonical(checks(node))
	return slices.ContainsFunc(alternatives, func(v any) bool {
		object, isObject := v.(map[string]any)
		return isObject && canonical(checks(object)) == want
	})
}

// required compares which members must be there. New members say so themselves.
func (w *walk) required(path string, a, b map[string]any) {
	before, now := textsOf(a["required"]), textsOf(b["required"])
	members, _ := a["properties"].(map[string]any)
	still, _ := b["properties"].(map[string]any)
	for _, name := range now {
		if !slices.Contains(before, name) {
			happened := "has to be given now"
			if _, known := members[name]; !known {
				happened = "has to be given"
			}
			w.turn(member(path, name), RequiredAdded, "", "", happened)
		}
	}
	for _, name := range before {
		if _, there := still[name]; there && !slices.Contains(now, name) {
			w.turn(member(path, name), RequiredRemoved, "", "", "may be left out now")
		}
	}
}

func textsOf(v any) []string {
	list, _ := v.([]any)
	var texts []string
	for _, item := range list {
		if s, ok := item.(string); ok && !slices.Contains(texts, s) {
			texts = append(texts, s)
		}
		if len(texts) == mostDifferences {
			break
		}
	}
	return texts
}

func member(path, name string) string {
	if len(path) > mostShown {
		return path
	}
	return path + "." + cut(name)
}

// part compares what one keyword says of what stands inside. Those that proseOf, values and required know say nothing here.
func (w *walk) part(path, keyword string, a, b map[string]any, depth int) {
	before, was := a[keyword]
	now, is := b[keyword]
	switch keyword {
	case "properties", "patternProperties":
		w.properties(path, before, now, depth)
	case "additionalProperties", "unevaluatedProperties":
		w.others(path+".*", orAny(before, was), orAny(now, is), depth)
	case "items", "additionalItems", "unevaluatedItems":
		w.items(path+"[]", orAny(before, was), orAny(now, is), depth)
	case "anyOf", "oneOf", "allOf":
		w.alternatives(path, keyword, before, now, depth)
	case "prefixItems":
		w.tuple(path+"[]", before, now, depth)
	case "required", "$defs", "definitions":
	default:
		if slices.Contains(readable, keyword) || slices.Contains(silent, keyword) || valued[keyword] || equal(before, now) {
			return
		}
		w.turn(path, TypeChanged, keyed(keyword, before, was), keyed(keyword, now, is), "is checked in another way now: "+cut(keyword))
	}
}

func keyed(keyword string, v any, there bool) string {
	if !there {
		return ""
	}
	return short(map[string]any{keyword: v}, true)
}

// orAny is a schema, or the one that takes everything where there is none.
func orAny(v any, there bool) any {
	if there {
		return v
	}
	return true
}

func (w *walk) properties(path string, before, now any, depth int) {
	a, aFits := before.(map[string]any)
	b, bFits := now.(map[string]any)
	if !aFits && before != nil || !bFits && now != nil {
		w.turn(path, TypeChanged, short(before, before != nil), short(now, now != nil), "cannot be compared")
		return
	}
	for _, name := range memberNames(a, b) {
		old, was := a[name]
		next, is := b[name]
		at := member(path, name)
		switch {
		case !was:
			w.now.follow(next, 0)
			w.turn(at, ParameterAdded, "", short(next, true), "is new: "+takes(next))
		case !is:
			w.before.follow(old, 0)
			w.turn(at, ParameterRemoved, short(old, true), "", "is not there any more")
		default:
			w.nodes(at, old, next, depth)
		}
	}
}

// takes says in words what a schema takes.
func takes(schema any) string {
	object, _ := schema.(map[string]any)
	if kinds := typesOf(object); len(kinds) > 0 && len(kinds) < len(allTypes) {
		return strings.Join(kinds, " or ")
	}
	return "any value"
}

// others compares what is said of members that are not named.
func (w *walk) others(path string, before, now any, depth int) {
	switch was, is := before != false, now != false; {
	case was && !is:
		w.turn(path, TypeNarrowed, short(before, true), "false", "is not taken any more: only the named members are")
	case !was && is:
		w.turn(path, TypeWidened, "false", short(now, true), "is taken now: members of any name")
	case was && is:
		w.nodes(path, before, now, depth)
	}
}

func (w *walk) items(path string, before, now any, depth int) {
	_, list := before.([]any)
	_, listNow := now.([]any)
	if list || listNow {
		w.tuple(path, before, now, depth)
		return
	}
	w.others(path, before, now, depth)
}

func (w *walk) tuple(path string, before, now any, depth int) {
	a, aFits := before.([]any)
	b, bFits := now.([]any)
	if !aFits || !bFits || len(a) != len(b) {
		w.turn(path, TypeChanged, short(before, before != nil), short(now, now != nil), "has other places now")
		return
	}
	for i := range a {
		w.nodes(fmt.Sprintf("%s %d", path, i+1), a[i], b[i], depth)
	}
}
