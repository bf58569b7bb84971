package access

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"

	"github.com/google/jsonschema-go/jsonschema"

	"patchbay/internal/fault"
)

// schema is a tool's input schema (JSON Schema 2020-12, or draft-07 where it says so), compiled. One that cannot be compiled, or that
// is of a dialect that nobody here knows, lets every object pass that can be read in one way: the server has the last word anyway.
type schema struct {
	plan     *plan                // nil: it is too odd for one
	resolved *jsonschema.Resolved // nil: it cannot be compiled
	cheap    *plan                // the part that can always be checked; nil: there is none, or nobody needs it
	cost     cost
}

// noArguments stand for arguments that were left out.
var noArguments = json.RawMessage("{}")

// Validate tells whether arguments fit the tool's input schema. The error is an Invalid fault: a sentence for the model, which names the
// place. Nothing is fetched for it.
func (t *Tool) Validate(arguments json.RawMessage) error {
	if t.def == nil {
		return nil
	}
	return t.compiled().check(arguments)
}

// ValidateRead is [Tool.Validate] for arguments that were read: they are valid JSON, without white space around it, or nothing.
func (t *Tool) ValidateRead(arguments json.RawMessage) error {
	if t.def == nil {
		return nil
	}
	return t.compiled().checkRead(arguments)
}

// compiled is the input schema. There is a definition.
func (t *Tool) compiled() *schema {
	d := t.def.accepted() // an admin's words leave the schema as it is
	d.compile.Do(func() { d.schema = compile(d.inputSchema) })
	return d.schema
}

func compile(raw json.RawMessage) *schema {
	var root jsonschema.Schema
	if raw == nil || json.Unmarshal(raw, &root) != nil {
		return &schema{}
	}
	s := &schema{cost: costOf(&root)}
	if s.cost.endless {
		if supported(root.Schema) {
			s.cheap = cheapOf(&root)
		}
		return s
	}
	resolved, err := root.Resolve(nil) // without a loader: no other document is read
	if err == nil && supported(root.Schema) {
		s.resolved, s.plan = resolved, planOf(&root)
		if s.plan == nil {
			s.cheap = cheapOf(&root)
		}
	}
	return s
}

func (s *schema) check(arguments json.RawMessage) error {
	arguments = bytes.TrimSpace(arguments)
	if len(arguments) > 0 && !json.Valid(arguments) {
		return unfit("The arguments are not valid JSON.")
	}
	return s.checkRead(arguments)
}

// checkRead is for arguments that are valid JSON, or nothing.
func (s *schema) checkRead(arguments json.RawMessage) error {
	switch {
	case len(arguments) == 0:
		arguments = noArguments
	case arguments[0] != '{':
		return unfit("The arguments must be an object.")
	}
	accepted, tired := s.judges(arguments)
	switch {
	case accepted:
		return nil
	case tired:
		return unfit("The arguments are too large or nested too deeply to be checked. Send less at once.")
	case repeats(arguments): // whoever makes a value of it judges the last one alone, and the server gets all of them
		return unfit("The arguments name a member twice.")
	case s.resolved == nil && s.cheap == nil:
		return nil
	}
	object, err := decoded(arguments)
	value, ok := object.(map[string]any)
	if err != nil || !ok {
		// A number that no float holds. Who reads it may cut it to size, and the other members would go unjudged.
		return unfit("The arguments hold a number that is too large to be checked.")
	}
	if s.resolved == nil || s.cost.tooMuch(value) {
		return s.checkCheaply(arguments, value)
	}
	refused := s.refusal(value)
	if refused != nil && s.fitsWithoutNulls(value) {
		return nil
	}
	return refused
}

// judges tells whether the plan lets arguments pass, and whether it would be too much work to know. Where there is no plan it is neither.
func (s *schema) judges(arguments json.RawMessage) (accepts, tired bool) {
	if s.plan == nil {
		return false, false
	}
	return s.plan.judge(arguments)
}

// checkCheaply is the part of a check that costs little. Members that are null may be meant to be left out, as in [schema.fitsWithoutNulls].
func (s *schema) checkCheaply(arguments json.RawMessage, value map[string]any) error {
	if s.cheap == nil {
		return nil
	}
	accepts, tired := s.cheap.judge(arguments)
	if !accepts && !tired {
		maps.DeleteFunc(value, func(_ string, v any) bool { return v == nil })
		if without, err := json.Marshal(value); err == nil {
			accepts, tired = s.cheap.judge(without)
		}
	}
	switch {
	case tired:
		return unfit("The arguments are too large or nested too deeply to be checked. Send less at once.")
	case !accepts:
		return unfit("The arguments do not fit the tool's input schema.")
	}
	return nil
}

// refusal says why a value does not fit. What the plan refused and what there is a sentence for needs no second opinion: the library
// writes the whole value into its errors, once for each step down.
func (s *schema) refusal(value map[string]any) error {
	said := explain(s.resolved.Schema(), value)
	switch {
	case said != "" && s.plan != nil:
		return unfit(said)
	case s.resolved.Validate(value) == nil:
		return nil
	}
	return unfit(cmp.Or(said, "The arguments do not fit the tool's input schema."))
}

// fitsWithoutNulls tells whether the arguments fit once those that are null are left out. Clients write both where there is no value, and
// the server gets what they wrote.
func (s *schema) fitsWithoutNulls(object map[string]any) bool {
	given := maps.Clone(object)
	maps.DeleteFunc(given, func(_ string, value any) bool { return value == nil })
	return len(given) < len(object) && s.refusal(given) == nil
}

func unfit(sentence string) error { return fault.Errorf(fault.Invalid, "%s", sentence) }

// supported tells whether the library knows a dialect; empty: the newest.
func supported(dialect string) bool {
	switch dialect {
	case "", "https://json-schema.org/draft/2020-12/schema",
		"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema#":
		return true
	}
	return false
}

// Schema is an input schema of a tool of our own.
type Schema struct{ schema *schema }

// CompileSchema makes one that arguments can be held against.
func CompileSchema(raw json.RawMessage) *Schema { return &Schema{compile(raw)} }

// Check tells whether arguments fit. The error is one of [Tool.Validate].
func (s *Schema) Check(arguments json.RawMessage) error { return s.schema.check(arguments) }
