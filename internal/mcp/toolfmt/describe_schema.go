package toolfmt

import (
	"strings"

	"patchbay/internal/jsonschema"
)

// setDescription sets a schema's description: the server's text, and notes on what Google's dialect cannot
// express. The title is dropped: generators derive it from the property's name.
func (d googleDialect) setDescription(out, v *jsonschema.Node, notes []string) {
	text := strings.TrimSpace(truncateText(d.readText(v, "description"), maxOtherDescription))
	if fallback := v.Get("default"); fallback != nil && fallback.Kind != jsonschema.Null && fallback.EstimateSize(maxDefault) <= maxDefault {
		if raw := fallback.AppendTo(nil); len(raw) <= maxDefault {
			notes = append(notes, "Default: "+string(raw)+".")
		}
	}
	if text != "" && notes != nil && !strings.HasSuffix(text, "…") {
		text = strings.TrimRight(text, ".") + "."
	}
	text = strings.TrimSpace(strings.Join(append([]string{text}, notes...), " "))
	if text != "" && d.spendBytes(len(text)) {
		out.Set("description", jsonschema.NewString(text))
	}
}

// enumStrings returns the strings that enum and const allow. odd: an empty one is allowed, which Google's
// dialect cannot list.
func enumStrings(v *jsonschema.Node) (values []string, odd bool) {
	for _, item := range listedValues(v) {
		switch {
		case item.Kind != jsonschema.String:
		case len(item.Raw) == len(`""`):
			odd = true
		default:
			values = append(values, item.Text())
		}
	}
	return removeDuplicates(values), odd
}

func listedValues(v *jsonschema.Node) []*jsonschema.Node {
	if one := v.Get("const"); one != nil {
		return []*jsonschema.Node{one}
	}
	return v.GetItems("enum")
}

func removeDuplicates(list []string) []string {
	seen := make(map[string]bool, len(list))
	out := list[:0]
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// Bounds of values in a description, in bytes.
const (
	maxListedLength = 500 // of all that enum or const has
	maxDefault      = 80
)

func describeValues(v *jsonschema.Node) []string {
	all := listedValues(v)
	if len(all) == 0 {
		return nil
	}
	var words []string
	length := 0
	for _, item := range all {
		if length += item.EstimateSize(maxListedLength) + 2; length > maxListedLength {
			words = append(words, "…")
			break
		}
		words = append(words, string(item.AppendTo(nil)))
	}
	return []string{"One of: " + strings.Join(words, ", ") + "."}
}
