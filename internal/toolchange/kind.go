package toolchange

import "slices"

// Kind is one class of change.
type Kind string

// The kinds, in the order in which they are listed.
const (
	NewTool           Kind = "new_tool"
	Removed           Kind = "removed"
	HiddenText        Kind = "hidden_text"      // characters that a model reads and a person does not see
	InstructionLike   Kind = "instruction_like" // words that order a model about
	Shadows           Kind = "shadows"          // another connector's tool: by its name, or in its text
	NewLink           Kind = "new_link"         // a URL or an e-mail address
	Instructions      Kind = "instructions"     // what a server says of itself to every model
	Text              Kind = "text"             // what a model reads: descriptions, defaults, examples
	ParameterAdded    Kind = "parameter_added"
	ParameterRemoved  Kind = "parameter_removed"
	RequiredAdded     Kind = "required_added"
	RequiredRemoved   Kind = "required_removed"
	TypeWidened       Kind = "type_widened" // takes values that it did not take
	TypeNarrowed      Kind = "type_narrowed"
	TypeChanged       Kind = "type_changed" // neither, both, or not to be told
	AnnotationRiskier Kind = "annotation_riskier"
	AnnotationSafer   Kind = "annotation_safer"
	OutputSchema      Kind = "output_schema"
	Other             Kind = "other" // a member that Patchbay does not know, or a definition that can be read in two ways
	Cosmetic          Kind = "cosmetic"
)

// Kinds lists all kinds, the most telling first.
func Kinds() []Kind {
	return []Kind{
		NewTool, Removed, HiddenText, InstructionLike, Shadows, NewLink, Instructions, Text, ParameterAdded, ParameterRemoved, RequiredAdded,
		RequiredRemoved, TypeWidened, TypeNarrowed, TypeChanged, AnnotationRiskier, AnnotationSafer, OutputSchema, Other, Cosmetic,
	}
}

// Words name a kind to people, and to models: "new parameters".
func (k Kind) Words() string {
	if words, known := kindWords[k]; known {
		return words
	}
	return string(k)
}

var kindWords = map[Kind]string{
	NewTool:           "new tool",
	Removed:           "removed",
	HiddenText:        "hidden text",
	InstructionLike:   "orders to the model",
	Shadows:           "shadows another tool",
	NewLink:           "new link",
	Instructions:      "changed instructions",
	Text:              "changed text",
	ParameterAdded:    "new parameter",
	ParameterRemoved:  "parameter gone",
	RequiredAdded:     "newly required",
	RequiredRemoved:   "no longer required",
	TypeWidened:       "wider type",
	TypeNarrowed:      "narrower type",
	TypeChanged:       "other type",
	AnnotationRiskier: "riskier hints",
	AnnotationSafer:   "safer hints",
	OutputSchema:      "other output",
	Other:             "unknown change",
	Cosmetic:          "cosmetic",
}

// Risk is how much a change should worry somebody.
type Risk string

// The risks.
const (
	None Risk = "none"
	Low  Risk = "low"
	High Risk = "high"
)

// Risk is that of a kind alone. A new tool that only reads is less than that: [Compare] knows.
func (k Kind) Risk() Risk {
	switch k {
	case Cosmetic, Removed:
		return None
	case ParameterRemoved, RequiredAdded, RequiredRemoved, TypeNarrowed, OutputSchema, AnnotationSafer:
		return Low
	default:
		return High
	}
}

// Change is what is different between two definitions.
type Change struct {
	Kinds       []Kind // each once, in the order of [Kinds]; empty: the definitions are the same
	Risk        Risk
	Differences []Difference
	More        int // further differences, which are not listed
}

// Has tells whether a kind is among those of the change.
func (c Change) Has(k Kind) bool { return slices.Contains(c.Kinds, k) }

// Difference is one place in which the definitions differ.
type Difference struct {
	Path     string // for people: description, arguments.filter.limit, annotations.readOnlyHint
	Kind     Kind
	Before   string // JSON, cut where it is long; empty: it was not there
	After    string // likewise
	Sentence string // what it means
}

// mostDifferences are listed; nobody reads more.
const mostDifferences = 100

// report collects a change.
type report struct {
	change Change
	kinds  map[Kind]bool
	// sees is what another kind is called in this part of the definition; nil: what it is.
	sees func(Kind) Kind
}

func (r *report) add(d Difference) {
	if r.sees != nil {
		d.Kind = r.sees(d.Kind)
	}
	r.kinds[d.Kind] = true
	if len(r.change.Differences) == mostDifferences {
		r.change.More++
		return
	}
	r.change.Differences = append(r.change.Differences, d)
}

// sum is the change that was collected.
func (r *report) sum() Change {
	r.change.Risk = None
	for _, k := range Kinds() {
		if !r.kinds[k] {
			continue
		}
		r.change.Kinds = append(r.change.Kinds, k)
		if k.Risk() == High || r.change.Risk == None {
			r.change.Risk = k.Risk()
		}
	}
	return r.change
}
