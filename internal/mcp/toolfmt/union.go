package toolfmt

import (
	"bytes"
	"slices"
)

// mergeAllOf merges a schema's allOf into it. The returned path includes the references followed.
func (d googleDialect) mergeAllOf(v *value, path schemaPath) (*value, schemaPath) {
	list := v.getList("allOf")
	if list == nil {
		return v, path
	}
	out := withoutMember(v, "allOf")
	for _, part := range list {
		if d.steps--; d.steps <= 0 {
			break
		}
		part, trail, cyclic := d.resolveRefs(part, path.refs)
		if cyclic {
			part = d.truncatedSchema(part)
		}
		d.steps -= len(part.members) / 8
		if part.kind != '{' {
			continue
		}
		part, path = d.mergeAllOf(part, schemaPath{path.depth, trail})
		out = intersectSchemas(out, part)
	}
	return out, path
}

// intersectSchemas returns a schema for values that match both. Where they differ a wins, but properties and
// required are united.
func intersectSchemas(a, b *value) *value {
	out := overlayMembers(b, a)
	p := newObjectParts(a)
	p.intersect(newObjectParts(b))
	if p.properties != nil {
		out.set("properties", newObject(p.properties...))
	}
	if p.required != nil {
		out.set("required", newTexts(p.required))
	}
	return out
}

func findAlternatives(v *value) []*value {
	for _, name := range []string{"anyOf", "oneOf"} {
		if list := v.getList(name); len(list) > 0 {
			return list
		}
	}
	return nil
}

// convertUnion converts a schema with alternatives. Google's dialect allows nothing beside anyOf ("When using
// any_of, it must be the only field set"), so the other keywords move into each alternative.
func (d googleDialect) convertUnion(v *value, alternatives []*value, path schemaPath) *value {
	base := withoutMember(withoutMember(v, "anyOf"), "oneOf")
	if base.get("properties") != nil {
		return d.convertTypes([]string{"object"}, d.flattenObject(v), path)
	}
	null := allowsNull(v)
	description := base.getText("description")
	base.drop("description")
	base.drop("default")
	var schemas []*value
	for _, alternative := range alternatives {
		if isNull(alternative) {
			null = true
			continue
		}
		inside := path
		if constrainsValue(base) {
			alternative, inside = d.mergeBase(base, alternative, path)
		}
		schemas = append(schemas, d.convertSchema(alternative, inside))
	}
	if schemas == nil {
		schemas = append(schemas, d.convertTypes(nil, base, path))
	}
	return newUnion(schemas, null, truncateText(description, maxOtherDescription))
}

// mergeBase merges the keywords beside an alternative into it.
func (d googleDialect) mergeBase(base, alternative *value, path schemaPath) (*value, schemaPath) {
	alternative, trail, cyclic := d.resolveRefs(alternative, path.refs)
	if cyclic || alternative.kind != '{' {
		return base, path
	}
	return intersectSchemas(alternative, base), schemaPath{path.depth, trail}
}

func constrainsValue(v *value) bool {
	return slices.ContainsFunc(v.members, func(m objectMember) bool {
		_, known := keywords[m.name]
		return known && m.name != "$defs" && m.name != "definitions" && m.name != "$schema" && m.name != "$id" && m.name != "title"
	})
}

// newUnion returns one schema that accepts what any of the schemas accepts, with a description.
func newUnion(schemas []*value, null bool, description string) *value {
	schemas = mergeEnums(dropEqual(flattenUnions(schemas)))
	switch {
	case len(schemas) == 0:
		schemas = []*value{newObject(objectMember{"type", newText("string")})}
	case description != "":
		schemas[0] = cloneObject(schemas[0])
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
	return newObject(objectMember{"anyOf", newList(schemas...)})
}

func describeFirst(v *value, description string) {
	if own := v.getText("description"); own != "" && own != description {
		description += " " + own
	}
	v.set("description", newText(description))
}

func flattenUnions(schemas []*value) []*value {
	var out []*value
	for _, s := range schemas {
		if inner := s.getList("anyOf"); inner != nil {
			out = append(out, inner...)
			continue
		}
		out = append(out, s)
	}
	return out
}

func dropEqual(schemas []*value) []*value {
	seen := map[string]bool{}
	return slices.DeleteFunc(schemas, func(s *value) bool {
		text := string(s.write(nil))
		known := seen[text]
		seen[text] = true
		return known
	})
}

// mergeEnums merges alternatives that are all enums of strings into one.
func mergeEnums(schemas []*value) []*value {
	if len(schemas) < 2 {
		return schemas
	}
	var values []string
	for _, s := range schemas {
		list := s.getList("enum")
		if list == nil || s.get("description") != nil {
			return schemas
		}
		values = append(values, stringsOf(list)...)
	}
	if values = removeDuplicates(values); len(values) > maxEnum {
		return []*value{newObject(objectMember{"type", newText("string")})}
	}
	return []*value{newObject(objectMember{"type", newText("string")}, objectMember{"enum", newTexts(values)})}
}

// isNull reports whether a schema accepts null alone.
func isNull(v *value) bool {
	if v.kind != '{' {
		return false
	}
	if named := schemaTypes(v); len(named) == 1 && named[0] == "null" {
		return true
	}
	list := listedValues(v)
	return len(list) > 0 && !slices.ContainsFunc(list, func(c *value) bool { return c.kind != 'n' })
}

// allowsNull reports whether a schema accepts null explicitly.
func allowsNull(v *value) bool {
	if v.getKind("nullable", 't') != nil {
		return true
	}
	if slices.ContainsFunc(listedValues(v), func(c *value) bool { return c.kind == 'n' }) {
		return true
	}
	_, null := withoutNull(schemaTypes(v))
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

// inferTypes infers the types from the other keywords; nil: any type.
func inferTypes(v *value) []string {
	if list := listedValues(v); len(list) > 0 {
		return typesOfValues(list)
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

func typesOfValues(list []*value) []string {
	var named []string
	for _, item := range list {
		name := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean", 'n': "null"}[item.kind]
		if item.kind == '0' {
			name = "integer"
			if bytes.ContainsAny(item.raw, ".eE") {
				name = "number"
			}
		}
		if !containsString(named, name) {
			named = append(named, name)
		}
	}
	if containsString(named, "number") {
		named = slices.DeleteFunc(named, func(name string) bool { return name == "integer" })
	}
	return named
}
