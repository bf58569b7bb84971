package toolchange

import (
	"maps"
	"strconv"
	"strings"

	"patchbay/internal/jsonschema"
)

// schemaRoot is a whole schema, which resolves its references.
type schemaRoot struct {
	work    *work
	node    any
	reached map[string]bool // definitions reached by references
}

func newSchemaRoot(v any, w *work) schemaRoot {
	return schemaRoot{work: w, node: v, reached: map[string]bool{}}
}

// expandedSchema is a schema object with its reference resolved.
type expandedSchema struct {
	node map[string]any
	ref  string // the resolved reference; empty: none
}

// Bounds of references. What is beyond them is not resolved.
const (
	maxRefHops  = 16 // of a chain
	maxRefBytes = 4 << 10
)

// expandRef resolves a schema's reference; keywords beside it take precedence. ok is false if v is no schema.
func (r schemaRoot) expandRef(v any) (e expandedSchema, ok bool) {
	switch v := v.(type) {
	case nil:
		return expandedSchema{node: map[string]any{}}, true
	case bool:
		if v {
			return expandedSchema{node: map[string]any{}}, true
		}
		return expandedSchema{node: map[string]any{"not": map[string]any{}}}, true
	case map[string]any:
		e.node = v
	default:
		return e, false
	}
	for range maxRefHops {
		ref, isText := e.node["$ref"].(string)
		if !isText {
			return e, true
		}
		target, found := r.resolveRef(ref)
		if !found || !r.work.spendUnits(entryWork*(len(target)+len(e.node))+len(e.ref)+len(ref)) {
			return e, true
		}
		merged := maps.Clone(target)
		for name, v := range e.node {
			if name != "$ref" {
				merged[name] = v
			}
		}
		e = expandedSchema{node: merged, ref: e.ref + " " + ref}
	}
	return e, true
}

func (r schemaRoot) resolveRef(ref string) (map[string]any, bool) {
	local := ref == "#" || strings.HasPrefix(ref, "#/")
	if !local || len(ref) > len("#")+maxRefBytes || !r.work.spendUnits(entryWork+refByteWork*len(ref)) {
		return nil, false
	}
	pointer, _ := jsonschema.NewPointer(ref)
	if steps := strings.SplitN(string(pointer), "/", 4); len(steps) > 2 {
		r.reached[steps[1]+"/"+steps[2]] = true
	}
	current := r.node
	for pointer != "" {
		var step string
		step, pointer = pointer.Cut()
		switch v := current.(type) {
		case map[string]any:
			current = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			current = v[i]
		default:
			return nil, false
		}
	}
	object, ok := current.(map[string]any)
	return object, ok
}

// markReached marks the definitions that a schema refers to.
func (r schemaRoot) markReached(v any, depth int) {
	if depth > maxDepth || !r.work.spendUnits(valueWork) {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			r.markReached(item, depth+1)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			before := len(r.reached)
			if target, found := r.resolveRef(ref); found && len(r.reached) > before {
				r.markReached(target, depth+1)
			}
		}
		for _, item := range v {
			r.markReached(item, depth+1)
		}
	}
}

// compareDefinitions compares the definitions that no compared schema refers to. Models read them, too.
func (w *schemaComparison) compareDefinitions(path string) {
	for _, keyword := range []string{"$defs", "definitions"} {
		a, b := objectMember(w.before.node, keyword), objectMember(w.now.node, keyword)
		for _, name := range w.work.memberNames(a, b) {
			now, hasNow := b[name]
			if !hasNow || w.now.reached[keyword+"/"+name] || w.work.equalValues(a[name], now) {
				continue
			}
			definitionPath := w.memberPath(path, keyword) + "." + truncateText(name)
			if before, hadBefore := a[name]; hadBefore {
				w.compareNodes(definitionPath, before, now, 1)
				continue
			}
			w.addDifference(definitionPath, TypeChanged, "", w.shortJSON(now, true), "is new and unused")
		}
	}
}

func objectMember(v any, member string) map[string]any {
	outer, _ := v.(map[string]any)
	inner, _ := outer[member].(map[string]any)
	return inner
}
