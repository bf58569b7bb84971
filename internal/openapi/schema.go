package openapi

import (
	"regexp"
	"slices"
	"strings"

	"patchbay/internal/jsonschema"
)

// Bounds of one schema. Ajv's check refuses more than 64 levels of nodes, and a definition adds some.
const (
	maxSchemaLevels = 52
	maxWork         = 200_000
	maxEnum         = 1000
	maxEnumBytes    = 16 << 10
	maxTextBytes    = 600 // of a description within a schema
	maxDataBytes    = 1 << 10
)

// schemaWriter writes Schema Objects as JSON Schema 2020-12. What is referred to becomes an entry of $defs, once.
type schemaWriter struct {
	document *Document
	output   bool        // for answers: wider
	left     int         // bytes; then referenced schemas accept anything
	work     int         // schemas that were read
	defs     []schemaDef // in the order in which they are met
	byNode   map[*jsonschema.Node]string
	names    map[string]bool
}

// schemaDef is an entry of $defs.
type schemaDef struct {
	name   string
	schema value
}

func (d *Document) newSchemaWriter(output bool) *schemaWriter {
	w := &schemaWriter{document: d, output: output, left: d.options.InputBytes, byNode: map[*jsonschema.Node]string{}, names: map[string]bool{}}
	if output {
		w.left = d.options.OutputBytes
	}
	return w
}

// writeDefs writes the entries that were referred to, breadth first, so that a bound cuts off the remotest. nil: there are none.
func (w *schemaWriter) writeDefs() *jsonschema.Node {
	if len(w.defs) == 0 {
		return nil
	}
	defs := jsonschema.NewObject()
	for i := 0; i < len(w.defs); i++ { //nolint:intrange // writing one adds others
		def := w.defs[i]
		schema := jsonschema.NewObject()
		if w.left > 0 {
			schema = w.writeSchema(def.schema, 2)
		}
		w.left -= len(def.name)
		defs.Members = append(defs.Members, jsonschema.Member{Name: def.name, Value: schema})
	}
	return defs
}

// writeSchema writes a schema. level counts the nodes around it.
func (w *schemaWriter) writeSchema(v value, level int) *jsonschema.Node {
	out := jsonschema.NewObject()
	w.work++
	if v.Is(jsonschema.False) && !w.output {
		return v.Node
	}
	if !v.Is(jsonschema.Object) || level > maxSchemaLevels || w.isCut() {
		return out
	}
	if v.Get("$ref").Is(jsonschema.String) {
		return w.writeReference(v, level)
	}
	types := w.writeTypes(out, v)
	for _, m := range v.Members {
		w.writeKeyword(out, value{v.Node, v.source}, m, level)
	}
	if w.isCut() { // members may be missing
		out.Drop("additionalProperties")
		out.Drop("unevaluatedProperties")
	}
	w.widenNullable(out, v, types)
	w.restrictBranches(out, v)
	return out
}

// isCut reports whether a bound is reached, so that what is written is not all of a schema.
func (w *schemaWriter) isCut() bool { return w.left <= 0 || w.work > maxWork }

// writeReference writes a reference with what stands beside it. Small schemas take the place of their reference.
func (w *schemaWriter) writeReference(v value, level int) *jsonschema.Node {
	target, ref := w.document.followRef(v)
	if !target.Is(jsonschema.Object) {
		return jsonschema.NewObject() // true, or it leads nowhere
	}
	var out *jsonschema.Node
	if w.isLeaf(target) {
		out = w.writeSchema(target, level)
	} else {
		out = jsonschema.NewObject().Set("$ref", jsonschema.NewString("#/$defs/"+w.nameDefinition(target, ref)))
		w.left -= 40
	}
	for _, m := range v.Members {
		switch {
		case m.Name == "$ref" || out.Get(m.Name) != nil && m.Name != "description":
		case w.document.dialect == openapi31 || m.Name == "description":
			w.writeKeyword(out, v, m, level)
		}
	}
	if isNullable(v) {
		return nullableNode(out)
	}
	return out
}

// nullableNode returns a schema that accepts null, too.
func nullableNode(schema *jsonschema.Node) *jsonschema.Node {
	null := jsonschema.NewObject().Set("type", jsonschema.NewString("null"))
	return jsonschema.NewObject().Set("anyOf", jsonschema.NewArray(schema, null))
}

// isLeaf reports whether a schema has no other schemas in it.
func (w *schemaWriter) isLeaf(v value) bool {
	for _, m := range v.Members {
		if k := w.document.keywords[m.Name]; k != nil && k.schemas == someSchemas {
			return false
		}
	}
	return len(v.Get("enum").List()) <= 20
}

var defNameCharacters = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// nameDefinition returns the name of a referenced schema in $defs.
func (w *schemaWriter) nameDefinition(target value, ref string) string {
	if name, known := w.byNode[target.Node]; known {
		return name
	}
	name := strings.Trim(defNameCharacters.ReplaceAllString(ref[strings.LastIndexAny(ref, "/#")+1:], "_"), "_")
	if name == "" || len(name) > 64 {
		name = "schema"
	}
	name = uniqueName(name, w.names)
	w.byNode[target.Node] = name
	w.defs = append(w.defs, schemaDef{name, target})
	return name
}

