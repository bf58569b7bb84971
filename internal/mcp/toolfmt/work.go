package toolfmt

import "patchbay/internal/jsonschema"

// schemaLimits bound one schema that is read.
var schemaLimits = jsonschema.Limits{Bytes: 1 << 20, Values: 30_000}

// parseSchema parses a schema; nil: invalid JSON, or isTooLarge.
func parseSchema(raw []byte) (v *jsonschema.Node, isTooLarge bool) {
	v, whole := jsonschema.Decode(raw, schemaLimits)
	if !whole {
		return nil, true
	}
	return v, false
}

// Bounds of the work on one schema. A unit takes at most about a nanosecond and allocates at most about a byte:
// see BenchmarkDefinitions_CostlySchemas.
const (
	maxWork      = 8_000_000
	workSchema   = 800 // to convert a schema to one type
	workMember   = 120 // to copy a member
	workListed   = 250 // to copy a text or a value of enum
	workCompared = 10  // to compare a value
	workRef      = 100 // to follow a reference
)

// spendWork takes units of work and reports whether the budget had them. Once it is spent, every conversion
// ends with a schema that accepts more.
func (w *schemaWalker) spendWork(units int) bool {
	w.work -= units
	return w.work > 0
}

// spendCopy is spendWork for a copy of an object schema with its properties.
func (w *schemaWalker) spendCopy(v *jsonschema.Node) bool {
	units := workMember * len(v.Members)
	if w.work <= units {
		w.work = 0
		return false
	}
	if properties := v.GetKind("properties", jsonschema.Object); properties != nil {
		units += 2 * workMember * len(properties.Members)
	}
	return w.spendWork(units + workListed*len(v.GetItems("required")))
}

// readText returns a text member; empty if there is none, or the work is spent.
func (w *schemaWalker) readText(v *jsonschema.Node, name string) string {
	text := v.GetKind(name, jsonschema.String)
	if text == nil || !w.spendWork(2*len(text.Raw)) {
		return ""
	}
	return text.Text()
}

// equalValues reports whether two values are written alike.
func (w *schemaWalker) equalValues(a, b *jsonschema.Node) bool {
	if a == b {
		return true
	}
	if a.Kind != b.Kind || len(a.Members) != len(b.Members) || len(a.Items) != len(b.Items) {
		return false
	}
	isScalar := a.Kind != jsonschema.Object && a.Kind != jsonschema.Array
	if !w.spendWork(workCompared) || isScalar && !w.spendWork(len(a.Raw)) {
		return false
	}
	for i, m := range a.Members {
		if m.Name != b.Members[i].Name || !w.equalValues(m.Value, b.Members[i].Value) {
			return false
		}
	}
	for i, item := range a.Items {
		if !w.equalValues(item, b.Items[i]) {
			return false
		}
	}
	return !isScalar || a.Raw == b.Raw
}
