package agentview

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"

	"patchbay/internal/fault"
)

// compiledSchema is a compiled JSON Schema (2020-12, or draft-07 if declared). Parts that cannot be checked are
// in unchecked; the server still checks them.
type compiledSchema struct {
	plan             *plan // nil: every object is accepted
	needsUniqueNames bool  // duplicate names must be excluded before the check
	unchecked        []UncheckedPart
	bytes            int64 // of memory, estimated
	compileWork      int   // in units
}

var emptyArguments = json.RawMessage("{}")

// Validate checks arguments against the tool's input schema. The error is an Invalid fault with a sentence for
// the model that names the path, or ctx's error. It takes at most 50 ms of CPU and 16 MiB, and accepts what
// cannot be checked within that: see [Tool.Unchecked]. It fetches nothing.
func (t *Tool) Validate(ctx context.Context, arguments json.RawMessage) error {
	_, err := t.ValidateAll(ctx, arguments, false)
	return err
}

// ValidateAll is [Tool.Validate] that reports whether everything was checked; large or deeply nested arguments
// may not be. read means that the arguments are empty, or valid JSON without surrounding white space.
func (t *Tool) ValidateAll(ctx context.Context, arguments json.RawMessage, read bool) (all bool, err error) {
	if t.def == nil {
		return true, nil
	}
	if !read {
		arguments = bytes.TrimSpace(arguments)
		if len(arguments) > 0 && !json.Valid(arguments) {
			return true, newArgumentsError("The arguments aren't valid JSON.")
		}
	}
	_, partial, err := t.compiledSchema().validatePartly(ctx, arguments)
	return !partial, err
}

// Unchecked returns the parts of the input schema that arguments are not checked against, at most 20.
func (t *Tool) Unchecked() []UncheckedPart {
	if t.def == nil {
		return nil
	}
	return t.compiledSchema().unchecked
}

// UncheckedParts returns the parts of a schema that cannot be checked, at most 20.
func UncheckedParts(schema json.RawMessage) []UncheckedPart { return compileSchema(schema).unchecked }

// compiledSchema returns the compiled input schema. t.def is not nil.
func (t *Tool) compiledSchema() *compiledSchema {
	d := t.def.originalDefinition() // an admin's texts do not change the schema
	return d.schemas.get(d, inputPart)
}

// validate checks arguments; undecided means that a part was not checked.
func (s *compiledSchema) validate(ctx context.Context, arguments json.RawMessage) (validity, error) {
	v, _, err := s.validatePartly(ctx, arguments)
	return v, err
}

// validatePartly also reports whether a part was not checked because of its cost.
func (s *compiledSchema) validatePartly(ctx context.Context, arguments json.RawMessage) (v validity, partial bool, err error) {
	switch {
	case len(arguments) == 0:
		arguments = emptyArguments
	case arguments[0] != '{':
		return invalid, false, newArgumentsError("The arguments must be an object.")
	}
	r := newValidator(ctx, arguments)
	v, err = s.validateWith(&r)
	return v, r.partial, err
}

func (s *compiledSchema) validateWith(r *validator) (validity, error) {
	v := valid
	if s.plan != nil && !s.needsUniqueNames {
		v = r.validate(s.plan)
		if v == valid {
			return valid, nil // both of two members with one name were checked
		}
	}
	// Parsers disagree on which of two equal members counts.
	switch r.findDuplicateMembers() {
	case valid:
		return invalid, newArgumentsError("Duplicate key in the arguments.")
	case undecided:
		r.partial = true
	}
	if s.plan != nil && s.needsUniqueNames {
		v = r.validate(s.plan)
	}
	if v == invalid && bytes.Contains(r.text, []byte("null")) {
		if again := s.validateWithoutNulls(r); !r.stopped {
			v = again
		}
	}
	message := ""
	if v == invalid {
		message = cmp.Or(r.explainInvalid(s.plan), "The arguments don't match the input schema.")
	}
	switch {
	case r.stopped && r.ctx.Err() != nil:
		return undecided, r.ctx.Err()
	case v == invalid:
		return invalid, newArgumentsError(message)
	}
	return v, nil
}

// validateWithoutNulls checks invalid arguments again as if null members were absent. Clients send null for
// absent values; the server gets the arguments unchanged.
func (s *compiledSchema) validateWithoutNulls(r *validator) validity {
	r.ignoreNulls = true
	v := r.validate(s.plan)
	r.ignoreNulls = false
	return v
}

func newArgumentsError(sentence string) error { return fault.Errorf(fault.Invalid, "%s", sentence) }

// Schema is the input schema of one of Patchbay's own tools.
type Schema struct{ schema *compiledSchema }

// CompileSchema compiles an input schema.
func CompileSchema(raw json.RawMessage) *Schema { return &Schema{compileSchema(raw)} }

// Check validates arguments as [Tool.Validate] does, and also rejects arguments that cannot be checked.
func (s *Schema) Check(ctx context.Context, arguments json.RawMessage) error {
	arguments = bytes.TrimSpace(arguments)
	if len(arguments) > 0 && !json.Valid(arguments) {
		return newArgumentsError("The arguments aren't valid JSON.")
	}
	v, err := s.schema.validate(ctx, arguments)
	if err == nil && v == undecided {
		return newArgumentsError("The arguments are too large or deep to check. Send less.")
	}
	return err
}
