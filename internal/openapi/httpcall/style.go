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

// joinValue writes a value as one text: a list as items, an object as names and values. equals is between a name and its value.
func (o *output) joinValue(v *jsonschema.Node, delimiter, equals string) {
	if v.Kind != jsonschema.Array && v.Kind != jsonschema.Object {
		o.writeValue(v)
	}
	for i, item := range v.Items {
		if i > 0 {
			o.writeText(delimiter)
		}
		o.writeValue(item)
	}
	for i, m := range v.Members {
		if i > 0 {
			o.writeText(delimiter)
		}
		o.writeMember(m, equals)
	}
}

// writeStyled writes a value of the path, or of a header (OpenAPI, style values and their examples).
func (o *output) writeStyled(p openapi.Parameter, v *jsonschema.Node) {
	equals, labelDelimiter := ",", ","
	if p.Explode {
		equals, labelDelimiter = "=", "."
	}
	switch {
	case p.Media != "":
		o.writeContent(p.Media, v)
	case p.Style == "label":
		o.writeText(".")
		o.joinValue(v, labelDelimiter, equals)
	case p.Style == "matrix":
		o.writeMatrix(p, v)
	default:
		o.joinValue(v, ",", equals)
	}
}

func (o *output) writeMatrix(p openapi.Parameter, v *jsonschema.Node) {
	name := ";" + escapeText(p.Name)
	switch {
	case v.Is(jsonschema.Array) && p.Explode:
		for _, item := range v.Items {
			o.writeText(name, "=")
			o.writeValue(item)
		}
		return
	case v.Is(jsonschema.Object) && p.Explode:
		for _, m := range v.Members {
			o.writeText(";")
			o.writeMember(m, "=")
		}
		return
	}
	o.writeText(name, "=")
	before := len(o.text)
	o.joinValue(v, ",", ",")
	if len(o.text) == before && !o.full {
		o.text = o.text[:before-len("=")]
	}
}

// addPairs adds a value of the query, or of a form, as pairs.
func (o *output) addPairs(p openapi.Parameter, v *jsonschema.Node) {
	name := escapeText(p.Name)
	isList, isObject := v.Is(jsonschema.Array), v.Is(jsonschema.Object)
	switch {
	case p.Media != "":
		o.startPair(name)
		o.writeContent(p.Media, v)
	case p.Style == "deepObject" && (isObject || isList):
		o.name = append(o.name[:0], name...)
		o.addDeepPairs(v)
	case p.Explode && isList:
		for _, item := range v.Items {
			o.startPair(name)
			o.writeValue(item)
		}
	case p.Explode && isObject:
		for _, m := range v.Members {
			o.startPair(escapeText(m.Name))
			o.writeValue(m.Value)
		}
	case (isList || isObject) && len(v.Items) == 0 && len(v.Members) == 0:
	default:
		delimiter, special := delimiters[p.Style]
		if !special {
			delimiter = ","
		}
		o.startPair(name)
		o.joinValue(v, delimiter, delimiter)
	}
}

// addDeepPairs adds members with their names in brackets after o.name. The specification says nothing about levels below the first;
// frameworks read lists of scalars as name[], others as name[0].
func (o *output) addDeepPairs(v *jsonschema.Node) {
	outer := len(o.name)
	switch v.Kind {
	case jsonschema.Object:
		for _, m := range v.Members {
			o.addDeepPair(escapeText(m.Name), m.Value)
			o.name = o.name[:outer]
		}
	case jsonschema.Array:
		for i, item := range v.Items {
			index := ""
			if item.Is(jsonschema.Object) || item.Is(jsonschema.Array) {
				index = strconv.Itoa(i)
			}
			o.addDeepPair(index, item)
			o.name = o.name[:outer]
		}
	default:
		o.startPair(string(o.name))
		o.writeValue(v)
	}
}

func (o *output) addDeepPair(name string, v *jsonschema.Node) {
	if !o.full {
		o.name = append(append(append(o.name, "%5B"...), name...), "%5D"...)
		o.addDeepPairs(v)
	}
}

// newHeaderOutput returns an output for a header or a cookie. Headers have no escapes. Style form of a cookie is that of a query (OpenAPI,
// style examples), style cookie has its own escapes.
func newHeaderOutput(p openapi.Parameter) *output {
	switch {
	case p.In == "header":
		return &output{limit: maxHeader}
	case p.Style == "cookie":
		return &output{limit: maxHeader, separator: "; ", escape: escapeCookie}
	}
	return &output{limit: maxHeader, separator: "&", escape: escapeText}
}

// escapeCookie escapes what a cookie's value cannot have (RFC 6265 section 4.1.1).
func escapeCookie(text string) string { return escapeExcept(text, "!#$%&'()*+/:<=>?@[]^`{|}") }

// writeContent writes a value as content of a media type.
func (o *output) writeContent(media string, v *jsonschema.Node) {
	switch {
	case media == mediaForm && v.Is(jsonschema.Object):
		form := output{limit: o.limit - len(o.text), separator: "&", escape: escapeText}
		form.addPairs(openapi.Parameter{Explode: true}, v)
		o.full = o.full || form.full
		o.writeEscaped(string(form.text))
	case openapi.IsJSON(media) || !v.Is(jsonschema.String):
		o.writeEscaped(compactText(v))
	default:
		o.writeEscaped(v.Text())
	}
}

const mediaForm = "application/x-www-form-urlencoded"

// writeQueryString writes a value that is all of the query (OpenAPI 3.2).
func (o *output) writeQueryString(p openapi.Parameter, v *jsonschema.Node) {
	o.escape = escapeText
	if p.Media == mediaForm && v.Is(jsonschema.Object) {
		o.escape = nil // the form has its own
	}
	o.writeContent(p.Media, v)
}
