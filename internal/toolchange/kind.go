package toolchange

import "slices"

// Kind is one class of change.
type Kind string

// The kinds, in the order in which they are listed.
const (
	NewTool           Kind = "new_tool"
	NewSkill          Kind = "new_skill"
	Removed           Kind = "removed"
	HiddenText        Kind = "hidden_text"      // characters that models read and people do not see
	InstructionLike   Kind = "instruction_like" // instructions to the model
	Shadows           Kind = "shadows"          // imitates or names another connector's tool
	NewLink           Kind = "new_link"         // a URL or an e-mail address
	Instructions      Kind = "instructions"     // the server's instructions
	SkillFiles        Kind = "skill_files"      // of a skill: files or their digests
	Text              Kind = "text"             // text for models: descriptions, defaults, examples
	ParameterAdded    Kind = "parameter_added"
	ParameterRemoved  Kind = "parameter_removed"
	RequiredAdded     Kind = "required_added"
	RequiredRemoved   Kind = "required_removed"
	TypeWidened       Kind = "type_widened" // accepts more values
	TypeNarrowed      Kind = "type_narrowed"
	TypeChanged       Kind = "type_changed" // neither, both, or unknown
	AnnotationRiskier Kind = "annotation_riskier"
	AnnotationSafer   Kind = "annotation_safer"
	OutputSchema      Kind = "output_schema"
	EndpointChanged   Kind = "endpoint_changed" // of an HTTP API: calls go to another address, path or method
	RequestChanged    Kind = "request_changed"  // of an HTTP API: how a call is sent
	Other             Kind = "other"            // an unknown member, or an ambiguous definition
	Cosmetic          Kind = "cosmetic"
)

// Kinds lists all kinds, most important first.
func Kinds() []Kind {
	return []Kind{
		NewTool, NewSkill, Removed, HiddenText, InstructionLike, Shadows, NewLink, Instructions, SkillFiles, Text, ParameterAdded, ParameterRemoved,
		RequiredAdded, RequiredRemoved, TypeWidened, TypeNarrowed, TypeChanged, AnnotationRiskier, AnnotationSafer, OutputSchema, EndpointChanged, RequestChanged, Other,
		Cosmetic,
	}
}

// Words describe a kind to people and models: "new parameters".
func (k Kind) Words() string {
	if words, known := kindWords[k]; known {
		return words
	}
	return string(k)
}

var kindWords = map[Kind]string{
	NewTool:           "new tool",
	NewSkill:          "new skill",
	Removed:           "removed",
	HiddenText:        "hidden text",
	InstructionLike:   "instructions to the model",
	Shadows:           "shadows another tool",
	NewLink:           "new link",
	Instructions:      "changed instructions",
	SkillFiles:        "changed files",
	Text:              "changed text",
	ParameterAdded:    "new parameter",
	ParameterRemoved:  "parameter removed",
	RequiredAdded:     "newly required",
	RequiredRemoved:   "no longer required",
	TypeWidened:       "wider type",
	TypeNarrowed:      "narrower type",
	TypeChanged:       "changed type",
	AnnotationRiskier: "riskier hints",
	AnnotationSafer:   "safer hints",
	OutputSchema:      "changed output",
	EndpointChanged:   "changed address",
	RequestChanged:    "changed request",
	Other:             "unknown change",
	Cosmetic:          "cosmetic",
}

// Risk rates a change.
type Risk string

// The risks.
const (
	None Risk = "none"
	Low  Risk = "low"
	High Risk = "high"
)

// Risk returns the risk of the kind alone. [Budget.Compare] rates a new read-only tool lower.
func (k Kind) Risk() Risk {
	switch k {
	case Cosmetic, Removed:
		return None
	case ParameterRemoved, RequiredAdded, RequiredRemoved, TypeNarrowed, OutputSchema, RequestChanged, AnnotationSafer:
		return Low
	default:
		return High
	}
}

// Change is the difference of two definitions.
type Change struct {
	Kinds       []Kind // without duplicates, in the order of [Kinds]; empty: equal definitions
	Risk        Risk
	Differences []Difference
	More        int // number of differences that are not listed
}

// Has reports whether the change has a kind.
func (c Change) Has(k Kind) bool { return slices.Contains(c.Kinds, k) }

// Difference is one differing place.
type Difference struct {
	Path     string // readable path: description, arguments.filter.limit, annotations.readOnlyHint
	Kind     Kind
	Before   string // shortened JSON; empty: absent
	After    string // likewise
	Sentence string // the meaning, one sentence
}

// maxDifferences bounds the listed differences.
const maxDifferences = 100

// changeBuilder collects differences.
type changeBuilder struct {
	work   *work
	change Change
	kinds  map[Kind]bool
	// mapKind replaces the kind of added differences; nil: unchanged.
	mapKind func(Kind) Kind
}

// add adds a difference. It adds none once the work is exhausted, because later results are incomplete:
// addUncompared reports that.
func (r *changeBuilder) add(d Difference) {
	if r.work.isExhausted() {
		return
	}
	if r.mapKind != nil {
		d.Kind = r.mapKind(d.Kind)
	}
	r.kinds[d.Kind] = true
	if r.isFull() {
		r.change.More++
		return
	}
	r.work.spendUnits(differenceWork)
	r.change.Differences = append(r.change.Differences, d)
}

// isFull reports whether further differences are only counted.
func (r *changeBuilder) isFull() bool { return len(r.change.Differences) >= maxDifferences }

// addUncompared adds a difference of definitions that cannot be compared. It needs no work and is always listed.
func (r *changeBuilder) addUncompared(path string, kind Kind, sentence string) {
	r.kinds[kind] = true
	if r.isFull() {
		r.change.Differences = r.change.Differences[:maxDifferences-1]
		r.change.More++
	}
	r.change.Differences = append(r.change.Differences, Difference{Path: path, Kind: kind, Sentence: sentence})
}

func (r *changeBuilder) buildChange() Change {
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
