package toolfmt

import "strings"

// setDescription sets a schema's description: the server's text, and notes on what Google's dialect cannot
// express. The title is dropped: generators derive it from the property's name.
func (d googleDialect) setDescription(out, v *value, notes []string) {
	text := strings.TrimSpace(truncateText(d.readText(v, "description"), maxOtherDescription))
	if fallback := v.get("default"); fallback != nil && fallback.kind != 'n' && fallback.estimateSize(maxDefault) <= maxDefault {
		if raw := fallback.write(nil); len(raw) <= maxDefault {
			notes = append(notes, "Default: "+string(raw)+".")
		}
	}
	if text != "" && notes != nil && !strings.HasSuffix(text, "…") {
		text = strings.TrimRight(text, ".") + "."
	}
	text = strings.TrimSpace(strings.Join(append([]string{text}, notes...), " "))
	if text != "" && d.spendBytes(len(text)) {
		out.set("description", newText(text))
	}
}

// enumStrings returns the strings that enum and const allow. odd: an empty one is allowed, which Google's
// dialect cannot list.
func enumStrings(v *value) (values []string, odd bool) {
	for _, item := range listedValues(v) {
		switch {
		case item.kind != '"':
		case len(item.raw) == len(`""`):
			odd = true
		default:
			values = append(values, unquoteString(item.raw))
		}
	}
	return removeDuplicates(values), odd
}

func listedValues(v *value) []*value {
	if one := v.get("const"); one != nil {
		return []*value{one}
	}
	return v.getList("enum")
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

func describeValues(v *value) []string {
	all := listedValues(v)
	if len(all) == 0 {
		return nil
	}
	var words []string
	length := 0
	for _, item := range all {
		if length += item.estimateSize(maxListedLength) + 2; length > maxListedLength {
			words = append(words, "…")
			break
		}
		words = append(words, string(item.write(nil)))
	}
	return []string{"One of: " + strings.Join(words, ", ") + "."}
}
