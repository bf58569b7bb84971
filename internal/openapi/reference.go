package openapi

import (
	"strings"

	"patchbay/internal/jsonschema"
)

// source is a document with its references.
type source struct {
	node *jsonschema.Node
	refs *jsonschema.References
}

func (s *source) wrapNode(n *jsonschema.Node) value { return value{Node: n, source: s} }

// value is a node with the document that its references begin in. Its methods accept a value without a node.
type value struct {
	*jsonschema.Node
	source *source
}

// Get returns a member.
func (v value) Get(name string) value { return value{v.Node.Get(name), v.source} }

// Find is Get for wide objects.
func (v value) Find(name string) value {
	if v.Node == nil {
		return v
	}
	return value{v.Node.Find(name), v.source}
}

// Values returns the items of a list.
func (v value) Values() []value {
	var all []value
	for _, item := range v.List() {
		all = append(all, value{item, v.source})
	}
	return all
}

// Fields returns the members of an object.
func (v value) Fields() []jsonschema.Member {
	if !v.Is(jsonschema.Object) {
		return nil
	}
	return v.Members
}

// IsTrue reports whether a member is true.
func (v value) IsTrue(name string) bool { return v.Node.Get(name).Is(jsonschema.True) }

// maxChain bounds references that lead to references.
const maxChain = 32

// followRef returns the value behind references. ref is the last reference; empty: v is none. The result has no node
// if a reference leads nowhere.
func (d *Document) followRef(v value) (target value, ref string) {
	for range maxChain {
		next := v.Node.Get("$ref")
		if !next.Is(jsonschema.String) {
			return v, ref
		}
		ref = next.Text()
		if v = d.resolveRef(v.source, next); v.Node == nil {
			return value{}, ref
		}
	}
	return value{}, ref
}

func (d *Document) resolveRef(from *source, ref *jsonschema.Node) value {
	text := ref.Text()
	if strings.HasPrefix(text, "#") {
		return value{from.refs.Resolve(ref), from}
	}
	d.addProblem(text, "A reference points to another document, which Patchbay doesn't read.")
	return value{}
}
