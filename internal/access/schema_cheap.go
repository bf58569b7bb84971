package access

import (
	"regexp"

	"github.com/google/jsonschema-go/jsonschema"
)

// A check that would cost too much is not left out: what is cheap of it is made. That is what stands in the schema itself, in the keywords
// that a plan knows. What it refers to is passed over, which is where endless and exponential work comes from, and so is any keyword that a
// plan does not know. Each keyword that is passed over lets more arguments through and none fewer, so that whatever is refused really does not
// fit; the server, whose schema it is, judges the rest. Arguments that make a check expensive by themselves, large or deep as they are, are
// refused: nobody needs them, and who sends them may want to be judged by less.

// cheapOf is the cheap part of a schema; nil: there is none.
func cheapOf(root *jsonschema.Schema) *plan {
	c := cheapest(root, isDraft7(root.Schema))
	if c == nil {
		return nil
	}
	return planOf(c)
}

// cheapest is a schema that takes all that s takes, and perhaps more; nil: it takes everything.
func cheapest(s *jsonschema.Schema, draft7 bool) *jsonschema.Schema {
	if s == nil || s.Ref != "" && draft7 { // what stands beside a reference counts for nothing there
		return nil
	}
	c := &jsonschema.Schema{
		Minimum: s.Minimum, Maximum: s.Maximum, ExclusiveMinimum: s.ExclusiveMinimum, ExclusiveMaximum: s.ExclusiveMaximum,
		MinLength: s.MinLength, MaxLength: s.MaxLength, MinItems: s.MinItems, MaxItems: s.MaxItems,
		Required: s.Required[:min(len(s.Required), 64)],
	}
	if never(s) {
		c.Not = s.Not
	}
	if known(s) {
		c.Type, c.Types = s.Type, s.Types
	}
	if _, err := regexp.Compile(s.Pattern); err == nil {
		c.Pattern = s.Pattern
	}
	switch {
	case s.Const != nil && s.Enum == nil && plain(*s.Const):
		c.Const = s.Const
	case s.Const == nil && plain(s.Enum...):
		c.Enum = s.Enum
	}
	for _, sub := range s.AllOf {
		if sub = cheapest(sub, draft7); sub != nil {
			c.AllOf = append(c.AllOf, sub)
		}
	}
	c.AnyOf = alternatives(s.AnyOf, draft7)
	if s.PrefixItems == nil && s.ItemsArray == nil {
		c.Items = cheapest(s.Items, draft7)
	}
	if s.PatternProperties == nil {
		c.AdditionalProperties = cheapest(s.AdditionalProperties, draft7)
	}
	for name, sub := range s.Properties {
		if c.Properties == nil {
			c.Properties = map[string]*jsonschema.Schema{}
		}
		if c.Properties[name] = cheapest(sub, draft7); c.Properties[name] == nil {
			c.Properties[name] = &jsonschema.Schema{}
		}
	}
	return c
}

// alternatives are the cheap parts of schemas of which one must take a value; nil: one of them takes any.
func alternatives(of []*jsonschema.Schema, draft7 bool) (all []*jsonschema.Schema) {
	for _, sub := range of {
		if sub = cheapest(sub, draft7); sub == nil {
			return nil
		}
		all = append(all, sub)
	}
	return all
}

// known tells whether a plan knows a schema's types.
func known(s *jsonschema.Schema) bool {
	for _, name := range append([]string{s.Type}, s.Types...) {
		if name != "" && kindNames[name] == 0 {
			return false
		}
	}
	return s.Types == nil || len(s.Types) > 0
}

// plain tells whether values are such as a plan compares.
func plain(values ...any) bool {
	for _, v := range values {
		switch v.(type) {
		case string, float64, bool, nil:
		default:
			return false
		}
	}
	return true
}
