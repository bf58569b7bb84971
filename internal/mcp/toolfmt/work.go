package toolfmt

// Bounds of one schema that is read.
const (
	maxSchemaBytes  = 1 << 20
	maxSchemaValues = 30_000 // JSON values
)

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
func (w *schemaWalker) spendCopy(v *value) bool {
	units := workMember * len(v.members)
	if w.work <= units {
		w.work = 0
		return false
	}
	if properties := v.getObject("properties"); properties != nil {
		units += 2 * workMember * len(properties.members)
	}
	return w.spendWork(units + workListed*len(v.getList("required")))
}

// readText returns a text member; empty if there is none, or the work is spent.
func (w *schemaWalker) readText(v *value, name string) string {
	text := v.getKind(name, '"')
	if text == nil || !w.spendWork(2*len(text.raw)) {
		return ""
	}
	return unquoteString(text.raw)
}

// equalValues reports whether two values are written alike.
func (w *schemaWalker) equalValues(a, b *value) bool {
	if a == b {
		return true
	}
	if a.kind != b.kind || len(a.members) != len(b.members) || len(a.items) != len(b.items) || !w.spendWork(workCompared+len(a.raw)) {
		return false
	}
	for i, m := range a.members {
		if m.name != b.members[i].name || !w.equalValues(m.value, b.members[i].value) {
			return false
		}
	}
	for i, item := range a.items {
		if !w.equalValues(item, b.items[i]) {
			return false
		}
	}
	return string(a.raw) == string(b.raw)
}
