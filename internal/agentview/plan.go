package agentview

// plan is a compiled JSON Schema. It checks the bytes of a JSON text without decoding them, and is immutable.
type plan struct {
	types                typeSet // accepted types; 0: any
	uncheckedTypes       typeSet // types with a keyword that was left out: the result is at best undecided
	rejectsAll           bool
	allOf                []*plan     // includes the target of $ref
	anyOf                []*plan     // nil: absent
	enum                 *enumValues // nil: absent
	minimum              *float64
	maximum              *float64
	exclusiveMinimum     *float64
	exclusiveMaximum     *float64
	minLength            int
	maxLength            int // -1: unbounded
	pattern              *pattern
	items                *plan // nil: any
	minItems             int
	maxItems             int // -1: unbounded
	properties           map[string]propertyPlan
	maxNameBytes         int           // of the longest name in properties
	trackedCount         int           // properties that have an index
	requiredBits         uint64        // a bit per required property, if trackedCount is at most 64
	additionalProperties *plan         // nil: any
	rare                 *rareKeywords // nil: none of them

	// For error messages.
	typeNames []string
	required  []string
	enumText  string // allowed values
	isConst   bool   // enum is a const
}

// propertyPlan is the plan of one property.
type propertyPlan struct {
	plan         *plan // nil: any
	inProperties bool
	index        int // from 1 on if presence is tracked; 0: not tracked
}

// rareKeywords are keywords that few schemas have.
type rareKeywords struct {
	constant          *enumValues // const beside an enum
	multipleOf        float64
	uniqueItems       bool
	prefixItems       []*plan
	contains          *plan
	hasContains       bool
	minContains       int
	maxContains       int // -1: unbounded
	minProperties     int
	maxProperties     int // -1: unbounded
	patternProperties []patternProperty
	propertyNames     *plan
	dependents        []dependency
	requiredIndexes   []int // of required properties, if more than 64 are tracked
	oneOf             []*plan
	not               *plan // nil: absent, or accepts all; see hasNot
	hasNot            bool
	ifPlan            *plan
	hasIf             bool
	thenPlan          *plan
	elsePlan          *plan

	hasItems                bool // items or additionalItems is present
	hasAdditionalProperties bool

	unevaluatedItems         *plan
	unevaluatedProperties    *plan
	hasUnevaluatedItems      bool
	hasUnevaluatedProperties bool
}

type patternProperty struct {
	pattern *pattern
	plan    *plan
}

// dependency is an entry of dependentRequired, dependentSchemas or dependencies.
type dependency struct {
	trigger  int   // index of the property that triggers it
	required []int // property indexes
	plan     *plan // nil: none
}

type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBool
	typeNumber
	typeInteger
	typeString
	typeArray
	typeObject

	typeAny = typeNull | typeBool | typeNumber | typeInteger | typeString | typeArray | typeObject
)

var typesByName = map[string]typeSet{
	"null": typeNull, "boolean": typeBool, "number": typeNumber | typeInteger, "integer": typeInteger,
	"string": typeString, "array": typeArray, "object": typeObject,
}

// enumValues are the values of enum or const.
type enumValues struct {
	strings        map[string]bool
	numbers        map[float64]bool
	literals       map[string]bool // null, true, false
	composites     map[string]bool // canonical forms of objects and arrays
	maxStringBytes int             // of the longest string
}

// validity is the result of a check, in order: a conjunction takes the minimum, a disjunction the maximum.
type validity uint8

const (
	invalid   validity = iota
	undecided          // a keyword was left out, and the rest is valid
	valid
)

func (p *plan) allowsType(kind typeSet) bool { return p.types == 0 || p.types&kind != 0 }

func (p *plan) hasBounds() bool {
	return p.minimum != nil || p.maximum != nil || p.exclusiveMinimum != nil || p.exclusiveMaximum != nil || p.rare != nil && p.rare.multipleOf != 0
}

// needsUniqueNames reports whether duplicate names would change the result: the plan counts properties or
// negates a check.
func (p *plan) needsUniqueNames() bool {
	return p.rare != nil || p.enum != nil && p.enum.composites != nil
}

// eachInPlace calls yield for the plans that apply to the same value as p.
func (p *plan) eachInPlace(yield func(**plan)) {
	for _, list := range [][]*plan{p.allOf, p.anyOf} {
		for i := range list {
			yield(&list[i])
		}
	}
	r := p.rare
	if r == nil {
		return
	}
	for i := range r.oneOf {
		yield(&r.oneOf[i])
	}
	for i := range r.dependents {
		yield(&r.dependents[i].plan)
	}
	for _, sub := range []**plan{&r.not, &r.ifPlan, &r.thenPlan, &r.elsePlan} {
		yield(sub)
	}
}

// eachChild calls yield for the plans that apply to items and properties of the value of p.
func (p *plan) eachChild(yield func(*plan)) {
	parts := []*plan{p.items, p.additionalProperties}
	for _, m := range p.properties {
		parts = append(parts, m.plan)
	}
	if r := p.rare; r != nil {
		parts = append(append(parts, r.prefixItems...), r.contains, r.propertyNames, r.unevaluatedItems, r.unevaluatedProperties)
		for _, m := range r.patternProperties {
			parts = append(parts, m.plan)
		}
	}
	for _, sub := range parts {
		if sub != nil {
			yield(sub)
		}
	}
}
