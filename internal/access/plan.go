package access

import (
	"regexp"

	"github.com/google/jsonschema-go/jsonschema"
)

// plan is a schema made of the keywords that nearly all tools get by with, for a check that reads the arguments' bytes once and makes
// nothing of them.
type plan struct {
	kinds    kindSet // of values that may stand here; 0: any
	never    bool
	all      []*plan // that must all accept
	anyOf    []*plan // of which one must; nil: no matter
	enum     *enum   // nil: no matter
	low      *float64
	high     *float64
	above    *float64
	below    *float64
	minText  int
	maxText  int // -1: no matter
	form     *regexp.Regexp
	items    *plan // nil: any
	minItems int
	maxItems int // -1: no matter
	members  map[string]member
	needed   uint64 // a bit for each member that must be there
	others   *plan  // of other members; nil: any
}

// member is what is said of one member of an object.
type member struct {
	plan     *plan // nil: any
	declared bool  // it is none of the others
	bit      uint64
}

type kindSet uint8

const (
	isNull kindSet = 1 << iota
	isBool
	isNumber
	isInteger
	isString
	isArray
	isObject
)

var kindNames = map[string]kindSet{
	"null": isNull, "boolean": isBool, "number": isNumber | isInteger, "integer": isInteger,
	"string": isString, "array": isArray, "object": isObject,
}

// enum are scalar values.
type enum struct {
	texts   map[string]bool
	numbers map[float64]bool
	other   map[string]bool // null, true, false
}

// planner turns schemas into plans. Its plan is nil where a keyword is beyond it.
type planner struct {
	root    *jsonschema.Schema
	draft7  bool
	made    map[*jsonschema.Schema]*plan
	refused bool
}

func planOf(root *jsonschema.Schema) *plan {
	p := &planner{root: root, draft7: isDraft7(root.Schema), made: map[*jsonschema.Schema]*plan{}}
	plan := p.schema(root)
	if p.refused {
		return nil
	}
	return plan
}

func isDraft7(dialect string) bool {
	return dialect == "http://json-schema.org/draft-07/schema#" || dialect == "https://json-schema.org/draft-07/schema#"
}

func (p *planner) schema(s *jsonschema.Schema) *plan {
	if s == nil {
		return nil
	}
	if known := p.made[s]; known != nil {
		return known
	}
	out := &plan{maxText: -1, maxItems: -1}
	p.made[s] = out // before its parts: a schema may lead back to itself
	if beyond(s) {
		p.refused = true
		return out
	}
	if s.Ref != "" {
		out.all = append(out.all, p.schema(p.target(s.Ref)))
		if p.draft7 {
			return out // what stands beside it counts for nothing
		}
	}
	p.values(out, s)
	p.parts(out, s)
	return out
}

func (p *planner) target(ref string) *jsonschema.Schema {
	target := pointed(p.root, ref)
	if target == nil {
		p.refused = true
		return &jsonschema.Schema{}
	}
	return target
}

// beyond tells whether a schema has a keyword that a plan does not know. never is {"not": {}}.
func beyond(s *jsonschema.Schema) bool {
	return s.ID != "" || s.Anchor != "" || s.DynamicAnchor != "" || s.DynamicRef != "" ||
		s.Not != nil && !never(s) || s.OneOf != nil || s.If != nil || s.MultipleOf != nil || s.UniqueItems ||
		s.PrefixItems != nil || s.ItemsArray != nil || s.AdditionalItems != nil || s.Contains != nil || s.UnevaluatedItems != nil ||
		s.MinProperties != nil || s.MaxProperties != nil || s.PatternProperties != nil || s.PropertyNames != nil || s.UnevaluatedProperties != nil ||
		s.DependentRequired != nil || s.DependentSchemas != nil || s.DependencySchemas != nil || s.DependencyStrings != nil ||
		len(s.Required) > 64
}

// values takes over what is said of the value itself.
func (p *planner) values(out *plan, s *jsonschema.Schema) {
	out.never = s.Not != nil
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	p.refused = p.refused || types != nil && len(types) == 0
	for _, name := range types {
		kind, known := kindNames[name]
		p.refused = p.refused || !known
		out.kinds |= kind
	}
	out.low, out.high, out.above, out.below = s.Minimum, s.Maximum, s.ExclusiveMinimum, s.ExclusiveMaximum
	out.minText, out.minItems = or(s.MinLength, 0), or(s.MinItems, 0)
	out.maxText, out.maxItems = or(s.MaxLength, -1), or(s.MaxItems, -1)
	if s.Pattern != "" {
		form, err := regexp.Compile(s.Pattern)
		p.refused = p.refused || err != nil
		out.form = form
	}
	allowed := s.Enum
	if s.Const != nil {
		p.refused = p.refused || s.Enum != nil
		allowed = []any{*s.Const}
	}
	if allowed != nil {
		out.enum = p.enum(allowed)
	}
}

func or(n *int, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return *n
}

func (p *planner) enum(values []any) *enum {
	e := &enum{texts: map[string]bool{}, numbers: map[float64]bool{}, other: map[string]bool{}}
	for _, v := range values {
		switch v := v.(type) {
		case string:
			e.texts[v] = true
		case float64:
			e.numbers[v] = true
		case bool:
			e.other[map[bool]string{true: "true", false: "false"}[v]] = true
		case nil:
			e.other["null"] = true
		default:
			p.refused = true
		}
	}
	return e
}

// parts takes over what is said of what stands inside, and the schemas that apply besides.
func (p *planner) parts(out *plan, s *jsonschema.Schema) {
	for _, sub := range s.AllOf {
		out.all = append(out.all, p.schema(sub))
	}
	for _, sub := range s.AnyOf {
		out.anyOf = append(out.anyOf, p.schema(sub))
	}
	p.refused = p.refused || s.AnyOf != nil && len(s.AnyOf) == 0
	out.items, out.others = p.schema(s.Items), p.schema(s.AdditionalProperties)
	if len(s.Properties)+len(s.Required) > 0 {
		out.members = make(map[string]member, len(s.Properties))
	}
	for name, sub := range s.Properties {
		out.members[name] = member{plan: p.schema(sub), declared: true}
	}
	for i, name := range s.Required {
		m := out.members[name]
		m.bit |= 1 << i
		out.members[name] = m
		out.needed |= 1 << i
	}
}
