package access

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"

	"patchbay/internal/fault"
)

// schema is a compiled JSON Schema (2020-12, or draft-07 where it says so). What of it cannot be judged is unchecked: the server, whose
// schema it is, has the last word.
type schema struct {
	plan      *plan // nil: every object is accepted
	strict    bool  // the plan must not see a name twice in an object
	unchecked []Unchecked
	bytes     int64 // of memory, about
	work      int   // units that compiling took
}

// noArguments stand for arguments that were left out.
var noArguments = json.RawMessage("{}")

// Validate holds arguments against the tool's input schema. The error is an Invalid fault, a sentence for the model that names the place, or
// that of ctx. It takes at most 50 ms of CPU and 16 MiB, and lets pass what cannot be judged within that: see [Tool.Unchecked]. Nothing is
// fetched for it.
func (t *Tool) Validate(ctx context.Context, arguments json.RawMessage) error {
	_, err := t.ValidateAll(ctx, arguments, false)
	return err
}

// ValidateAll is [Tool.Validate], and reports whether all that is checked for the schema was checked: large or deeply nested arguments may pass
// without, whatever the schema. read says that the arguments were read: they are valid JSON without white space around it, or nothing.
func (t *Tool) ValidateAll(ctx context.Context, arguments json.RawMessage, read bool) (all bool, err error) {
	if t.def == nil {
		return true, nil
	}
	if !read {
		arguments = bytes.TrimSpace(arguments)
		if len(arguments) > 0 && !json.Valid(arguments) {
			return true, unfit("The arguments are not valid JSON.")
		}
	}
	_, partial, err := t.compiled().judgePartly(ctx, arguments)
	return !partial, err
}

// Unchecked names the parts of the tool's input schema that arguments are not held against, at most 20.
func (t *Tool) Unchecked() []Unchecked {
	if t.def == nil {
		return nil
	}
	return t.compiled().unchecked
}

// UncheckedParts names the parts of a schema that nothing is held against, at most 20.
func UncheckedParts(schema json.RawMessage) []Unchecked { return compile(schema).unchecked }

// compiled is the input schema. There is a definition.
func (t *Tool) compiled() *schema {
	d := t.def.accepted() // an admin's words leave the schema as it is
	return d.schemas.get(d)
}

// judge holds arguments against the schema. undecided: what was checked of them fits.
func (s *schema) judge(ctx context.Context, arguments json.RawMessage) (verdict, error) {
	v, _, err := s.judgePartly(ctx, arguments)
	return v, err
}

// judgePartly is judge, and reports whether something was not judged, since it would have been too much work.
func (s *schema) judgePartly(ctx context.Context, arguments json.RawMessage) (v verdict, partial bool, err error) {
	switch {
	case len(arguments) == 0:
		arguments = noArguments
	case arguments[0] != '{':
		return refused, false, unfit("The arguments must be an object.")
	}
	r := newRun(ctx, arguments)
	v, err = s.judgeWith(&r)
	return v, r.partial, err
}

func (s *schema) judgeWith(r *run) (verdict, error) {
	v := accepted
	if s.plan != nil && !s.strict {
		v = r.judge(s.plan)
		if v == accepted {
			return accepted, nil // each of two members of one name was judged
		}
	}
	// A reader takes the last of two members of one name, and the server gets both.
	switch r.repeats() {
	case accepted:
		return refused, unfit("The arguments name a member twice.")
	case undecided:
		r.partial = true
	}
	if s.plan != nil && s.strict {
		v = r.judge(s.plan)
	}
	if v == refused && bytes.Contains(r.text, []byte("null")) {
		if again := s.judgeWithoutNulls(r); !r.stopped {
			v = again
		}
	}
	said := ""
	if v == refused {
		said = cmp.Or(r.explain(s.plan), "The arguments do not fit the tool's input schema.")
	}
	switch {
	case r.stopped && r.ctx.Err() != nil:
		return undecided, r.ctx.Err()
	case v == refused:
		return refused, unfit(said)
	}
	return v, nil
}

// judgeWithoutNulls judges refused arguments as if those that are null had been left out. Clients write both where there is no value, and
// the server gets what they wrote.
func (s *schema) judgeWithoutNulls(r *run) verdict {
	r.withoutNulls = true
	v := r.judge(s.plan)
	r.withoutNulls = false
	return v
}

func unfit(sentence string) error { return fault.Errorf(fault.Invalid, "%s", sentence) }

// Schema is an input schema of a tool of our own.
type Schema struct{ schema *schema }

// CompileSchema makes one that arguments can be held against.
func CompileSchema(raw json.RawMessage) *Schema { return &Schema{compile(raw)} }

// Check holds arguments against the schema. The error is one of [Tool.Validate]; it refuses arguments that cannot be judged, too.
func (s *Schema) Check(ctx context.Context, arguments json.RawMessage) error {
	arguments = bytes.TrimSpace(arguments)
	if len(arguments) > 0 && !json.Valid(arguments) {
		return unfit("The arguments are not valid JSON.")
	}
	v, err := s.schema.judge(ctx, arguments)
	if err == nil && v == undecided {
		return unfit("The arguments are too large or nested too deeply to be checked. Send less at once.")
	}
	return err
}
