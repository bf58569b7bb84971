package access

// plan is a compiled JSON Schema. It judges the bytes of a JSON text and decodes nothing. It does not change once it is compiled.
type plan struct {
	kinds    kindSet // of values that are accepted; 0: any
	unjudged kindSet // of values for which a keyword was left out: at best the verdict is undecided
	never    bool
	all      []*plan // that must all accept; a reference is one of them
	anyOf    []*plan // nil: absent
	enum     *enum   // nil: absent
	low      *float64
	high     *float64
	above    *float64
	below    *float64
	minText  int
	maxText  int // -1: unbounded
	pattern  *pattern
	items    *plan // nil: any
	minItems int
	maxItems int // -1: unbounded
	members  map[string]member
	longest  int    // bytes of the longest name in members
	tracked  int    // how many members have an index
	needed   uint64 // a bit for the index of each required member, where tracked is at most 64
	others   *plan  // of additional properties; nil: any
	rare     *rare  // nil: none of those keywords

	// For explanations.
	typeNames []string
	required  []string
	shown     string // what enum allows
	single    bool   // enum is a const
}

// member is what a schema says of one member of an object.
type member struct {
	plan     *plan // nil: any
	declared bool  // it stands in properties
	index    int   // from 1 on, where its presence counts; 0: it does not
}

// rare are the keywords that few schemas have.
type rare struct {
	constant    *enum // beside an enum
	multipleOf  float64
	unique      bool
	prefix      []*plan
	contains    *plan
	counts      bool // there is a contains
	minContains int
	maxContains int // -1: unbounded
	minMembers  int
	maxMembers  int // -1: unbounded
	patterns    []patternMember
	names       *plan
	dependents  []dependent
	needed      []int // indexes of required members, where more than 64 are tracked
	oneOf       []*plan
	not         *plan // nil: absent, or never refused: see negates
	negates     bool
	condition   *plan
	conditional bool
	then        *plan
	otherwise   *plan

	allItems   bool // items, or additionalItems, is there
	allMembers bool // additionalProperties is there

	unevaluatedItems   *plan
	unevaluatedMembers *plan
	evaluatesItems     bool // unevaluatedItems is there
	evaluatesMembers   bool // unevaluatedProperties is there
}

// patternMember is one of patternProperties.
type patternMember struct {
	pattern *pattern
	plan    *plan
}

// dependent is one of dependentRequired, dependentSchemas or dependencies.
type dependent struct {
	trigger int   // index of the member that brings it in
	needed  []int // indexes
	plan    *plan // nil: none
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

	isAny = isNull | isBool | isNumber | isInteger | isString | isArray | isObject
)

var kindNames = map[string]kindSet{
	"null": isNull, "boolean": isBool, "number": isNumber | isInteger, "integer": isInteger,
	"string": isString, "array": isArray, "object": isObject,
}

// enum are the values of an enum or a const.
type enum struct {
	texts      map[string]bool
	numbers    map[float64]bool
	other      map[string]bool // null, true, false
	composites map[string]bool // objects and arrays in their canonical form
	longest    int             // bytes of the longest text
}

// verdict is what is known of a value. The verdict of keywords that must all hold is their least, of alternatives their greatest.
type verdict uint8

const (
	refused   verdict = iota
	undecided         // a part of the check was left out, and what was checked holds
	accepted
)

func (p *plan) takes(kind kindSet) bool { return p.kinds == 0 || p.kinds&kind != 0 }

func (p *plan) bounded() bool {
	return p.low != nil || p.high != nil || p.above != nil || p.below != nil || p.rare != nil && p.rare.multipleOf != 0
}

// strict reports whether the plan must not see a name twice in an object: it counts members, or negates what is said of them.
func (p *plan) strict() bool { return p.rare != nil || p.enum != nil && p.enum.composites != nil }

// inPlace visits the plans that apply to the same value as p.
func (p *plan) inPlace(visit func(**plan)) {
	for _, list := range [][]*plan{p.all, p.anyOf} {
		for i := range list {
			visit(&list[i])
		}
	}
	r := p.rare
	if r == nil {
		return
	}
	for i := range r.oneOf {
		visit(&r.oneOf[i])
	}
	for i := range r.dependents {
		visit(&r.dependents[i].plan)
	}
	for _, sub := range []**plan{&r.not, &r.condition, &r.then, &r.otherwise} {
		visit(sub)
	}
}

// eachPart visits the plans that apply to parts of a value that p applies to.
func (p *plan) eachPart(visit func(*plan)) {
	parts := []*plan{p.items, p.others}
	for _, m := range p.members {
		parts = append(parts, m.plan)
	}
	if r := p.rare; r != nil {
		parts = append(append(parts, r.prefix...), r.contains, r.names, r.unevaluatedItems, r.unevaluatedMembers)
		for _, m := range r.patterns {
			parts = append(parts, m.plan)
		}
	}
	for _, sub := range parts {
		if sub != nil {
			visit(sub)
		}
	}
}
