package httpcall

import (
	"slices"
	"strconv"

	"github.com/itchyny/gojq"
)

// filterOperators are the operators that become functions of the prelude.
var filterOperators = map[gojq.Operator]string{
	gojq.OpAdd: "_op_add", gojq.OpSub: "_op_sub", gojq.OpMul: "_op_mul", gojq.OpDiv: "_op_div", gojq.OpEq: "_op_eq", gojq.OpNe: "_op_ne",
	gojq.OpGt: "_op_gt", gojq.OpLt: "_op_lt", gojq.OpGe: "_op_ge", gojq.OpLe: "_op_le", gojq.OpAssign: "_op_assign", gojq.OpModify: "_op_modify",
}

// plainOperators stay as they are.
var plainOperators = []gojq.Operator{gojq.OpPipe, gojq.OpComma, gojq.OpMod, gojq.OpAnd, gojq.OpOr, gojq.OpAlt}

// filterFunctions are the functions that may be called, with their numbers of arguments.
var filterFunctions = map[string][]int{
	"add": {0, 1}, "all": {0, 1, 2}, "any": {0, 1, 2}, "arrays": {0}, "ascii_downcase": {0}, "ascii_upcase": {0}, "booleans": {0}, "ceil": {0},
	"contains": {1}, "del": {1}, "empty": {0}, "endswith": {1}, "error": {0, 1}, "first": {0, 1}, "flatten": {0, 1}, "floor": {0}, "from_entries": {0},
	"fromdate": {0}, "fromjson": {0}, "group_by": {1}, "has": {1}, "isempty": {1}, "join": {1}, "keys": {0}, "last": {0, 1}, "length": {0},
	"limit": {2}, "ltrimstr": {1}, "map": {1}, "map_values": {1}, "max": {0}, "max_by": {1}, "min": {0}, "min_by": {1}, "not": {0}, "nulls": {0},
	"numbers": {0}, "objects": {0}, "range": {1, 2, 3}, "recurse": {0}, "reverse": {0}, "round": {0}, "rtrimstr": {1}, "scalars": {0},
	"select": {1}, "skip": {2}, "sort": {0}, "sort_by": {1}, "split": {1}, "startswith": {1}, "strings": {0}, "test": {1}, "to_entries": {0},
	"todate": {0}, "tojson": {0}, "tonumber": {0}, "tostring": {0}, "trim": {0}, "type": {0}, "unique": {0}, "unique_by": {1}, "values": {0},
	"with_entries": {1},
}

var filterFormats = []string{"@text", "@json", "@csv", "@tsv", "@uri", "@base64", "@base64d"}

// filterChecker refuses what has no bound, and replaces operators.
type filterChecker struct {
	refused     string
	patterns    []filterPattern
	targetNames int
}

func (c *filterChecker) addRefusal(what string) {
	if c.refused == "" {
		c.refused = what
	}
}

// Bounds of a program.
const (
	maxFilterLevels = 200
	maxTextParts    = 40 // of a string with expressions: each copies those before it
	maxTargetNames  = 40 // of all targets of assignments: each may make an object
)

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
	if q.Op == gojq.OpAssign || q.Op == gojq.OpModify {
		c.checkTarget(q.Left, false, level)
	}
	c.checkTerm(q.Term, level+1)
	c.checkQuery(q.Left, level+1)
	c.checkQuery(q.Right, level+1)
	if q.Right == nil {
		return
	}
	if name := filterOperators[q.Op]; name != "" {
		call := &gojq.Func{Name: name, Args: []*gojq.Query{q.Left, q.Right}}
		if q.Op >= gojq.OpAdd && q.Op <= gojq.OpDiv {
			slices.Reverse(call.Args) // jq calculates the right side first
		}
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
	if len(t.Number) > maxDigits {
		c.addRefusal("a number of more than 64 digits")
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
	if t.Str != nil && t.Str.Queries != nil {
		*t = gojq.Term{Type: gojq.TermTypeQuery, Query: joinParts(t.Str, t.Format), SuffixList: t.SuffixList}
	}
	chargeSuffixes(t)
}

// joinParts returns the sum of the parts of a string, because gojq joins them without a charge.
func joinParts(s *gojq.String, format string) *gojq.Query {
	convert := &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: "tostring"}}
	if format != "" {
		convert = &gojq.Term{Type: gojq.TermTypeFormat, Format: format}
	}
	var sum *gojq.Query
	for _, part := range s.Queries {
		if part.Term == nil || part.Term.Str == nil {
			part = &gojq.Query{Left: part, Op: gojq.OpPipe, Right: &gojq.Query{Term: convert}}
		}
		if sum == nil {
			sum = part
			continue
		}
		call := &gojq.Func{Name: "_op_add", Args: []*gojq.Query{part, sum}}
		sum = &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: call}}
	}
	return sum
}

