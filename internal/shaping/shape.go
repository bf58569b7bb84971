package shaping

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"patchbay/internal/jsonschema"
	"patchbay/internal/openapi/httpcall"
)

// ErrorBudget is the least budget of a result that reports an error, in tokens. Fields of an error are not chosen.
const ErrorBudget = 2000

// Rule says how results are shortened. It may be used by several calls at once.
type Rule struct {
	Fields *httpcall.Filter // chooses the fields of JSON; nil: all
	Budget int              // tokens; 0: no bound
}

// Shaped is a shortened result.
type Shaped struct {
	Raw          json.RawMessage
	Cuts         []Cut
	Fields       int  // names of fields that were left out
	FilterFailed bool // on all parts, which have all their fields
	After        int  // estimated tokens of what a model reads
}

// answerPart is a text or the structured content of a result.
type answerPart struct {
	block  int    // its place in the content; -1: the structured content
	field  []byte // the JSON value in the result that it is from
	doc    []byte // the text; of structured content the value
	isJSON bool
	out    []byte // the shortened doc
}

// parsedResult is a result with its parts.
type parsedResult struct {
	top     []member
	content []byte       // an array; nil: none
	blocks  []member     // the first ones
	more    int          // blocks after them, which are left out
	links   []int        // the places of resource links in blocks
	left    map[int]bool // of links, those that are left out
	parts   []answerPart
	isError bool
}

// maxBlocks bounds the content blocks of a shortened result, and the members of a result.
const maxBlocks = 1000

// parseResult parses a result. false: it has a form of which parts could be lost.
func parseResult(raw []byte) (r parsedResult, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || !utf8.Valid(raw) || !json.Valid(raw) {
		return r, false
	}
	top, more := listMembers(raw, maxBlocks)
	if more > 0 {
		return r, false
	}
	r.top = top
	content, twice := pickMember(r.top, `"content"`)
	structured, twiceStructured := pickMember(r.top, `"structuredContent"`)
	isError, _ := pickMember(r.top, `"isError"`)
	if twice || twiceStructured || len(content) > 0 && content[0] != '[' {
		return r, false
	}
	r.isError, r.content = string(isError) == "true", content
	if content != nil {
		r.blocks, r.more = listMembers(content, maxBlocks)
	}
	for i, b := range r.blocks {
		field, isLink := textField(b.value)
		if isLink {
			r.links = append(r.links, i)
		}
		if field != nil {
			doc := []byte(jsonschema.Unquote(string(field)))
			r.parts = append(r.parts, answerPart{block: i, field: field, doc: doc, isJSON: len(structured) > 0 && bytes.Equal(doc, structured) || isDocument(doc)})
		}
	}
	if len(structured) > 0 && (structured[0] == '{' || structured[0] == '[' || structured[0] == '"') {
		r.parts = append(r.parts, answerPart{block: -1, field: structured, doc: structured, isJSON: true})
	}
	return r, true
}

// isDocument reports whether a text is a JSON object or array.
func isDocument(text []byte) bool {
	trimmed := bytes.TrimSpace(text)
	return len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid(trimmed)
}

// textField returns the text of a text block or of an embedded resource, as a JSON string; nil: it has none.
func textField(block []byte) (text []byte, isLink bool) {
	if block[0] != '{' {
		return nil, false
	}
	var kind, resource []byte
	twice := false
	for m := range eachMember(block) {
		switch {
		case m.hasName(`"type"`):
			if kind != nil {
				return nil, false
			}
			kind = m.value
		case m.hasName(`"text"`):
			twice = text != nil
			text = m.value
		case m.hasName(`"resource"`):
			resource = m.value
		}
	}
	switch string(kind) {
	case `"resource_link"`:
		return nil, true
	case `"resource"`:
		if len(resource) == 0 || resource[0] != '{' {
			return nil, false
		}
		text, twice = findMember(resource, `"text"`)
	case `"text"`:
	default:
		return nil, false
	}
	if !twice && len(text) > 0 && text[0] == '"' {
		return text, false
	}
	return nil, false
}

// countSize returns the estimated tokens of what a model reads: the texts and links, or the structured content.
func (r parsedResult) countSize(of func(answerPart) []byte) int {
	texts, structured := 0, 0
	for _, p := range r.parts {
		if p.block < 0 {
			structured = countTokens(of(p))
		} else {
			texts += countTokens(of(p))
		}
	}
	for _, i := range r.links {
		if !r.left[i] {
			texts += countTokens(r.blocks[i].value)
		}
	}
	return max(texts, structured)
}

// Exceeds reports quickly whether a result may need shaping. A token has at least a byte.
func (rule Rule) Exceeds(raw []byte) bool {
	return rule.Fields != nil || rule.Budget > 0 && len(raw) > rule.Budget
}

// Shape returns the shortened result; false: the result stays as it is, because it would not become shorter. The notice needs the id under which the caller
// keeps the original.
func (rule Rule) Shape(ctx context.Context, raw json.RawMessage, notice Notice) (Shaped, bool) {
	if !rule.Exceeds(raw) {
		return Shaped{}, false
	}
	r, ok := parseResult(raw)
	if !ok || r.more > 0 && rule.Budget == 0 {
		return Shaped{}, false
	}
	s := Shaped{}
	budget := rule.Budget
	if r.isError {
		rule.Fields, budget = nil, max(budget, ErrorBudget)
	}
	changed := rule.chooseFields(ctx, r.parts, &s)
	if rule.Budget > 0 {
		changed = r.fitBudget(budget, &s) || changed
		changed = r.leaveOutBlocks(budget, &s) || changed
	}
	if !changed {
		return Shaped{}, false
	}
	s.After = r.countSize(func(p answerPart) []byte { return p.out })
	s.Raw = r.encodeResult(notice, s)
	s.After += countTokens([]byte(notice.formatSentence(s)))
	return s, len(s.Raw) < len(raw)
}

