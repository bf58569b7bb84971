package shaping

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Advice is a field that much of a tool's answers consists of.
type Advice struct {
	Field   string // a jq path: .items[].body_html
	Percent int    // of the bytes of the answers
}

const (
	minAdvice     = 10 // percent
	maxAdvice     = 95 // percent: with more, a field with others in it is the answer
	maxAdvised    = 5
	maxPathLength = 200 // bytes
)

// Filter is the jq filter that leaves out the field.
func (a Advice) Filter() string {
	path := []byte("del(")
	if strings.HasPrefix(a.Field, "[") {
		path = append(path, '.')
	}
	for at := 0; at < len(a.Field); {
		next := at + 1
		switch {
		case a.Field[at] == '"': // a name, which may contain brackets
			next = skipString([]byte(a.Field), at)
		case strings.HasPrefix(a.Field[at:], "[]"):
			next = at + len("[]")
		}
		path = append(path, a.Field[at:next]...)
		if strings.HasSuffix(a.Field[at:next], "[]") {
			path = append(path, '?')
		}
		at = next
	}
	return string(append(path, "?)"...))
}

// Extend adds the advice to a filter. adds: the filter did not follow it before.
func (a Advice) Extend(filter string) (extended string, adds bool) {
	filter = strings.TrimSpace(filter)
	switch {
	case filter == "":
		return a.Filter(), true
	case strings.Contains(filter, a.Filter()):
		return filter, false
	case strings.Contains(filter, "#"): // the last line may be a comment
		return filter + "\n| " + a.Filter(), true
	}
	return filter + " | " + a.Filter(), true
}

// isWithin reports whether a field is below another one.
func isWithin(field, outer string) bool {
	rest, found := strings.CutPrefix(field, outer)
	return found && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "["))
}

// Advise returns the largest fields of results, without those within another one.
func Advise(results []json.RawMessage) []Advice {
	sizes, total := map[string]int{}, 0
	for _, raw := range results {
		r, ok := parseResult(raw)
		if !ok || r.isError {
			continue
		}
		if i := slices.IndexFunc(r.parts, func(p answerPart) bool { return p.isJSON }); i >= 0 {
			doc := []byte(strings.TrimSpace(string(r.parts[i].doc)))
			total += len(doc)
			addSizes(sizes, doc, "")
		}
	}
	if total == 0 {
		return nil
	}
	var all []Advice
	for field, size := range sizes {
		percent := size * 100 / total
		if percent >= minAdvice {
			all = append(all, Advice{Field: field, Percent: percent})
		}
	}
	slices.SortFunc(all, func(a, b Advice) int {
		return cmp.Or(b.Percent-a.Percent, cmp.Compare(len(a.Field), len(b.Field)), strings.Compare(a.Field, b.Field))
	})
	var out []Advice
	for _, a := range all {
		within := slices.ContainsFunc(out, func(b Advice) bool { return isWithin(a.Field, b.Field) })
		isAll := a.Percent > maxAdvice && slices.ContainsFunc(all, func(b Advice) bool { return isWithin(b.Field, a.Field) })
		if !within && !isAll && len(out) < maxAdvised {
			out = append(out, a)
		}
	}
	return out
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// addSizes adds the bytes of the members below a value, by path. Arrays of the top are rows, not fields.
func addSizes(to map[string]int, raw []byte, path string) {
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' || len(path) > maxPathLength {
		return
	}
	if raw[0] == '[' {
		for row := range eachMember(raw) {
			addSizes(to, row.value, path+"[]")
		}
		return
	}
	for m := range eachMember(raw) {
		name := "." + fieldName(m.name)
		if !plainName.MatchString(name[1:]) {
			name = "[" + string(m.name) + "]"
			if path == "" {
				name = "." + name
			}
		}
		to[path+name] += len(m.name) + len(m.value) + 2
		addSizes(to, m.value, path+name)
	}
}
