package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

var handWritten = map[string]bool{"Problem": true}

func (g *generator) writeTypes() error {
	g.printHeader("encoding/json", "time")
	for _, name := range slices.Sorted(maps.Keys(g.doc.Components.Schemas)) {
		if handWritten[name] {
			continue
		}
		if err := g.writeStruct(name, g.doc.Components.Schemas[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (g *generator) writeStruct(name string, s schema) error {
	if !slices.Equal(s.Type, typeNames{"object"}) || len(s.Properties) == 0 {
		return fmt.Errorf("it is not an object with properties")
	}
	what := "is an API response."
	if g.sent[name] {
		what = "is an API request. Nil fields are omitted."
	}
	g.printLine("\n// %s %s\ntype %s struct {", exportedName(name), what, exportedName(name))
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[field]
		of, err := g.fieldType(p, slices.Contains(s.Required, field))
		if err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
		g.writeComment(p)
		tag := field
		if !slices.Contains(s.Required, field) {
			tag += ",omitzero"
		}
		g.printLine("%s %s `json:%q`", exportedName(field), of, tag)
	}
	g.printLine("}")
	return nil
}

// writeComment writes the description and the enum's values.
func (g *generator) writeComment(s schema) {
	text := s.Description
	if len(s.Enum) > 0 {
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = fmt.Sprint(v)
		}
		text = strings.TrimSpace(text + " One of: " + strings.Join(values, ", ") + ".")
	}
	if text != "" {
		g.printLine("// %s", text)
	}
}

// fieldType returns a property's Go type. An optional or nullable one is a pointer if its zero value is
// meaningful.
func (g *generator) fieldType(s schema, required bool) (string, error) {
	s, nullable := s.withoutNull()
	of, err := g.goType(s)
	if err != nil || required && !nullable || strings.HasPrefix(of, "[]") || strings.HasPrefix(of, "map[") || of == raw {
		return of, err
	}
	return "*" + of, nil
}

const raw = "json.RawMessage"

func (g *generator) goType(s schema) (string, error) {
	switch {
	case s.Ref != "":
		return exportedName(s.name()), nil
	case len(s.OneOf) > 0:
		return choiceType(s)
	case len(s.Type) == 0:
		return raw, nil // any JSON
	case len(s.Type) > 1:
		return "", fmt.Errorf("it is one of %v", s.Type)
	}
	switch s.Type[0] {
	case "string":
		if s.Format == "date-time" {
			return "time.Time", nil
		}
		return "string", nil
	case "boolean":
		return "bool", nil
	case "integer":
		return "int64", nil
	case "number":
		return "float64", nil
	case "array":
		of, err := g.goType(*s.Items)
		return "[]" + of, err
	case "object":
		if values, ok := s.additionalValues(); ok && len(s.Properties) == 0 {
			of, err := g.goType(values)
			return "map[string]" + of, err
		}
	}
	return "", fmt.Errorf("no Go type is defined for %v", s.Type)
}

// choiceType returns the hand-written type of a choice.
func choiceType(s schema) (string, error) {
	var names []string
	for _, o := range s.OneOf {
		names = append(names, strings.Join(append(o.Type, o.name()), ""))
	}
	switch strings.Join(names, " or ") {
	case "string or array":
		return "ToolSet", nil
	case "Tool or QuarantinedTool":
		return "ListedTool", nil
	}
	return "", fmt.Errorf("no Go type is defined for %v", names)
}

var initials = map[string]string{
	"id": "ID", "ids": "IDs", "url": "URL", "uri": "URI", "api": "API", "mcp": "MCP", "ms": "MS", "json": "JSON", "http": "HTTP", "ip": "IP", "pkce": "PKCE",
	"sso": "SSO", "oidc": "OIDC", "totp": "TOTP", "tls": "TLS", "cpu": "CPU", "jti": "JTI", "p95": "P95", "p50": "P50",
}

// exportedName converts a name to Go's form: tool_call_id to ToolCallID, listAPIKeys to ListAPIKeys.
func exportedName(name string) string {
	var out strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		for _, part := range splitWords(word) {
			if capitals, ok := initials[strings.ToLower(part)]; ok {
				out.WriteString(capitals)
				continue
			}
			out.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return out.String()
}

func splitWords(word string) []string {
	var all []string
	from := 0
	for i := 1; i < len(word); i++ {
		if word[i] >= 'A' && word[i] <= 'Z' && word[i-1] >= 'a' && word[i-1] <= 'z' {
			all, from = append(all, word[from:i]), i
		}
	}
	return append(all, word[from:])
}
