package access

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// A schema is a stranger's program, which runs at each call. One that never ends, or whose work grows with a power of the depth of the
// arguments, must not keep us busy: what it would cost is known before it runs.
type cost struct {
	endless bool // it refers to itself without going deeper into the value
	paths   int  // the most schemas that apply to one value
}

// mostSteps is how much work one call's arguments may be. A step takes less than a microsecond.
const mostSteps = 500_000

func costOf(root *jsonschema.Schema) cost {
	w := &weigher{root: root, known: map[*jsonschema.Schema]int{}, open: map[*jsonschema.Schema]bool{}}
	c := cost{}
	w.each(root, func(s *jsonschema.Schema) {
		c.paths = max(c.paths, w.paths(s))
	})
	c.endless = w.endless || c.paths > mostSteps
	return c
}

// tooMuch tells whether a value would be too much work.
func (c cost) tooMuch(value any) bool {
	nodes, depth := size(value)
	steps := nodes
	for range depth {
		if steps *= c.paths; steps > mostSteps {
			return c.paths > 1
		}
	}
	return false
}

// size counts the values in a value, and how deep they stand.
func size(value any) (nodes, depth int) {
	inside := func(v any) {
		n, d := size(v)
		nodes, depth = nodes+n, max(depth, d)
	}
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			inside(member)
		}
	case []any:
		for _, item := range v {
			inside(item)
		}
	}
	return nodes + 1, depth + 1
}

type weigher struct {
	root    *jsonschema.Schema
	known   map[*jsonschema.Schema]int
	open    map[*jsonschema.Schema]bool // on the way from the one that is weighed
	endless bool
}

// paths counts the schemas that apply to the same value as s, itself included.
func (w *weigher) paths(s *jsonschema.Schema) int {
	if n, ok := w.known[s]; ok {
		return n
	}
	if w.open[s] {
		w.endless = true
		return 1
	}
	w.open[s] = true
	n := 1
	for sub := range w.inPlace(s) {
		n = min(n+w.paths(sub), mostSteps+1)
	}
	delete(w.open, s)
	w.known[s] = n
	return n
}

// inPlace are the schemas that apply to the same value.
func (w *weigher) inPlace(s *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		if s.DynamicRef != "" {
			w.endless = true // nobody knows where it leads before it is there
		}
		all := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, []*jsonschema.Schema{s.Not, s.If, s.Then, s.Else})
		all = slices.AppendSeq(all, maps.Values(s.DependentSchemas))
		all = slices.AppendSeq(all, maps.Values(s.DependencySchemas))
		if s.Ref != "" {
			target := pointed(w.root, s.Ref)
			w.endless = w.endless || target == nil
			all = append(all, target)
		}
		for _, sub := range all {
			if sub != nil && !yield(sub) {
				return
			}
		}
	}
}

// each visits all schemas of a document.
func (w *weigher) each(s *jsonschema.Schema, visit func(*jsonschema.Schema)) {
	if s == nil {
		return
	}
	visit(s)
	for _, sub := range children(s) {
		w.each(sub, visit)
	}
}

// children are the schemas that stand in a schema.
func children(s *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems, s.ItemsArray, []*jsonschema.Schema{
		s.Not, s.If, s.Then, s.Else, s.Items, s.AdditionalItems, s.Contains, s.UnevaluatedItems,
		s.AdditionalProperties, s.PropertyNames, s.UnevaluatedProperties, s.ContentSchema,
	})
	for _, named := range []map[string]*jsonschema.Schema{
		s.Properties, s.PatternProperties, s.Defs, s.Definitions, s.DependentSchemas, s.DependencySchemas,
	} {
		for _, name := range slices.Sorted(maps.Keys(named)) {
			all = append(all, named[name])
		}
	}
	return slices.DeleteFunc(all, func(s *jsonschema.Schema) bool { return s == nil })
}

// pointed follows a reference within the document: # or a JSON pointer through the places where schemas usually stand. nil: it leads
// elsewhere, and the schema is not used.
func pointed(root *jsonschema.Schema, ref string) *jsonschema.Schema {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := root
	steps := strings.Split(path, "/")[1:]
	for i := 0; i < len(steps) && at != nil; i++ {
		named := map[string]map[string]*jsonschema.Schema{
			"$defs": at.Defs, "definitions": at.Definitions, "properties": at.Properties,
		}[steps[i]]
		switch {
		case named != nil && i+1 < len(steps):
			i++
			at = named[strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[i])]
		case steps[i] == "items":
			at = at.Items
		case steps[i] == "additionalProperties":
			at = at.AdditionalProperties
		default:
			return nil
		}
	}
	if path != "" && len(steps) == 0 {
		return nil // an anchor
	}
	return at
}
