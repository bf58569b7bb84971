package httpcall

import (
	"encoding/json"
	"math/big"
	"regexp"
	"regexp/syntax"

	"github.com/itchyny/gojq"

	"patchbay/internal/fault"
)

// filterPrelude charges functions that allocate or compare as much as they are given, before they run: gojq cannot stop them.
// What would grow faster than its input is for numbers alone.
const filterPrelude = `
def _n_add: add; def add: _charge(2) | _n_add | _to_float; def add(f): [f] | add;
def _n_join($s): join($s);
def join($s): if ($s | type) == "string" then _charge_top($s | utf8bytelength) | _charge | _n_join($s) else error("not a string") end;
def _n_error: error; def error: _charge | _n_error; def error($s): $s | error;
def _n_tojson: tojson; def tojson: _charge | _n_tojson;
def _n_tostring: tostring; def tostring: _charge | _n_tostring;
def _n_tonumber: tonumber; def tonumber: if type == "string" and utf8bytelength > 64 then error("not a number") else _n_tonumber end;
def _n_fromdate: fromdate; def fromdate: _charge | _n_fromdate;
def _n_flatten: flatten; def flatten: _charge(2) | _n_flatten;
def _n_flatten($d): flatten($d); def flatten($d): _charge(2) | _n_flatten($d);
def _n_split($s): split($s); def split($s): _charge_top(32) | _n_split($s);
def _n_down: ascii_downcase; def ascii_downcase: _charge_text | _n_down;
def _n_up: ascii_upcase; def ascii_upcase: _charge_text | _n_up;
def _n_length: length; def length: _charge_text | _n_length;
def _n_trim: trim; def trim: _charge_text | _n_trim;
def _n_ltrimstr($s): ltrimstr($s); def ltrimstr($s): _charge_text | _n_ltrimstr($s);
def _n_rtrimstr($s): rtrimstr($s); def rtrimstr($s): _charge_text | _n_rtrimstr($s);
def _n_startswith($s): startswith($s); def startswith($s): _charge_text | _n_startswith($s);
def _n_endswith($s): endswith($s); def endswith($s): _charge_text | _n_endswith($s);
def _n_contains($s): contains($s);
def contains($s): if type == "string" and ($s | type) == "string" then _charge_text | _n_contains($s) else error("not a string") end;
def _n_first: first; def first: _charge_text | _n_first;
def _n_last: last; def last: _charge_text | _n_last;
def _n_reverse: reverse; def reverse: _charge_top | _n_reverse;
def _n_keys: keys; def keys: _charge_top | _n_keys;
def _n_map(f): map(f); def map(f): _charge_top | _n_map(f);
def _n_map_values(f): map_values(f); def map_values(f): _charge_top(2) | _n_map_values(f);
def _n_all(f): all(f); def all(f): _charge_top | _n_all(f); def all: all(.);
def _n_any(f): any(f); def any(f): _charge_top | _n_any(f); def any: any(.);
def recurse: def r: ., (_charge_top | .[]? | r); r;
def _n_to_entries: to_entries; def to_entries: _charge_top(2) | _n_to_entries;
def _n_from_entries: from_entries; def from_entries: _charge_top(2) | _n_from_entries;
def with_entries(f): to_entries | map(f) | from_entries;
def _n_min: min; def min: _charge(2) | _n_min;
def _n_max: max; def max: _charge(2) | _n_max;
def _n_min_by(f): min_by(f); def min_by(f): _charge_top | _n_min_by(f | _charge(2));
def _n_max_by(f): max_by(f); def max_by(f): _charge_top | _n_max_by(f | _charge(2));
def _n_sort: sort; def sort: _charge(20) | _n_sort;
def _n_unique: unique; def unique: _charge(20) | _n_unique;
def _n_sort_by(f): sort_by(f); def sort_by(f): _charge_top(4) | _n_sort_by(f | _charge(20));
def _n_group_by(f): group_by(f); def group_by(f): _charge_top(4) | _n_group_by(f | _charge(20));
def _n_unique_by(f): unique_by(f); def unique_by(f): _charge_top(4) | _n_unique_by(f | _charge(20));
def _n_del(f): del(f); def del(f): _charge | _n_del(f);
def _n_csv: @csv; def _tocsv: _charge(2) | _n_csv;
def _n_tsv: @tsv; def _totsv: _charge(2) | _n_tsv;
def _n_uri: @uri; def _touri: _charge(3) | _n_uri;
def _n_base64: @base64; def _tobase64: _charge(2) | _n_base64;
def _n_base64d: @base64d; def _tobase64d: _charge(2) | _n_base64d;
def _op_add($b; $a): _charge_both($a; $b) | $a + $b | _to_float;
def _op_sub($b; $a): _check_numbers($a; $b) | $a - $b | _to_float;
def _op_mul($b; $a): _check_numbers($a; $b) | $a * $b | _to_float;
def _op_div($b; $a): _check_numbers($a; $b) | $a / $b | _to_float;
def _op_assign(p; $v): _charge | p = $v;
def _op_modify(p; f): _charge | p |= f;
`

