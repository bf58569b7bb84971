package toolfmt

import (
	"slices"
	"strings"

	"patchbay/internal/jsonschema"
)

// mergeAllOf merges a schema's allOf into it. The returned path includes the references followed.
func (d googleDialect) mergeAllOf(v *jsonschema.Node, path schemaPath) (*jsonschema.Node, schemaPath) {
	list := v.GetItems("allOf")
	if list == nil || !d.spendWork(workMember*len(v.Members)) {
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
		d.steps -= len(part.Members) / 8
		if part.Kind != jsonschema.Object {
			continue
		}
		part, path = d.mergeAllOf(part, schemaPath{path.depth, trail})
		out = d.intersectSchemas(out, part)
	}
	return out, path
}

// intersectSchemas returns a schema for values that match both. Where they differ a wins, but properties and
// required are united. If the work is spent, it returns a.
func (w *schemaWalker) intersectSchemas(a, b *jsonschema.Node) *jsonschema.Node {
	if !w.spendCopy(a) || !w.spendCopy(b) {
		return a
	}
	out := overlayMembers(b, a)
	p := newObjectParts(a)
	p.intersect(newObjectParts(b))
	if p.properties != nil {
		out.Set("properties", jsonschema.NewObject(p.properties...))
	}
	if p.required != nil {
		out.Set("required", jsonschema.NewStrings(p.required))
	}
	return out
}

func findAlternatives(v *jsonschema.Node) []*jsonschema.Node {
	for _, name := range []string{"anyOf", "oneOf"} {
		if list := v.GetItems(name); len(list) > 0 {
			return list
		}
	}
	return nil
}

