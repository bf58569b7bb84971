package shaping

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"patchbay/internal/mcp/toolfmt"
)

// Bounds of the work on one document.
const (
	maxDepth    = 32   // deeper values are left out whole
	minShare    = 12   // tokens of a shortened member; with less, the last members of an object are left out
	maxTextPart = 1024 // bytes of a text that are counted at a time
	maxMembers  = 100_000
)

// Units of a [Cut].
const (
	UnitRows       = "rows"
	UnitEntries    = "entries" // members of an object
	UnitLines      = "lines"
	UnitCharacters = "characters"
	UnitBlocks     = "content blocks"
	UnitLinks      = "links"
)

// Cut is one place where a document was shortened.
type Cut struct {
	Path string // plain names from the root; empty: the whole document, or other names
	Kept int
	Of   int
	Unit string

	bytes int // left out
}

func countTokens(text []byte) int { return toolfmt.Tokens(toolfmt.OpenAI, text) }

// fitter shortens one document.
type fitter struct{ cuts []Cut }

func (f *fitter) addCut(c Cut, before, after int) {
	c.bytes = before - after
	f.cuts = append(f.cuts, c)
}

// appendJSON appends a valid JSON value in about budget tokens. The result is valid JSON.
func (f *fitter) appendJSON(to, raw []byte, budget int, path []string) []byte {
	if countUpTo(raw, budget) <= budget {
		return append(to, raw...)
	}
	switch raw[0] {
	case '[':
		return f.appendRows(to, raw, budget, path)
	case '{':
		return f.appendMembers(to, raw, budget, path)
	case '"':
		return f.appendString(to, raw, budget, path)
	}
	return append(to, raw...)
}

// appendRows appends the first rows of an array. Of a first row that is too long a part stays.
func (f *fitter) appendRows(to, raw []byte, budget int, path []string) []byte {
	start, kept, used, all, full := len(to), 0, 2, 0, false
	var first []byte
	to = append(to, '[')
	for row := range eachMember(raw) {
		if all++; all == 1 {
			first = row.value
		}
		if full {
			continue
		}
		n := countUpTo(row.value, budget) + 1
		if full = used+n > budget; full {
			continue
		}
		to = appendComma(to, kept)
		to = append(to, row.value...)
		kept, used = kept+1, used+n
	}
	if kept == 0 && all > 0 && len(path) < maxDepth {
		kept = 1
		to = f.appendJSON(to, first, max(budget-used, minShare), append(path, "[0]"))
	}
	to = append(to, ']')
	if kept < all {
		f.addCut(Cut{Path: joinPath(path), Kept: kept, Of: all, Unit: UnitRows}, len(raw), len(to)-start)
	}
	return to
}

func appendComma(to []byte, kept int) []byte {
	if kept > 0 {
		to = append(to, ',')
	}
	return to
}

// appendMembers appends an object. Short members stay whole, and the others share the rest of the budget.
func (f *fitter) appendMembers(to, raw []byte, budget int, path []string) []byte {
	all, more := listMembers(raw, maxMembers)
	if more > 0 {
		return f.appendFirstMembers(to, raw, budget, path)
	}
	sizes, order, rest := make([]int, len(all)), make([]int, len(all)), budget-2
	for i, m := range all {
		order[i], sizes[i] = i, countUpTo(m.value, budget)
		rest -= countTokens(m.name) + 1
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[a], sizes[b]) })
	shares := make([]int, len(all))
	for n, i := range order {
		share := max(rest, 0) / (len(order) - n)
		if sizes[i] > share && share < minShare || len(path) >= maxDepth {
			return f.appendFirstMembers(to, raw, budget, path)
		}
		shares[i] = min(sizes[i], share)
		rest -= shares[i]
	}
	to = append(to, '{')
	for i, m := range all {
		to = append(append(appendComma(to, i), m.name...), ':')
		if sizes[i] <= shares[i] {
			to = append(to, m.value...)
			continue
		}
		to = f.appendJSON(to, m.value, shares[i], append(path, fieldName(m.name)))
	}
	return append(to, '}')
}

