package httpcall

import (
	"slices"

	"github.com/itchyny/gojq"
)

// filterPrelude charges functions that allocate or compare as much as they are given, before they run: gojq cannot stop them.
// What would grow faster than its input is for numbers alone.
const filterPrelude = `
def _n_add: add; def add: _charge | _n_add; def add(f): [f] | add;
def _n_join($s): join($s); def join($s): _charge(length * ($s | tostring | length)) | _n_join($s);
def _n_tojson: tojson; def tojson: _charge | _n_tojson;
def _n_tostring: tostring; def tostring: _charge | _n_tostring;
def _n_fromjson: fromjson; def fromjson: _charge(20 * length) | _n_fromjson;
def _n_flatten: flatten; def flatten: _charge | _n_flatten;
def _n_flatten($d): flatten($d); def flatten($d): _charge | _n_flatten($d);
def _n_explode: explode; def explode: _charge(16 * length) | _n_explode;
def _n_implode: implode; def implode: _charge | _n_implode;
def _n_split($s): split($s); def split($s): _charge(32 * length) | _n_split($s);
def _n_down: ascii_downcase; def ascii_downcase: _charge | _n_down;
def _n_up: ascii_upcase; def ascii_upcase: _charge | _n_up;
def _n_reverse: reverse; def reverse: _charge_top | _n_reverse;
def _n_keys: keys; def keys: _charge_top | _n_keys;
def _n_min: min; def min: _charge | _n_min;
def _n_max: max; def max: _charge | _n_max;
def _n_sort: sort; def sort: _charge(64 * length) | _charge | _n_sort;
def _n_unique: unique; def unique: _charge(64 * length) | _charge | _n_unique;
def _n_min_by(f): min_by(f); def min_by(f): _charge | _n_min_by(f | _charge);
def _n_max_by(f): max_by(f); def max_by(f): _charge | _n_max_by(f | _charge);
def _n_sort_by(f): sort_by(f); def sort_by(f): _charge(64 * length) | _n_sort_by(f | _charge);
def _n_group_by(f): group_by(f); def group_by(f): _charge(64 * length) | _n_group_by(f | _charge);
def _n_unique_by(f): unique_by(f); def unique_by(f): _charge(64 * length) | _n_unique_by(f | _charge);
def _n_del(f): del(f); def del(f): _charge | _n_del(f);
def _n_contains($s): contains($s);
def contains($s): if type == "string" and ($s | type) == "string" then _n_contains($s) else error("not a string") end;
def _n_csv: @csv; def _tocsv: _charge | _n_csv;
def _n_tsv: @tsv; def _totsv: _charge | _n_tsv;
def _n_html: @html; def _tohtml: _charge | _n_html;
def _n_uri: @uri; def _touri: _charge | _n_uri;
def _n_sh: @sh; def _tosh: _charge | _n_sh;
def _n_base64: @base64; def _tobase64: _charge | _n_base64;
def _n_base64d: @base64d; def _tobase64d: _charge | _n_base64d;
def _op_add($a; $b): [$a, $b] | (.[] | _charge_top | empty), .[0] + .[1];
def _op_sub($a; $b): if ($a | type) == "number" and ($b | type) == "number" then $a - $b else error("not a number") end;
def _op_mul($a; $b): if ($a | type) == "number" and ($b | type) == "number" then $a * $b else error("not a number") end;
def _op_div($a; $b): if ($a | type) == "number" and ($b | type) == "number" then $a / $b else error("not a number") end;
def _op_eq($a; $b): [$a, $b] | _charge | .[0] == .[1];
def _op_ne($a; $b): [$a, $b] | _charge | .[0] != .[1];
def _op_gt($a; $b): [$a, $b] | _charge | .[0] > .[1];
def _op_lt($a; $b): [$a, $b] | _charge | .[0] < .[1];
def _op_ge($a; $b): [$a, $b] | _charge | .[0] >= .[1];
def _op_le($a; $b): [$a, $b] | _charge | .[0] <= .[1];
`