// uniqueName returns a name that is not taken, with a number where it has to be, and takes it.
func uniqueName(name string, taken map[string]bool) string {
	unique := name
	for n := 2; taken[unique]; n++ {
		unique = name + "_" + numberNode(n).Raw
	}
	taken[unique] = true
	return unique
}

var schemaTypes = []string{"string", "number", "integer", "boolean", "null", "object", "array"}

// writeTypes writes the type, and returns the types of the schema.
func (w *schemaWriter) writeTypes(out *jsonschema.Node, v value) []string {
	types := readTypes(v)
	written := types
	if len(types) > 0 && (w.output || isNullable(v)) && !slices.Contains(types, "null") {
		written = append(slices.Clone(types), "null")
	}
	switch len(written) {
	case 0:
	case 1:
		out.Set("type", jsonschema.NewString(written[0]))
	default:
		out.Set("type", jsonschema.NewStrings(written))
	}
	w.left -= 18 * len(written)
	return types
}

// readTypes returns the known types of a schema. A file is a string.
func readTypes(v value) (types []string) {
	named := []*jsonschema.Node{v.Get("type").Node}
	if list := v.Get("type").List(); list != nil {
		named = list
	}
	for _, n := range named {
		name := n.Text()
		if name == "file" {
			name = "string"
		}
		if slices.Contains(schemaTypes, name) && !slices.Contains(types, name) {
			types = append(types, name)
		}
	}
	if isNullBeside(v) {
		return nil
	}
	return types
}

// isNullable reports whether a schema accepts null by a word of OpenAPI, or of some generators.
func isNullable(v value) bool {
	return v.IsTrue("nullable") || v.IsTrue("x-nullable") || isNullBeside(v)
}

// isNullBeside reports whether a schema has alternatives beside the type null, by which some generators mean nullable.
func isNullBeside(v value) bool {
	return v.GetText("type") == "null" && (v.Get("oneOf").List() != nil || v.Get("anyOf").List() != nil || v.Get("allOf").List() != nil)
}

// widenNullable makes a schema without a type accept null where the document says so.
func (w *schemaWriter) widenNullable(out *jsonschema.Node, v value, types []string) {
	if !isNullable(v) && !w.output {
		return
	}
	if enum := out.GetKind("enum", jsonschema.Array); enum != nil && !slices.ContainsFunc(enum.Items, func(n *jsonschema.Node) bool { return n.Is(jsonschema.Null) }) {
		enum.Items = append(enum.Items, nullNode())
	}
	if len(types) > 0 || len(out.Members) == 0 {
		return
	}
	if out.Get("allOf") == nil && out.Get("anyOf") == nil && out.Get("oneOf") == nil {
		return // without a type, null is accepted
	}
	wrapped := jsonschema.NewObject()
	for _, name := range []string{"title", "description"} {
		if text := out.Get(name); text != nil {
			wrapped.Set(name, text)
			out.Drop(name)
		}
	}
	inner := *out
	*out = *wrapped
	out.Members = append(out.Members, nullableNode(&inner).Members...)
}

// restrictBranches gives the branches of a oneOf or anyOf the values of their discriminator. Only a mapping says
// which they are: names of schemas are wrong in many documents.
func (w *schemaWriter) restrictBranches(out *jsonschema.Node, v value) {
	property, mapping := v.Get("discriminator").GetText("propertyName"), v.Get("discriminator").Get("mapping")
	if w.output || property == "" || len(mapping.Fields()) == 0 {
		return
	}
	for _, name := range []string{"oneOf", "anyOf"} {
		branches := out.GetKind("anyOf", jsonschema.Array)
		if branches == nil || len(branches.Items) != len(v.Get(name).List()) {
			continue
		}
		for i, branch := range v.Get(name).Values() {
			if values := w.mappedValues(branch, mapping); len(values) > 0 {
				enum := jsonschema.NewObject().Set("enum", jsonschema.NewStrings(values))
				only := jsonschema.NewObject().Set("properties", jsonschema.NewObject().Set(property, enum))
				only.Set("required", jsonschema.NewStrings([]string{property}))
				branches.Items[i] = jsonschema.NewObject().Set("allOf", jsonschema.NewArray(branches.Items[i], only))
				w.left -= 80
			}
		}
	}
}

// mappedValues returns the values of a discriminator's mapping that lead to a branch.
func (w *schemaWriter) mappedValues(branch, mapping value) (values []string) {
	target, _ := w.document.followRef(branch)
	for _, m := range mapping.Fields() {
		ref := m.Value.Text()
		if !strings.ContainsAny(ref, "/#.") {
			ref = "#/components/schemas/" + ref
		}
		if !strings.HasPrefix(ref, "#") {
			continue
		}
		if to := w.document.resolveRef(mapping.source, jsonschema.NewString(ref)); to.Node != nil && to.Node == target.Node {
			values = append(values, m.Name)
		}
	}
	return values
}
