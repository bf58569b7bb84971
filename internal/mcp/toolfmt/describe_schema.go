package toolfmt

import (
	"bytes"
	"strings"
)

// describe gives a schema its description: the server's text, and what Google's dialect has no word for. Its title adds
// nothing: generators make it of the property's name.
func (d dialect) describe(out, v *value, notes []string) {
	text := strings.TrimSpace(cut(v.text("description"), otherDescription))
	if fallback := v.get("default"); fallback != nil && fallback.kind != 'n' {
		if raw := fallback.write(nil); len(raw) <= 80 {
			notes = append(notes, "Default: "+string(raw)+".")
		}
	}
	if text != "" && notes != nil && !strings.HasSuffix(text, "…") {
		text = strings.TrimRight(text, ".") + "."
	}
	text = strings.TrimSpace(strings.Join(append([]string{text}, notes...), " "))
	if text != "" && d.spend(len(text)) {
		out.set("description", newText(text))
	}
}

// enumerated are the strings that a schema's enum and const allow; odd tells that they allow an empty one, which Google's
// dialect cannot list.
func enumerated(v *value) (values []string, odd bool) {
	for _, item := range choices(v) {
		switch {
		case item.kind != '"':
		case len(item.raw) == len(`""`):
			odd = true
		default:
			values = append(values, unquote(item.raw))
		}
	}
	return unique(values), odd
}

// choices are the values that a schema lists.
func choices(v *value) []*value {
	if one := v.get("const"); one != nil {
		return []*value{one}
	}
	return v.list("enum")
}

func unique(list []string) []string {
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

// maxListed is how long the choices may be that a description lists.
const maxListed = 500

// listed says in words which values a schema lists.
func listed(v *value) []string {
	all := choices(v)
	if len(all) == 0 {
		return nil
	}
	var words []string
	length := 0
	for _, item := range all {
		raw := bytes.TrimSpace(item.write(nil))
		if length += len(raw) + 2; length > maxListed {
			words = append(words, "…")
			break
		}
		words = append(words, string(raw))
	}
	return []string{"One of: " + strings.Join(words, ", ") + "."}
}
