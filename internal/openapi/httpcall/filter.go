package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/itchyny/gojq"

	"patchbay/internal/fault"
)

// Bounds of a filter. A run that reaches one is an error.
const (
	maxFilterText   = 4 << 10
	maxFilterBody   = 8 << 20 // bytes of an answer
	maxFilterValues = 1 << 19 // of an answer
	maxSteps        = 2_000_000
	maxUnits        = 64 << 20 // of work within steps; see chargeUnits
	maxOutputs      = 10_000
	maxDigits       = 64 // of a number; a longer one becomes a float
	maxFilterTime   = 2 * time.Second
)

// Filter is a program in a small part of jq (filter_check.go). Its steps and its memory have bounds that do not depend on a clock.
// It may be used by several calls at once.
type Filter struct {
	text     string
	compiled sync.Pool // of *compiledFilter
}

// compiledFilter is a program with the run that its functions charge.
type compiledFilter struct {
	code     *gojq.Code
	run      *filterRun
	patterns []filterPattern // of test
}

// CompileFilter compiles a filter. The error is a fault with a sentence.
func CompileFilter(text string) (*Filter, error) {
	f := &Filter{text: text}
	c, err := compileFilter(text)
	if err != nil {
		return nil, err
	}
	f.compiled.Put(c)
	return f, nil
}

func compileFilter(text string) (*compiledFilter, error) {
	if len(text) > maxFilterText {
		return nil, fault.Errorf(fault.Invalid, "The filter is longer than %d KiB.", maxFilterText>>10)
	}
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The filter isn't valid jq.")
	}
	c := filterChecker{}
	if c.checkQuery(query, 0); c.refused != "" {
		return nil, fault.Errorf(fault.Invalid, "The filter uses %s, which isn't supported.", c.refused)
	}
	prelude, err := gojq.Parse(filterPrelude + ".")
	if err != nil {
		return nil, err
	}
	query.FuncDefs = prelude.FuncDefs
	out := &compiledFilter{patterns: c.patterns}
	out.code, err = gojq.Compile(query, out.compilerOptions()...)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The filter isn't valid jq.")
	}
	return out, nil
}

var errFilterWork = fault.Errorf(fault.Invalid, "The filter is too expensive for this response.")

// Apply returns the outputs for a JSON document, one on each line. The error is a fault with a sentence.
func (f *Filter) Apply(ctx context.Context, body []byte) ([]byte, error) {
	if len(body) > maxFilterBody {
		return nil, fault.Errorf(fault.TooLarge, "The response is too large to filter.")
	}
	input, err := decodeFilterInput(body)
	if err != nil {
		return nil, err
	}
	compiled, _ := f.compiled.Get().(*compiledFilter)
	if compiled == nil {
		if compiled, err = compileFilter(f.text); err != nil {
			return nil, err
		}
	}
	defer f.compiled.Put(compiled)
	run := &filterRun{Context: ctx, steps: maxSteps, units: maxUnits, end: time.Now().Add(maxFilterTime)}
	compiled.run = run
	var out []byte
	iter := compiled.code.RunWithContext(run, input)
	for n := 0; ; n++ {
		v, more := iter.Next()
		if !more {
			return bytes.TrimRight(out, "\n"), nil
		}
		if err, failed := v.(error); failed {
			return nil, run.explainError(ctx, err)
		}
		if n == maxOutputs || !run.chargeUnits(v, 4, 0) {
			return nil, errFilterWork
		}
		text, err := gojq.Marshal(v)
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "Its output isn't JSON.")
		}
		out = append(append(out, text...), '\n')
	}
}

// filterRun counts the work of a run. gojq calls Done before each step.
type filterRun struct {
	context.Context
	steps int
	units int
	end   time.Time
}

var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done implements context.Context.
func (r *filterRun) Done() <-chan struct{} {
	r.steps--
	if r.steps&15 == 0 && time.Now().After(r.end) {
		r.steps = -1
	}
	if r.steps < 0 || r.units < 0 {
		return closedChannel
	}
	return r.Context.Done()
}

// Err implements context.Context.
func (r *filterRun) Err() error {
	if r.steps < 0 || r.units < 0 {
		return errFilterWork
	}
	return r.Context.Err()
}

// explainError returns a fault for an error of a run. The text of other errors can repeat the answer.
func (r *filterRun) explainError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.steps < 0 || r.units < 0:
		return errFilterWork
	}
	return fault.Wrap(fault.Invalid, err, "The filter doesn't work on this response.")
}

// chargeUnits charges a value as it would be written: what is shared counts each time. Values are charged before a function
// of gojq sees them, because it cannot be stopped.
func (r *filterRun) chargeUnits(v any, factor, level int) bool {
	if r.units -= 16 * factor; r.units < 0 || level > 10_000 {
		r.units = -1
		return false
	}
	switch v := v.(type) {
	case string:
		r.units -= len(v) * factor
	case json.Number:
		r.units -= len(v) * factor
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !r.chargeUnits(item, factor, level+1) })
	case map[string]any:
		for name, item := range v {
			if r.units -= len(name) * factor; !r.chargeUnits(item, factor, level+1) {
				return false
			}
		}
	}
	return r.units >= 0
}