// convertUnion converts a schema with alternatives. Google's dialect allows nothing beside anyOf ("When using
// any_of, it must be the only field set"), so the other keywords move into each alternative.
func (d googleDialect) convertUnion(v *jsonschema.Node, alternatives []*jsonschema.Node, path schemaPath) *jsonschema.Node {
	if !d.spendWork(3*workMember*len(v.Members) + workRef*len(alternatives)) {
		return d.truncatedSchema(v)
	}
	base := withoutMember(withoutMember(v, "anyOf"), "oneOf")
	if base.Get("properties") != nil {
		return d.convertTypes([]string{"object"}, d.flattenObject(v), path)
	}
	null := allowsNull(v)
	description := truncateText(d.readText(base, "description"), maxOtherDescription)
	base.Drop("description")
	base.Drop("default")
	var schemas []*jsonschema.Node
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
func (d googleDialect) mergeBase(base, alternative *jsonschema.Node, path schemaPath) (*jsonschema.Node, schemaPath) {
	alternative, trail, cyclic := d.resolveRefs(alternative, path.refs)
	if cyclic || alternative.Kind != jsonschema.Object {
		return base, path
	}
	return d.intersectSchemas(alternative, base), schemaPath{path.depth, trail}
}

func constrainsValue(v *jsonschema.Node) bool {
	return slices.ContainsFunc(v.Members, func(m jsonschema.Member) bool {
		_, known := keywords[m.Name]
		return known && m.Name != "$defs" && m.Name != "definitions" && m.Name != "$schema" && m.Name != "$id" && m.Name != "title"
	})
}

// newUnion returns one schema that accepts what any of the schemas accepts, with a description.
func (d googleDialect) newUnion(schemas []*jsonschema.Node, null bool, description string) *jsonschema.Node {
	schemas = flattenUnions(schemas)
	if len(schemas) > 1 {
		if !d.spendWork(workMember * len(schemas)) {
			return newAnySchema()
		}
		schemas = d.mergeEnums(d.dropEqual(schemas))
	}
	switch {
	case len(schemas) == 0:
		schemas = []*jsonschema.Node{jsonschema.NewObject().Set("type", jsonschema.NewString("string"))}
	case description != "":
		schemas[0] = cloneObject(schemas[0])
		d.describeFirst(schemas[0], description)
	}
	if null {
		for _, s := range schemas {
			s.Set("nullable", jsonschema.NewTrue())
		}
	}
	if len(schemas) == 1 {
		return schemas[0]
	}
	return jsonschema.NewObject().Set("anyOf", jsonschema.NewArray(schemas...))
}

func (d googleDialect) describeFirst(v *jsonschema.Node, description string) {
	if own := v.GetText("description"); own != "" && own != description {
		description = truncateText(description+" "+own, maxOtherDescription)
	}
	if d.spendBytes(len(description)) && d.spendWork(4*len(description)) {
		v.Set("description", jsonschema.NewString(description))
	}
}

func flattenUnions(schemas []*jsonschema.Node) []*jsonschema.Node {
	var out []*jsonschema.Node
	for _, s := range schemas {
		if inner := s.GetItems("anyOf"); inner != nil {
			out = append(out, inner...)
			continue
		}
		out = append(out, s)
	}
	return out
}

// dropEqual drops repeated schemas, as long as the work suffices.
func (w *schemaWalker) dropEqual(schemas []*jsonschema.Node) []*jsonschema.Node {
	seen := map[string]bool{}
	var text []byte
	return slices.DeleteFunc(schemas, func(s *jsonschema.Node) bool {
		if w.work <= 0 {
			return false
		}
		text = s.AppendTo(text[:0])
		w.spendWork(2 * len(text))
		known := seen[string(text)]
		if !known {
			seen[string(text)] = true
		}
		return known
	})
}

// mergeEnums merges alternatives that are all enums of strings into one.
func (w *schemaWalker) mergeEnums(schemas []*jsonschema.Node) []*jsonschema.Node {
	if len(schemas) < 2 {
		return schemas
	}
	var values []string
	for _, s := range schemas {
		list := s.GetItems("enum")
		if list == nil || s.Get("description") != nil || !w.spendWork(workListed*len(list)) {
			return schemas
		}
		values = append(values, stringsOf(list)...)
	}
	if values = removeDuplicates(values); len(values) > maxEnum {
		return []*jsonschema.Node{jsonschema.NewObject().Set("type", jsonschema.NewString("string"))}
	}
	return []*jsonschema.Node{jsonschema.NewObject().Set("type", jsonschema.NewString("string")).Set("enum", jsonschema.NewStrings(values))}
}

// isNull reports whether a schema accepts null alone.
func isNull(v *jsonschema.Node) bool {
	if v.Kind != jsonschema.Object {
		return false
	}
	if named := schemaTypes(v); len(named) == 1 && named[0] == "null" {
		return true
	}
	list := listedValues(v)
	return len(list) > 0 && len(list) <= maxEnum && !slices.ContainsFunc(list, func(c *jsonschema.Node) bool { return c.Kind != jsonschema.Null })
}

// allowsNull reports whether a schema accepts null explicitly.
func allowsNull(v *jsonschema.Node) bool {
	if v.GetKind("nullable", jsonschema.True) != nil {
		return true
	}
	if slices.ContainsFunc(listedValues(v), func(c *jsonschema.Node) bool { return c.Kind == jsonschema.Null }) {
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
func inferTypes(v *jsonschema.Node) []string {
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
		if slices.ContainsFunc(hint.words, func(word string) bool { return v.Get(word) != nil }) {
			return []string{hint.means}
		}
	}
	return nil
}

var kindTypes = map[jsonschema.Kind]string{
	jsonschema.Object: "object", jsonschema.Array: "array", jsonschema.String: "string",
	jsonschema.True: "boolean", jsonschema.False: "boolean", jsonschema.Null: "null",
}

func typesOfValues(list []*jsonschema.Node) []string {
	var named []string
	for _, item := range list {
		name := kindTypes[item.Kind]
		if item.Kind == jsonschema.Number {
			name = "integer"
			if strings.ContainsAny(item.Raw, ".eE") {
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
