package toolfmt

import (
	"bytes"
	"slices"
)

// all folds what a schema's allOf says into it. The scene that it returns knows the references that were followed.
func (d dialect) all(v *value, at scene) (*value, scene) {
	list := v.list("allOf")
	if list == nil {
		return v, at
	}
	out := without(v, "allOf")
	for _, part := range list {
		if d.steps--; d.steps <= 0 {
			break
		}
		part, trail, cyclic := d.deref(part, at.trail)
		if cyclic {
			part = d.nothingMore(part)
		}
		d.steps -= len(part.members) / 8
		if part.kind != '{' {
			continue
		}
		part, at = d.all(part, scene{at.depth, trail})
		out = both(out, part)
	}
	return out, at
}

// both is a schema that says what two say that both hold. Of what they say differently the first counts, but for their properties
// and what they require, which come together.
func both(a, b *value) *value {
	out := overlay(b, a)
	p := partsOf(a)
	p.also(partsOf(b))
	if p.properties != nil {
		out.set("properties", newObject(p.properties...))
	}
	if p.required != nil {
		out.set("required", newTexts(p.required))
	}
	return out
}

// unionOf are the alternatives of a schema that has some.
func unionOf(v *value) []*value {
	for _, name := range []string{"anyOf", "oneOf"} {
		if list := v.list(name); len(list) > 0 {
			return list
		}
	}
	return nil
}

// union writes a schema with alternatives. Google's dialect has anyOf alone, and nothing may stand beside it ("When using
// any_of, it must be the only field set"), so that what stands beside goes into each alternative.
func (d dialect) union(v *value, alternatives []*value, at scene) *value {
	base := without(without(v, "anyOf"), "oneOf")
	if base.get("properties") != nil {
		return d.ofTypes([]string{"object"}, d.flat(v), at)
	}
	null := nullable(v)
	description := base.text("description")
	base.drop("description")
	base.drop("default")
	var schemas []*value
	for _, alternative := range alternatives {
		if isNull(alternative) {
			null = true
			continue
		}
		inside := at
		if says(base) {
			alternative, inside = d.within(base, alternative, at)
		}
		schemas = append(schemas, d.schema(alternative, inside))
	}
	if schemas == nil {
		schemas = append(schemas, d.ofTypes(nil, base, at))
	}
	return together(schemas, null, cut(description, otherDescription))
}

// within is an alternative with what stands beside it.
func (d dialect) within(base, alternative *value, at scene) (*value, scene) {
	alternative, trail, cyclic := d.deref(alternative, at.trail)
	if cyclic || alternative.kind != '{' {
		return base, at
	}
	return both(alternative, base), scene{at.depth, trail}
}

// says tells whether a schema says anything of a value.
func says(v *value) bool {
	return slices.ContainsFunc(v.members, func(m member) bool {
		_, known := keywords[m.name]
		return known && m.name != "$defs" && m.name != "definitions" && m.name != "$schema" && m.name != "$id" && m.name != "title"
	})
}

// together is one schema that takes what any of several take, with a description over them.
func together(schemas []*value, null bool, description string) *value {
	schemas = merged(distinct(spread(schemas)))
	switch {
	case len(schemas) == 0:
		schemas = []*value{newObject(member{"type", newText("string")})}
	case description != "":
		schemas[0] = clone(schemas[0])
		describeFirst(schemas[0], description)
	}
	if null {
		for _, s := range schemas {
			s.set("nullable", newTrue())
		}
	}
	if len(schemas) == 1 {
		return schemas[0]
	}
	return newObject(member{"anyOf", newList(schemas...)})
}

func describeFirst(v *value, description string) {
	if own := v.text("description"); own != "" && own != description {
		description += " " + own
	}
	v.set("description", newText(description))
}

// spread puts the alternatives of alternatives in their place.
func spread(schemas []*value) []*value {
	var out []*value
	for _, s := range schemas {
		if inner := s.list("anyOf"); inner != nil {
			out = append(out, inner...)
			continue
		}
		out = append(out, s)
	}
	return out
}

// distinct leaves out what is there already.
func distinct(schemas []*value) []*value {
	seen := map[string]bool{}
	return slices.DeleteFunc(schemas, func(s *value) bool {
		text := string(s.write(nil))
		known := seen[text]
		seen[text] = true
		return known
	})
}

// merged makes one enumeration of alternatives that are each a list of strings: a union of literals.
func merged(schemas []*value) []*value {
	if len(schemas) < 2 {
		return schemas
	}
	var values []string
	for _, s := range schemas {
		list := s.list("enum")
		if list == nil || s.get("description") != nil {
			return schemas
		}
		values = append(values, texts(list)...)
	}
	if values = unique(values); len(values) > maxEnum {
		return []*value{newObject(member{"type", newText("string")})}
	}
	return []*value{newObject(member{"type", newText("string")}, member{"enum", newTexts(values)})}
}

// isNull tells whether a schema takes null alone.
func isNull(v *value) bool {
	if v.kind != '{' {
		return false
	}
	if named := types(v); len(named) == 1 && named[0] == "null" {
		return true
	}
	list := choices(v)
	return len(list) > 0 && !slices.ContainsFunc(list, func(c *value) bool { return c.kind != 'n' })
}

// nullable tells whether a schema says that null will do.
func nullable(v *value) bool {
	if v.kinded("nullable", 't') != nil {
		return true
	}
	if slices.ContainsFunc(choices(v), func(c *value) bool { return c.kind == 'n' }) {
		return true
	}
	_, null := withoutNull(types(v))
	return null
}

func withoutNull(named []string) (others []string, null bool) {
	for _, name := range named {
		if name == "null" {
			null = true
			continue
		}
		others = append(others, name)
	}
	return others, null
}

// inferred is the type that a schema without one must mean, by its other words; nil: it can be anything.
func inferred(v *value) []string {
	if list := choices(v); len(list) > 0 {
		return kindsOf(list)
	}
	for _, hint := range []struct {
		means string
		words []string
	}{
		{"object", []string{"properties", "additionalProperties", "patternProperties", "required", "propertyNames", "minProperties", "maxProperties"}},
		{"array", []string{"items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"}},
		{"string", []string{"pattern", "minLength", "maxLength", "format", "contentEncoding"}},
		{"number", []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
	} {
		if slices.ContainsFunc(hint.words, func(word string) bool { return v.get(word) != nil }) {
			return []string{hint.means}
		}
	}
	return nil
}

// kindsOf are the types of listed values.
func kindsOf(list []*value) []string {
	var named []string
	for _, item := range list {
		name := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean", 'n': "null"}[item.kind]
		if item.kind == '0' {
			name = "integer"
			if bytes.ContainsAny(item.raw, ".eE") {
				name = "number"
			}
		}
		if !contains(named, name) {
			named = append(named, name)
		}
	}
	if contains(named, "number") {
		named = slices.DeleteFunc(named, func(name string) bool { return name == "integer" })
	}
	return named
}