// maxFieldsTime bounds the filter's work on all parts of a result.
const maxFieldsTime = 2 * time.Second

// chooseFields applies the filter to the parts that are JSON.
func (rule Rule) chooseFields(ctx context.Context, parts []answerPart, s *Shaped) (changed bool) {
	before, after := map[string]bool{}, map[string]bool{}
	failed := false
	ctx, cancel := context.WithTimeout(ctx, maxFieldsTime)
	defer cancel()
	for i := range parts {
		p := &parts[i]
		p.out = p.doc
		if rule.Fields == nil || !p.isJSON || p.doc[0] == '"' {
			continue
		}
		if i > 0 && parts[0].isJSON && bytes.Equal(p.doc, parts[0].doc) { // a text often repeats the structured content
			p.out = parts[0].out
			if p.block < 0 && !bytes.Equal(p.out, p.doc) {
				p.out = toObject(p.out)
			}
			continue
		}
		if ctx.Err() != nil {
			failed = true
			continue
		}
		out, err := rule.Fields.Apply(ctx, p.doc)
		if err != nil {
			failed = true
			continue
		}
		fieldNames(before, p.doc)
		fieldNames(after, out)
		if p.block < 0 {
			out = toObject(out)
		}
		p.out, changed = out, true
	}
	s.FilterFailed = failed && !changed
	for name := range before {
		if !after[name] {
			s.Fields++
		}
	}
	return changed
}

// toObject makes structured content of the outputs of a filter: an object, as clients of 2025-11-25 require.
func toObject(out []byte) []byte {
	switch {
	case len(out) > 0 && out[0] == '{' && json.Valid(out):
		return out
	case json.Valid(out):
		return append(append([]byte(`{"result":`), out...), '}')
	}
	return append(append([]byte(`{"result":[`), bytes.ReplaceAll(out, []byte("\n"), []byte(","))...), "]}"...)
}

// noticeTokens is reserved for the notice.
const noticeTokens = 80

// fitBudget shortens the parts to the budget: all texts together, and the structured content.
func (r parsedResult) fitBudget(budget int, s *Shaped) (changed bool) {
	texts := make([]int, 0, len(r.parts))
	total := 0
	for i, p := range r.parts {
		if p.block >= 0 {
			texts = append(texts, i)
			total += countUpTo(p.out, budget)
		}
	}
	inner := max(budget-noticeTokens, budget/2)
	if total > budget {
		for n, share := range divideBudget(r.parts, texts, inner) {
			changed = r.parts[texts[n]].shortenTo(share, s) || changed
		}
	}
	for i, p := range r.parts {
		if p.block < 0 && countUpTo(p.out, budget) > budget {
			var cuts Shaped
			if changed = r.parts[i].shortenTo(inner, &cuts) || changed; len(s.Cuts) == 0 {
				s.Cuts = cuts.Cuts // a text that repeats it has the same
			}
		}
	}
	return changed
}

// leaveOutBlocks leaves out the links beyond the budget, which is for all links together, and the blocks after maxBlocks.
func (r *parsedResult) leaveOutBlocks(budget int, s *Shaped) (changed bool) {
	used := 0
	for _, i := range r.links {
		if used <= budget {
			used += countUpTo(r.blocks[i].value, budget-used)
		}
		if used > budget {
			if r.left == nil {
				r.left = map[int]bool{}
			}
			r.left[i] = true
		}
	}
	if len(r.left) > 0 {
		s.Cuts = append(s.Cuts, Cut{Kept: len(r.links) - len(r.left), Of: len(r.links), Unit: UnitLinks, bytes: len(r.content)})
	}
	if r.more > 0 {
		s.Cuts = append(s.Cuts, Cut{Kept: len(r.blocks), Of: len(r.blocks) + r.more, Unit: UnitBlocks, bytes: len(r.content)})
	}
	return len(r.left) > 0 || r.more > 0
}

// divideBudget divides a budget: short texts stay whole, and the others share the rest.
func divideBudget(parts []answerPart, texts []int, budget int) []int {
	out, sizes, order := make([]int, len(texts)), make([]int, len(texts)), make([]int, len(texts))
	for n, i := range texts {
		order[n], sizes[n] = n, countUpTo(parts[i].out, budget)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[a], sizes[b]) })
	for done, n := range order {
		out[n] = max(min(sizes[n], budget/(len(order)-done)), 1)
		budget = max(budget-out[n], 0)
	}
	return out
}

func (p *answerPart) shortenTo(budget int, s *Shaped) bool {
	f, before := fitter{}, len(p.out)
	doc, original := bytes.TrimSpace(p.out), bytes.Equal(p.out, p.doc)
	if p.isJSON && (original || json.Valid(doc)) { // a filter may have several outputs
		p.out = f.appendJSON(nil, doc, budget, nil)
	} else {
		p.out = []byte(f.cutText(string(p.out), budget, nil))
	}
	s.Cuts = append(s.Cuts, f.cuts...)
	return len(p.out) < before
}

// Tokens estimates the tokens of what a model reads of a result.
func Tokens(raw json.RawMessage) int {
	r, _ := parseResult(raw)
	return r.countSize(func(p answerPart) []byte { return p.doc })
}

// Text returns the texts of a result, one below the other.
func Text(raw json.RawMessage) string {
	r, _ := parseResult(raw)
	var texts [][]byte
	for _, p := range r.parts {
		if p.block >= 0 {
			texts = append(texts, p.doc)
		}
	}
	return string(bytes.Join(texts, []byte("\n")))
}
