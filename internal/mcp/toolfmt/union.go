package toolfmt

import (
	"bytes"
	"slices"
)

// mergeAllOf merges a schema's allOf into it. The returned path includes the references followed.
func (d googleDialect) mergeAllOf(v *value, path schemaPath) (*value, schemaPath) {
	list := v.getList("allOf")
	if list == nil || !d.spendWork(workMember*len(v.members)) {
		return v, path
	}
	out := withoutMember(v, "allOf")
	for _, part := range list {
		if d.steps--; d.steps <= 0 || d.work <= 0 {
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
		out = d.intersectSchemas(out, part)
	}
	return out, path
}

// intersectSchemas returns a schema for values that match both. Where they differ a wins, but properties and
// required are united. If the work is spent, it returns a.
func (w *schemaWalker) intersectSchemas(a, b *value) *value {
	if !w.spendCopy(a) || !w.spendCopy(b) {
		return a
	}
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
	if !d.spendWork(3*workMember*len(v.members) + workRef*len(alternatives)) {
		return d.truncatedSchema(v)
	}
	base := withoutMember(withoutMember(v, "anyOf"), "oneOf")
	if base.get("properties") != nil {
		return d.convertTypes([]string{"object"}, d.flattenObject(v), path)
	}
	null := allowsNull(v)
	description := truncateText(d.readText(base, "description"), maxOtherDescription)
	base.drop("description")
	base.drop("default")
	var schemas []*value
	for _, alternative := range alternatives {
		if d.work <= 0 {
			return newAnySchema()
		}
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
	return d.newUnion(schemas, null, description)
}

// mergeBase merges the keywords beside an alternative into it.
func (d googleDialect) mergeBase(base, alternative *value, path schemaPath) (*value, schemaPath) {
	alternative, trail, cyclic := d.resolveRefs(alternative, path.refs)
	if cyclic || alternative.kind != '{' {
		return base, path
	}
	return d.intersectSchemas(alternative, base), schemaPath{path.depth, trail}
}

func constrainsValue(v *value) bool {
	return slices.ContainsFunc(v.members, func(m objectMember) bool {
		_, known := keywords[m.name]
		return known && m.name != "$defs" && m.name != "definitions" && m.name != "$schema" && m.name != "$id" && m.name != "title"
	})
}

// newUnion returns one schema that accepts what any of the schemas accepts, with a description.
func (d googleDialect) newUnion(schemas []*value, null bool, description string) *value {
	schemas = flattenUnions(schemas)
	if len(schemas) > 1 {
		if !d.spendWork(workMember * len(schemas)) {
			return newAnySchema()
		}
		schemas = d.mergeEnums(d.dropEqual(schemas))
	}
	switch {
	case len(schemas) == 0:
		schemas = []*value{newObject(objectMember{"type", newText("string")})}
	case description != "":
		schemas[0] = cloneObject(schemas[0])
		d.describeFirst(schemas[0], description)
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

func (d googleDialect) describeFirst(v *value, description string) {
	if own := v.getText("description"); own != "" && own != description {
		description = truncateText(description+" "+own, maxOtherDescription)
	}
	if d.spendBytes(len(description)) && d.spendWork(4*len(description)) {
		v.set("description", newText(description))
	}
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

// dropEqual drops repeated schemas, as long as the work suffices.
func (w *schemaWalker) dropEqual(schemas []*value) []*value {
	seen := map[string]bool{}
	var text []byte
	return slices.DeleteFunc(schemas, func(s *value) bool {
		if w.work <= 0 {
			return false
		}
		text = s.write(text[:0])
		w.spendWork(2 * len(text))
		known := seen[string(text)]
		if !known {
			seen[string(text)] = true
		}
		return known
	})
}

// mergeEnums merges alternatives that are all enums of strings into one.
func (w *schemaWalker) mergeEnums(schemas []*value) []*value {
	if len(schemas) < 2 {
		return schemas
	}
	var values []string
	for _, s := range schemas {
		list := s.getList("enum")
		if list == nil || s.get("description") != nil || !w.spendWork(workListed*len(list)) {
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
	return len(list) > 0 && len(list) <= maxEnum && !slices.ContainsFunc(list, func(c *value) bool { return c.kind != 'n' })
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

var kindTypes = map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean", 'n': "null"}

func typesOfValues(list []*value) []string {
	var named []string
	for _, item := range list {
		name := kindTypes[item.kind]
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