// appendFirstMembers appends the first members of an object with too many of them.
func (f *fitter) appendFirstMembers(to, raw []byte, budget int, path []string) []byte {
	start, kept, used, all, full := len(to), 0, 2, 0, false
	to = append(to, '{')
	for m := range eachMember(raw) {
		if all++; full {
			continue
		}
		n := countUpTo(m.value, budget) + countTokens(m.name) + 2
		if full = used+n > budget; full {
			continue
		}
		to = append(append(appendComma(to, kept), m.name...), ':')
		to = append(to, m.value...)
		kept, used = kept+1, used+n
	}
	to = append(to, '}')
	f.addCut(Cut{Path: joinPath(path), Kept: kept, Of: all, Unit: UnitEntries}, len(raw), len(to)-start)
	return to
}

// appendString appends the beginning of a string.
func (f *fitter) appendString(to, raw []byte, budget int, path []string) []byte {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return append(to, `""`...)
	}
	return append(to, quoteJSON(f.cutText(text, budget-2, path))...)
}

// cutText returns the first lines of a text in about budget tokens, or the beginning of its first line.
func (f *fitter) cutText(text string, budget int, path []string) string {
	budget = max(budget, 0)
	if len(text) <= budget {
		return text
	}
	end, lines, used := 0, 0, 0
	for end < len(text) {
		n := strings.IndexByte(text[end:], '\n') + 1
		if n == 0 {
			n = len(text) - end
		}
		if used += countUpTo([]byte(text[end:end+n]), budget-used); used > budget {
			break
		}
		end, lines = end+n, lines+1
	}
	cut := Cut{Path: joinPath(path), Kept: lines, Unit: UnitLines}
	switch {
	case end == len(text):
		return text
	case end > 0:
		cut.Of = lines + strings.Count(text[end:], "\n")
		if !strings.HasSuffix(text, "\n") {
			cut.Of++
		}
	default:
		end = cutLine(text, budget)
		cut.Kept, cut.Of, cut.Unit = utf8.RuneCountInString(text[:end]), utf8.RuneCountInString(text), UnitCharacters
	}
	f.addCut(cut, len(text), end)
	return text[:end]
}

// countUpTo counts the tokens of a text, and no further than above a limit.
func countUpTo(text []byte, limit int) (n int) {
	for len(text) > 0 && n <= limit {
		part := text[:min(len(text), maxTextPart)]
		n += countTokens(part)
		text = text[len(part):]
	}
	return n
}

// cutLine returns the length of the beginning of a text that fits, at the boundary of a character.
func cutLine(text string, budget int) int {
	end := 0
	for used := 0; end < len(text); {
		next := min(end+maxTextPart, len(text))
		n := countTokens([]byte(text[end:next]))
		if used+n > budget {
			next = end + (next-end)*max(budget-used, 0)/max(n, 1)
			end = next
			break
		}
		used, end = used+n, next
	}
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

// maxNoticePath bounds a path in the notice, in characters.
const maxNoticePath = 60

var pathPart = regexp.MustCompile(`^([A-Za-z0-9_-]+|\[0\])$`)

// joinPath returns a path of plain names; empty: it has others, or is long. A server could write to the model in them.
func joinPath(path []string) string {
	joined := strings.ReplaceAll(strings.Join(path, "."), ".[", "[")
	if len(joined) > maxNoticePath || slices.ContainsFunc(path, func(name string) bool { return !pathPart.MatchString(name) }) {
		return ""
	}
	return joined
}

func fieldName(quoted []byte) string {
	var name string
	_ = json.Unmarshal(quoted, &name) // a member's name is valid
	return name
}

// quoteJSON encodes text as a JSON string without HTML escapes.
func quoteJSON(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string always marshals
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
