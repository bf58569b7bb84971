package httpcall

import (
	"strconv"
	"strings"

	"patchbay/internal/jsonschema"
	"patchbay/internal/openapi"
)

// scalarText returns the text of a value. Objects and lists are JSON: no style says how they are within others.
func scalarText(v *jsonschema.Node) string {
	switch v.Kind {
	case jsonschema.String:
		return v.Text()
	case jsonschema.Null:
		return ""
	}
	return compactText(v)
}

// compactText returns the JSON of a value without white space.
func compactText(v *jsonschema.Node) string {
	if len(v.Members) == 0 && len(v.Items) == 0 {
		return v.Raw // also beyond the depth that was decoded
	}
	return string(v.AppendTo(nil))
}

// delimiters are between the items of a list that is one value.
var delimiters = map[string]string{"spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}

// carriesValue reports whether a style can carry the items of a list: none may have the delimiter, where escapes do not tell them apart.
func carriesValue(p openapi.Parameter, v *jsonschema.Node) bool {
	delimiter := map[string]string{"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}[p.Style]
	if p.In == "header" && p.Media == "" {
		delimiter = ","
	} else if p.Explode {
		return true
	}
	if delimiter == "" {
		return true
	}
	for _, item := range v.Items {
		if strings.Contains(scalarText(item), delimiter) {
			return false
		}
	}
	for _, m := range v.Members {
		if strings.Contains(m.Name, delimiter) || strings.Contains(scalarText(m.Value), delimiter) {
			return false
		}
	}
	return true
}

// joinValue returns a value as one text: a list as items, an object as names and values. equals is between a name and its value.
func joinValue(v *jsonschema.Node, delimiter, equals string, escape func(string) string) string {
	var parts []string
	for _, item := range v.Items {
		parts = append(parts, escape(scalarText(item)))
	}
	for _, m := range v.Members {
		parts = append(parts, escape(m.Name)+equals+escape(scalarText(m.Value)))
	}
	if v.Kind != jsonschema.Array && v.Kind != jsonschema.Object {
		return escape(scalarText(v))
	}
	return strings.Join(parts, delimiter)
}

// styleText writes a value of the path (OpenAPI, style values and their examples).
func styleText(p openapi.Parameter, v *jsonschema.Node, escape func(string) string) string {
	equals := ","
	if p.Explode {
		equals = "="
	}
	if p.Media != "" {
		return escape(contentText(p.Media, v))
	}
	switch p.Style {
	case "label":
		delimiter := ","
		if p.Explode {
			delimiter = "."
		}
		return "." + joinValue(v, delimiter, equals, escape)
	case "matrix":
		return matrixText(p, v, escape)
	}
	return joinValue(v, ",", equals, escape)
}

func matrixText(p openapi.Parameter, v *jsonschema.Node, escape func(string) string) string {
	name := escapeText(p.Name)
	switch {
	case v.Is(jsonschema.Array) && p.Explode:
		var out strings.Builder
		for _, item := range v.Items {
			out.WriteString(";" + name + "=" + escape(scalarText(item)))
		}
		return out.String()
	case v.Is(jsonschema.Object) && p.Explode:
		var out strings.Builder
		for _, m := range v.Members {
			out.WriteString(";" + escape(m.Name) + "=" + escape(scalarText(m.Value)))
		}
		return out.String()
	}
	text := joinValue(v, ",", ",", escape)
	if text == "" {
		return ";" + name
	}
	return ";" + name + "=" + text
}

// queryPairs writes a value of the query, or of a form, as pairs.
func queryPairs(p openapi.Parameter, v *jsonschema.Node, escape func(string) string) []string {
	name := escapeText(p.Name)
	switch {
	case p.Media != "":
		return []string{name + "=" + escape(contentText(p.Media, v))}
	case p.Style == "deepObject" && (v.Is(jsonschema.Object) || v.Is(jsonschema.Array)):
		return deepPairs(nil, name, v, escape)
	case p.Explode && v.Is(jsonschema.Array):
		var pairs []string
		for _, item := range v.Items {
			pairs = append(pairs, name+"="+escape(scalarText(item)))
		}
		return pairs
	case p.Explode && v.Is(jsonschema.Object):
		var pairs []string
		for _, m := range v.Members {
			pairs = append(pairs, escapeText(m.Name)+"="+escape(scalarText(m.Value)))
		}
		return pairs
	case len(v.Items) == 0 && len(v.Members) == 0 && (v.Is(jsonschema.Array) || v.Is(jsonschema.Object)):
		return nil
	}
	delimiter, special := delimiters[p.Style]
	if !special {
		delimiter = ","
	}
	return []string{name + "=" + joinValue(v, delimiter, delimiter, escape)}
}

// deepPairs writes members in brackets. The specification says nothing about levels below the first; frameworks read lists
// of scalars as name[], others as name[0].
func deepPairs(pairs []string, name string, v *jsonschema.Node, escape func(string) string) []string {
	switch v.Kind {
	case jsonschema.Object:
		for _, m := range v.Members {
			pairs = deepPairs(pairs, name+"%5B"+escapeText(m.Name)+"%5D", m.Value, escape)
		}
	case jsonschema.Array:
		for i, item := range v.Items {
			index := ""
			if item.Is(jsonschema.Object) || item.Is(jsonschema.Array) {
				index = strconv.Itoa(i)
			}
			pairs = deepPairs(pairs, name+"%5B"+index+"%5D", item, escape)
		}
	default:
		pairs = append(pairs, name+"="+escape(scalarText(v)))
	}
	return pairs
}

// headerText writes a value of a header. Headers have no escapes.
func headerText(p openapi.Parameter, v *jsonschema.Node) string {
	return styleText(p, v, func(text string) string { return text })
}

// cookiePairs writes the pairs of a cookie parameter. Style form is that of a query (OpenAPI, style examples), style cookie has no escapes.
func cookiePairs(p openapi.Parameter, v *jsonschema.Node) []string {
	if p.Style == "cookie" {
		return queryPairs(p, v, escapeCookie)
	}
	return []string{strings.Join(queryPairs(p, v, escapeText), "&")}
}

// escapeCookie escapes what a cookie's value cannot have (RFC 6265 section 4.1.1).
func escapeCookie(text string) string { return escapeExcept(text, "!#$%&'()*+/:<=>?@[]^`{|}") }

// contentText serialises a value as content of a media type.
func contentText(media string, v *jsonschema.Node) string {
	switch {
	case media == mediaForm && v.Is(jsonschema.Object):
		return strings.Join(queryPairs(openapi.Parameter{Explode: true}, v, escapeText), "&")
	case openapi.IsJSON(media) || !v.Is(jsonschema.String):
		return compactText(v)
	}
	return v.Text()
}

const mediaForm = "application/x-www-form-urlencoded"

// writeQueryString writes a value that is all of the query (OpenAPI 3.2).
func writeQueryString(p openapi.Parameter, v *jsonschema.Node) string {
	if p.Media == mediaForm && v.Is(jsonschema.Object) {
		return contentText(p.Media, v)
	}
	return escapeText(contentText(p.Media, v))
}