// compilerOptions returns the functions that the prelude and the rewritten program call.
func (c *compiledFilter) compilerOptions() []gojq.CompilerOption {
	compare := func(name string, holds func(int) bool) gojq.CompilerOption {
		return gojq.WithFunction(name, 2, 2, func(_ any, args []any) any {
			if !c.run.chargeComparison(args[0], args[1]) {
				return errFilterWork
			}
			return holds(gojq.Compare(args[0], args[1]))
		})
	}
	return []gojq.CompilerOption{
		gojq.WithFunction("_charge", 0, 1, c.chargeDeep), gojq.WithFunction("_charge_top", 0, 1, c.chargeTop),
		gojq.WithFunction("_charge_text", 0, 0, c.chargeText), gojq.WithFunction("_charge_both", 2, 2, c.chargeBoth),
		gojq.WithFunction("_check_numbers", 2, 2, checkNumbers), gojq.WithFunction("_to_float", 0, 0, toFloat),
		gojq.WithFunction("_test", 1, 1, c.testPattern), gojq.WithFunction("_fromjson", 0, 0, c.decodeText),
		compare("_op_eq", func(n int) bool { return n == 0 }), compare("_op_ne", func(n int) bool { return n != 0 }),
		compare("_op_gt", func(n int) bool { return n > 0 }), compare("_op_lt", func(n int) bool { return n < 0 }),
		compare("_op_ge", func(n int) bool { return n >= 0 }), compare("_op_le", func(n int) bool { return n <= 0 }),
	}
}

// factorArgument returns the optional factor of a charge: 1 to 64 Mi.
func factorArgument(args []any) int {
	if len(args) == 0 {
		return 1
	}
	n, _ := gojq.ToInt(args[0])
	return min(max(n, 1), maxUnits)
}

// chargeDeep charges all of its input. An argument is a factor.
func (c *compiledFilter) chargeDeep(v any, args []any) any {
	if !c.run.chargeUnits(v, factorArgument(args), 0) {
		return errFilterWork
	}
	return v
}

// chargeTop charges a copy of its input that shares what is in it. An argument is a factor.
func (c *compiledFilter) chargeTop(v any, args []any) any {
	n := 1
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		n += 16 * len(v)
	case map[string]any:
		n += 64 * len(v)
	}
	if c.run.units -= n * factorArgument(args); c.run.units < 0 {
		return errFilterWork
	}
	return v
}

// chargeText charges a string, and no other value.
func (c *compiledFilter) chargeText(v any, _ []any) any {
	if text, ok := v.(string); ok {
		return c.chargeTop(text, nil)
	}
	return v
}

func (c *compiledFilter) chargeBoth(_ any, args []any) any {
	c.chargeTop(args[0], nil)
	if c.chargeTop(args[1], nil) == errFilterWork {
		return errFilterWork
	}
	return nil
}

// chargeComparison charges two values that are compared. Values of different types are not read.
func (r *filterRun) chargeComparison(a, b any) bool {
	if gojq.TypeOf(a) != gojq.TypeOf(b) {
		return true
	}
	return r.chargeUnits(a, 1, 0) && r.chargeUnits(b, 1, 0)
}

var (
	errNotNumbers = fault.Errorf(fault.Invalid, "It does arithmetic on a value that isn't a number.")
	errNotText    = fault.Errorf(fault.Invalid, "It searches a value that isn't text.")
)

func checkNumbers(_ any, args []any) any {
	for _, v := range args {
		if gojq.TypeOf(v) != "number" {
			return errNotNumbers
		}
	}
	return nil
}

// toFloat makes a float of an integer over 64 bits: a few steps could make it as long as the memory.
func toFloat(v any, _ []any) any {
	if n, ok := v.(*big.Int); ok {
		f, _ := gojq.ToFloat64(n)
		return f
	}
	return v
}

// filterPattern is a constant pattern of test.
type filterPattern struct {
	*regexp.Regexp
	instructions int
}

// Bounds of a pattern.
const (
	maxPatternText         = 200
	maxPatternInstructions = 500
)

// compilePattern compiles a pattern, and reports whether it is valid and small.
func compilePattern(text string) (filterPattern, bool) {
	if len(text) > maxPatternText {
		return filterPattern{}, false
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return filterPattern{}, false
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > maxPatternInstructions {
		return filterPattern{}, false
	}
	compiled, err := regexp.Compile(text)
	return filterPattern{Regexp: compiled, instructions: len(program.Inst)}, err == nil
}

// CompilePattern compiles a small pattern. A match takes at most length times instructions. The error is a fault with a sentence.
func CompilePattern(text string) (pattern *regexp.Regexp, instructions int, err error) {
	p, ok := compilePattern(text)
	if ok {
		return p.Regexp, p.instructions, nil
	}
	if len(text) > maxPatternText {
		return nil, 0, fault.Errorf(fault.Invalid, "The pattern is longer than %d bytes.", maxPatternText)
	}
	if _, err := syntax.Parse(text, syntax.Perl); err != nil {
		return nil, 0, fault.Wrap(fault.Invalid, err, "The pattern isn't a valid RE2 regular expression.")
	}
	return nil, 0, fault.Errorf(fault.Invalid, "The pattern repeats too much.")
}

// testPattern is test with the number of a pattern. A match takes at most length times instructions.
func (c *compiledFilter) testPattern(v any, args []any) any {
	text, ok := v.(string)
	if !ok {
		return errNotText
	}
	number, _ := gojq.ToInt(args[0])
	pattern := c.patterns[number]
	if c.run.units -= (len(text) + 1) * pattern.instructions; c.run.units < 0 {
		return errFilterWork
	}
	return pattern.MatchString(text)
}

// decodeText is fromjson. It has the bounds of an answer.
func (c *compiledFilter) decodeText(v any, _ []any) any {
	text, ok := v.(string)
	if !ok {
		return errNotText
	}
	if c.run.units -= 20 * len(text); c.run.units < 0 {
		return errFilterWork
	}
	if !json.Valid([]byte(text)) {
		return fault.Errorf(fault.Invalid, "It decodes text that isn't JSON.")
	}
	decoded, err := decodeFilterInput([]byte(text))
	if err != nil {
		return err
	}
	return decoded
}