// filterOperators are the operators that become functions of the prelude.
var filterOperators = map[gojq.Operator]string{
	gojq.OpAdd: "_op_add", gojq.OpSub: "_op_sub", gojq.OpMul: "_op_mul", gojq.OpDiv: "_op_div", gojq.OpEq: "_op_eq", gojq.OpNe: "_op_ne",
	gojq.OpGt: "_op_gt", gojq.OpLt: "_op_lt", gojq.OpGe: "_op_ge", gojq.OpLe: "_op_le",
}

// plainOperators stay as they are.
var plainOperators = []gojq.Operator{gojq.OpPipe, gojq.OpComma, gojq.OpMod, gojq.OpAnd, gojq.OpOr, gojq.OpAlt, gojq.OpAssign, gojq.OpModify, gojq.OpUpdateAlt}

// filterFunctions are the functions that may be called, with their numbers of arguments.
var filterFunctions = map[string][]int{
	"add": {0, 1}, "all": {0, 1, 2}, "any": {0, 1, 2}, "arrays": {0}, "ascii_downcase": {0}, "ascii_upcase": {0}, "booleans": {0}, "ceil": {0},
	"contains": {1}, "del": {1}, "empty": {0}, "endswith": {1}, "error": {0, 1}, "explode": {0}, "first": {0, 1}, "flatten": {0, 1}, "floor": {0},
	"from_entries": {0}, "fromdate": {0}, "fromjson": {0}, "group_by": {1}, "has": {1}, "implode": {0}, "isempty": {1}, "join": {1}, "keys": {0},
	"last": {0, 1}, "length": {0}, "limit": {2}, "ltrimstr": {1}, "map": {1}, "map_values": {1}, "max": {0}, "max_by": {1}, "min": {0}, "min_by": {1},
	"not": {0}, "nth": {1, 2}, "nulls": {0}, "numbers": {0}, "objects": {0}, "range": {1, 2, 3}, "recurse": {0, 1}, "reverse": {0}, "round": {0},
	"rtrimstr": {1}, "scalars": {0}, "select": {1}, "skip": {2}, "sort": {0}, "sort_by": {1}, "split": {1}, "startswith": {1}, "strings": {0},
	"test": {1}, "to_entries": {0}, "todate": {0}, "tojson": {0}, "tonumber": {0}, "tostring": {0}, "trim": {0}, "type": {0}, "unique": {0},
	"unique_by": {1}, "values": {0}, "with_entries": {1},
}

var filterFormats = []string{"@text", "@json", "@csv", "@tsv", "@html", "@uri", "@sh", "@base64", "@base64d"}

// filterChecker refuses what has no bound, and replaces operators.
type filterChecker struct{ refused string }

func (c *filterChecker) addRefusal(what string) {
	if c.refused == "" {
		c.refused = what
	}
}

// maxFilterLevels bounds the nesting of a program.
const maxFilterLevels = 200

func (c *filterChecker) checkQuery(q *gojq.Query, level int) {
	switch {
	case q == nil:
		return
	case level > maxFilterLevels:
		c.addRefusal("deep nesting")
		return
	case q.Meta != nil || len(q.Imports) > 0:
		c.addRefusal("modules")
	case len(q.FuncDefs) > 0:
		c.addRefusal("def")
	case len(q.Patterns) > 0:
		c.checkPatterns(q.Patterns)
	}
	c.checkTerm(q.Term, level+1)
	c.checkQuery(q.Left, level+1)
	c.checkQuery(q.Right, level+1)
	if q.Right == nil {
		return
	}
	if name := filterOperators[q.Op]; name != "" {
		call := &gojq.Func{Name: name, Args: []*gojq.Query{q.Left, q.Right}}
		*q = gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: call}}
	} else if len(q.Patterns) == 0 && !slices.Contains(plainOperators, q.Op) {
		c.addRefusal("the operator " + q.Op.String())
	}
}