// chargeSuffixes charges what .[] copies, and strings that .[0] and .[1:] read: .a[] becomes (.a | _charge_top)[].
func chargeSuffixes(t *gojq.Term) {
	charged := *t
	charged.SuffixList = nil
	suffixes := t.SuffixList
	if t.Type == gojq.TermTypeIndex && isNumberIndex(t.Index) {
		charged = gojq.Term{Type: gojq.TermTypeIdentity}
		suffixes = append([]*gojq.Suffix{{Index: t.Index}}, suffixes...)
	}
	for _, s := range suffixes {
		switch {
		case s.Iter:
			charged = pipeTerm(charged, "_charge_top")
		case s.Index != nil && isNumberIndex(s.Index):
			charged = pipeTerm(charged, "_charge_text")
		}
		charged.SuffixList = append(charged.SuffixList, s)
	}
	*t = charged
}

func isNumberIndex(i *gojq.Index) bool { return i.Start != nil || i.End != nil }

// pipeTerm returns (t | name).
func pipeTerm(t gojq.Term, name string) gojq.Term {
	call := &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name}}
	return gojq.Term{Type: gojq.TermTypeQuery, Query: &gojq.Query{Left: &gojq.Query{Term: &t}, Op: gojq.OpPipe, Right: &gojq.Query{Term: call}}}
}

// checkTarget accepts targets of an assignment: names, .[], select and pipes of them. An index could make an array of any length, and
// overlapping paths copy an array for each of its items. Del takes indexes and commas too, because it adds nothing.
func (c *filterChecker) checkTarget(q *gojq.Query, isDeletion bool, level int) {
	t := q.Term
	switch {
	case level > maxFilterLevels:
		c.addRefusal("deep nesting")
	case t == nil && len(q.Patterns) == 0 && (q.Op == gojq.OpPipe || q.Op == gojq.OpComma && isDeletion):
		c.checkTarget(q.Left, isDeletion, level+1)
		c.checkTarget(q.Right, isDeletion, level+1)
	case t == nil:
		c.addRefusal("an assignment to more than names and .[]")
	case t.Type == gojq.TermTypeQuery:
		c.checkTarget(t.Query, isDeletion, level+1)
	case t.Type == gojq.TermTypeIdentity, t.Type == gojq.TermTypeIndex, t.Type == gojq.TermTypeFunc && t.Func.Name == "select":
	default:
		c.addRefusal("an assignment to more than names and .[]")
	}
	if t == nil {
		return
	}
	if !isDeletion {
		c.targetNames += 1 + len(t.SuffixList)
	}
	if c.targetNames > maxTargetNames {
		c.addRefusal("assignments to more than 40 names")
	}
	indexes := []*gojq.Index{t.Index}
	for _, s := range t.SuffixList {
		indexes = append(indexes, s.Index)
	}
	for _, i := range indexes {
		if i != nil && isNumberIndex(i) && (!isDeletion || i.IsSlice) {
			c.addRefusal("an assignment to an index")
		}
	}
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
		return
	}
	if f.Name == "del" {
		c.checkTarget(f.Args[0], true, level)
	}
	for _, q := range f.Args {
		c.checkQuery(q, level)
	}
	switch f.Name {
	case "test":
		c.replaceTest(f)
	case "fromjson":
		f.Name = "_fromjson"
	}
}

// replaceTest makes _test with a number of test with a constant pattern.
func (c *filterChecker) replaceTest(f *gojq.Func) {
	t := f.Args[0].Term
	if t == nil || t.Type != gojq.TermTypeString || t.Str.Queries != nil || len(t.SuffixList) > 0 {
		c.addRefusal("a pattern that is computed")
		return
	}
	pattern, ok := compilePattern(t.Str.Str)
	if !ok {
		c.addRefusal("a pattern that is invalid or too long")
		return
	}
	number := &gojq.Term{Type: gojq.TermTypeNumber, Number: strconv.Itoa(len(c.patterns))}
	*f = gojq.Func{Name: "_test", Args: []*gojq.Query{{Term: number}}}
	c.patterns = append(c.patterns, pattern)
}

// checkIndex accepts constants: a list as an index searches, which has no bound.
func (c *filterChecker) checkIndex(i *gojq.Index, level int) {
	if i == nil {
		return
	}
	c.checkString(i.Str, level)
	c.checkQuery(i.Start, level)
	c.checkQuery(i.End, level)
	isComputed := i.Str != nil && i.Str.Queries != nil
	for _, q := range []*gojq.Query{i.Start, i.End} {
		isComputed = isComputed || q != nil && !isConstant(q)
	}
	if isComputed {
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
	if len(s.Queries) > maxTextParts {
		c.addRefusal("a string of more than 40 parts")
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
		if kv.KeyString != nil && kv.KeyString.Queries != nil {
			if kv.Val == nil {
				c.addRefusal("an index that is computed")
			}
			kv.KeyQuery, kv.KeyString = joinParts(kv.KeyString, ""), nil
			c.checkQuery(kv.Val, level)
			continue
		}
		c.checkQuery(kv.KeyQuery, level)
		c.checkQuery(kv.Val, level)
	}
}
