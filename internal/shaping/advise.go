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
	path := strings.ReplaceAll(a.Field, "[]", "[]?")
	if strings.HasPrefix(path, "[") {
		path = "." + path
	}
	return "del(" + path + "?)"
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
		within := slices.ContainsFunc(out, func(b Advice) bool { return strings.HasPrefix(a.Field, b.Field) })
		isAll := a.Percent > maxAdvice && slices.ContainsFunc(all, func(b Advice) bool { return a != b && strings.HasPrefix(b.Field, a.Field) })
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
