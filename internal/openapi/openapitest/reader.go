package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
)

// seen is a request as it came: nothing is decoded.
type seen struct {
	method, path, query string
	header              http.Header
	body                []byte
}

// toWords are a value as texts: a text, a list of them, or an object of them.
func toWords(v any) any {
	switch v := v.(type) {
	case []any:
		out := []string{}
		for _, item := range v {
			out = append(out, toWord(item))
		}
		return out
	case map[string]any:
		out := map[string]string{}
		for name, item := range v {
			out[name] = toWord(item)
		}
		return out
	}
	return toWord(v)
}

func toWord(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return ""
	case map[string]any, []any:
		return encodeJSON(v)
	}
	return fmt.Sprint(v)
}

func encodeJSON(v any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// splitParts splits before it decodes, as a server has to.
func splitParts(raw, delimiter string, decode func(string) string) []string {
	out := []string{}
	for _, part := range strings.Split(raw, delimiter) {
		out = append(out, decode(part))
	}
	return out
}

// readParts reads a list or an object that is one text. want says which of them it is.
func readParts(raw, delimiter string, equals bool, decode func(string) string, want any) any {
	switch want.(type) {
	case []string:
		return splitParts(raw, delimiter, decode)
	case map[string]string:
		object := map[string]string{}
		if equals {
			for _, part := range strings.Split(raw, delimiter) {
				name, value, _ := strings.Cut(part, "=")
				object[decode(name)] = decode(value)
			}
			return object
		}
		parts := splitParts(raw, delimiter, decode)
		for i := 0; i+1 < len(parts); i += 2 {
			object[parts[i]] = parts[i+1]
		}
		return object
	}
	return decode(raw)
}

func decodePath(text string) string {
	out, err := url.PathUnescape(text)
	if err != nil {
		return "invalid escape: " + text
	}
	return out
}

func plainText(text string) string { return text }

// readPath returns the raw texts of the variables of a path.
func readPath(template, path string) (map[string]string, error) {
	variable := regexp.MustCompile(`\{[^{}]*\}`)
	template, _, _ = strings.Cut(template, "#")
	template, _, _ = strings.Cut(template, "?")
	pattern, last := "^", 0
	var names []string
	for _, at := range variable.FindAllStringIndex(template, -1) {
		pattern += regexp.QuoteMeta(escapeLiteral(template[last:at[0]])) + "([^/]*)"
		names = append(names, template[at[0]+1:at[1]-1])
		last = at[1]
	}
	pattern += regexp.QuoteMeta(escapeLiteral(template[last:])) + "$"
	match := regexp.MustCompile(pattern).FindStringSubmatch(path)
	if match == nil {
		return nil, fmt.Errorf("the path %s is not one of %s", path, template)
	}
	values := map[string]string{}
	for i, name := range names {
		values[name] = match[i+1]
	}
	return values, nil
}

// escapeLiteral escapes a literal of a path. RFC 3986 allows these, which net/url escapes.
func escapeLiteral(text string) string {
	return strings.NewReplacer("%28", "(", "%29", ")", "%27", "'", "%21", "!", "%2A", "*").Replace((&url.URL{Path: text}).EscapedPath())
}

// readSegment reads a value of the path.
func readSegment(p parameter, raw string, want any) any {
	switch p.style {
	case "label":
		delimiter := ","
		if p.explode {
			delimiter = "."
		}
		return readParts(strings.TrimPrefix(raw, "."), delimiter, p.explode, decodePath, want)
	case "matrix":
		if !p.explode || reflect.TypeOf(want).Kind() == reflect.String {
			return readParts(strings.TrimPrefix(raw, ";"+p.name+"="), ",", false, decodePath, want)
		}
		raw = strings.TrimPrefix(raw, ";")
		if _, list := want.([]string); list {
			raw = strings.ReplaceAll(";"+raw, ";"+p.name+"=", ";")[1:]
		}
		return readParts(raw, ";", true, decodePath, want)
	}
	return readParts(raw, ",", p.explode, decodePath, want)
}

// readQuery reads a value of a query or a form.
func readQuery(p parameter, query string, want any) any {
	decode := func(text string) string { return decodePath(strings.ReplaceAll(text, "+", "%20")) }
	return readPairs(p, strings.Split(query, "&"), decode, want)
}

func readPairs(p parameter, pairs []string, decode func(string) string, want any) any {
	switch want := want.(type) {
	case map[string]string:
		if p.style == "deepObject" || p.explode {
			object := map[string]string{}
			for _, pair := range pairs {
				name, value, _ := strings.Cut(pair, "=")
				name = decode(name)
				if p.style == "deepObject" {
					inner, ok := strings.CutPrefix(name, p.name+"[")
					if !ok {
						continue
					}
					name = strings.TrimSuffix(inner, "]")
				}
				if _, known := want[name]; known {
					object[name] = decode(value)
				}
			}
			return object
		}
	case []string:
		if p.explode && p.style != "deepObject" {
			list := []string{}
			for _, pair := range pairs {
				if name, value, _ := strings.Cut(pair, "="); decode(name) == p.name {
					list = append(list, decode(value))
				}
			}
			return list
		}
	}
	for _, pair := range pairs {
		if name, value, _ := strings.Cut(pair, "="); decode(name) == p.name {
			delimiter := map[string]string{"spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}[p.style]
			if delimiter == "" {
				delimiter = ","
			}
			return readParts(value, delimiter, false, decode, want)
		}
	}
	return nil
}

// readQueryString reads a query that is one value (OpenAPI 3.2), as JSON.
func readQueryString(p parameter, query string) string {
	if p.media != "application/x-www-form-urlencoded" {
		return decodePath(query)
	}
	object := map[string]any{}
	for _, pair := range strings.Split(query, "&") {
		name, value, _ := strings.Cut(strings.ReplaceAll(pair, "+", "%20"), "=")
		object[decodePath(name)] = decodePath(value)
	}
	return encodeJSON(object)
}

// part is a part of a multipart body.
type part struct {
	media, file string
	data        []byte
}

// readMultipart returns the parts by name.
func readMultipart(contentType string, body []byte) (map[string][]part, error) {
	_, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, err
	}
	parts := map[string][]part{}
	reader := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
	for {
		p, err := reader.NextRawPart()
		if err == io.EOF {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(p)
		if err != nil {
			return nil, err
		}
		name := strings.NewReplacer("%22", `"`, "%0D", "\r", "%0A", "\n").Replace(p.FormName())
		parts[name] = append(parts[name], part{p.Header.Get("Content-Type"), p.FileName(), data})
	}
}