// checkPatterns accepts names. Patterns with expressions are rare.
func (c *filterChecker) checkPatterns(patterns []*gojq.Pattern) {
	for _, p := range patterns {
		if p.Name == "" || p.Name == "$ENV" || p.Name == "$__prog_args" {
			c.addRefusal("a destructuring pattern")
		}
	}
}

func (c *filterChecker) checkTerm(t *gojq.Term, level int) {
	if t == nil {
		return
	}
	c.checkIndex(t.Index, level)
	for _, s := range t.SuffixList {
		c.checkIndex(s.Index, level)
	}
	if t.Func != nil {
		c.checkFunction(t.Func, level)
	}
	if t.Format != "" && !slices.Contains(filterFormats, t.Format) {
		c.addRefusal(t.Format)
	}
	c.checkString(t.Str, level)
	if t.Object != nil {
		c.checkObject(t.Object, level)
	}
	if t.Array != nil {
		c.checkQuery(t.Array.Query, level)
	}
	if t.Unary != nil {
		c.checkTerm(t.Unary.Term, level+1)
	}
	c.checkQuery(t.Query, level)
	c.checkControl(t, level)
}

// checkControl checks if, try, reduce, foreach and label.
func (c *filterChecker) checkControl(t *gojq.Term, level int) {
	if f := t.If; f != nil {
		for _, q := range []*gojq.Query{f.Cond, f.Then, f.Else} {
			c.checkQuery(q, level)
		}
		for _, e := range f.Elif {
			c.checkQuery(e.Cond, level)
			c.checkQuery(e.Then, level)
		}
	}
	if f := t.Try; f != nil {
		c.checkQuery(f.Body, level)
		c.checkQuery(f.Catch, level)
	}
	if f := t.Reduce; f != nil {
		c.checkPatterns(f.Patterns)
		for _, q := range []*gojq.Query{f.Query, f.Start, f.Update} {
			c.checkQuery(q, level)
		}
	}
	if f := t.Foreach; f != nil {
		c.checkPatterns(f.Patterns)
		for _, q := range []*gojq.Query{f.Query, f.Start, f.Update, f.Extract} {
			c.checkQuery(q, level)
		}
	}
	if t.Label != nil {
		c.checkQuery(t.Label.Body, level)
	}
}

func (c *filterChecker) checkFunction(f *gojq.Func, level int) {
	isVariable := f.Name[0] == '$' && f.Name != "$ENV" && f.Name != "$__loc__" && f.Name != "$__prog_args"
	if !isVariable && !slices.Contains(filterFunctions[f.Name], len(f.Args)) {
		c.addRefusal(f.Name)
	}
	for _, q := range f.Args {
		c.checkQuery(q, level)
	}
}

// checkIndex accepts constants: a list as an index searches, which has no bound.
func (c *filterChecker) checkIndex(i *gojq.Index, level int) {
	if i == nil {
		return
	}
	c.checkString(i.Str, level)
	c.checkQuery(i.Start, level)
	c.checkQuery(i.End, level)
	if i.Start != nil && !i.IsSlice && !isConstant(i.Start) {
		c.addRefusal("an index that is computed")
	}
}

func isConstant(q *gojq.Query) bool {
	t := q.Term
	if t == nil || len(t.SuffixList) > 0 {
		return false
	}
	return t.Type == gojq.TermTypeNumber || t.Type == gojq.TermTypeUnary && t.Unary.Term.Type == gojq.TermTypeNumber ||
		t.Type == gojq.TermTypeString && t.Str.Queries == nil
}

func (c *filterChecker) checkString(s *gojq.String, level int) {
	if s == nil {
		return
	}
	for _, q := range s.Queries {
		c.checkQuery(q, level)
	}
}

func (c *filterChecker) checkObject(o *gojq.Object, level int) {
	for _, kv := range o.KeyVals {
		if kv.Key == "$ENV" || kv.Key == "$__loc__" {
			c.addRefusal(kv.Key)
		}
		c.checkString(kv.KeyString, level)
		c.checkQuery(kv.KeyQuery, level)
		c.checkQuery(kv.Val, level)
	}
}
