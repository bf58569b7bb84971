package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"regexp"
	"slices"
	"strings"

	"patchbay/internal/openapi"
)

// checkedTool is a tool that is compared with its operation in the document.
type checkedTool struct {
	document *Definition
	binding  *openapi.Binding
	input    map[string]any
	output   json.RawMessage
	isCut    bool // the bound of a definition's size is reached: what is beyond it accepts anything
}

// readTool reads the schemas of a tool.
func (d *Definition) readTool(made *openapi.Tool) (*checkedTool, error) {
	var schemas struct {
		Input  map[string]any  `json:"inputSchema"`
		Output json.RawMessage `json:"outputSchema"`
	}
	decoder := json.NewDecoder(bytes.NewReader(made.Definition))
	decoder.UseNumber()
	if err := decoder.Decode(&schemas); err != nil {
		return nil, err
	}
	isCut := len(encodeJSON(schemas.Input)) > 100<<10
	return &checkedTool{document: d, binding: made.Binding, input: schemas.Input, output: schemas.Output, isCut: isCut}, nil
}

// checkOperation checks that the tool has all that the document says of its operation: each parameter with its place and style, the body
// with its members, and the answer.
func (t *checkedTool) checkOperation(operation, item map[string]any, path string) error {
	parameters := t.document.listParameters(operation, item)
	for _, p := range parameters {
		if p.in == "body" || p.in == "formData" || t.document.isRefused(p, path) {
			continue
		}
		if err := t.checkParameter(p); err != nil {
			return fmt.Errorf("parameter %s in %s: %w", p.name, p.in, err)
		}
	}
	for _, p := range t.binding.Parameters {
		if _, described := parameters[p.In+" "+p.Name]; !described && p.Argument != "" && (p.In != "path" || !strings.Contains(path, "{"+p.Name+"}")) {
			return fmt.Errorf("parameter %s in %s is not in the document", p.Name, p.In)
		}
	}
	if err := t.checkBody(t.document.readBody(operation, item)); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if schema, media := t.document.jsonAnswer(operation); schema != nil && len(t.output) == 0 {
		return fmt.Errorf("the answer %s has a schema, and the tool has no output schema", media)
	}
	return nil
}

// reservedHeaders are set by HTTP or by what the operation says elsewhere, not by parameters (OpenAPI, Parameter Object; RFC 9110).
var reservedHeaders = []string{
	"accept", "content-type", "authorization", // OpenAPI: such definitions are ignored
	"host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "cookie", "accept-encoding", "content-encoding",
}

// isRefused reports whether a rule keeps a parameter from being an argument: a reserved header, the place of a credential, a name that HTTP does not
// allow, or a variable that the path does not have.
func (d *Definition) isRefused(p parameter, path string) bool {
	token := regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	switch p.in {
	case "path":
		return !strings.Contains(path, "{"+p.name+"}")
	case "header":
		if slices.Contains(reservedHeaders, strings.ToLower(p.name)) || !token.MatchString(p.name) {
			return true
		}
	case "cookie":
		if !token.MatchString(p.name) {
			return true
		}
	}
	components, _ := d.root["components"].(map[string]any)
	for _, all := range []any{components["securitySchemes"], d.root["securityDefinitions"]} {
		schemes, _ := all.(map[string]any)
		for _, v := range schemes {
			scheme := d.resolveRefs(v)
			name, _ := scheme["name"].(string)
			if scheme["type"] == "apiKey" && scheme["in"] == p.in && (name == p.name || p.in == "header" && strings.EqualFold(name, p.name)) {
				return true
			}
		}
	}
	return false
}

func (t *checkedTool) checkParameter(p parameter) error {
	i := slices.IndexFunc(t.binding.Parameters, func(have openapi.Parameter) bool {
		return have.In == p.in && have.Name == p.name && have.Argument != ""
	})
	if i < 0 {
		return fmt.Errorf("it is not in the binding")
	}
	have := t.binding.Parameters[i]
	if have.Media != p.media || p.media == "" && (have.Style != p.style || have.Explode != p.explode) || have.Reserved != p.reserved || have.Required != p.required {
		return fmt.Errorf("the document says %s%s, explode %v, reserved %v, required %v, and the binding %+v", p.style, p.media, p.explode, p.reserved, p.required, have)
	}
	return t.checkArgument(have.Argument, p.name, p.required, p.schema)
}

var unusual = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// checkArgument checks that an argument is in the input schema, with a name like the document's and with its type.
func (t *checkedTool) checkArgument(argument, name string, required bool, schema any) error {
	properties, _ := t.input["properties"].(map[string]any)
	property, there := properties[argument]
	if !there {
		return fmt.Errorf("the argument %s is not in the input schema", argument)
	}
	if list, _ := t.input["required"].([]any); slices.Contains(list, any(argument)) != required {
		return fmt.Errorf("the argument %s is required: %v, and the document says %v", argument, !required, required)
	}
	if plain := strings.Trim(unusual.ReplaceAllString(name, "_"), "_"); len(plain) < 50 && argument != "value" && !strings.Contains(argument, plain) {
		return fmt.Errorf("the argument of %s has the name %s", name, argument)
	}
	return t.checkType(sampler{root: t.input}.resolveRefs(property), t.document.resolveRefs(schema))
}

// checkType checks that a schema has the type that the document says. A file is an object or a list of objects.
func (t *checkedTool) checkType(have, want map[string]any) error {
	name, _ := want["type"].(string)
	switch name {
	case "object", "array", "boolean", "integer", "number":
	case "string":
		if want["format"] == "binary" || want["contentMediaType"] != nil {
			return nil
		}
	default:
		return nil
	}
	if list, ok := have["type"].([]any); have["type"] == name || ok && slices.Contains(list, any(name)) {
		return nil
	}
	if len(have) == 0 && t.isCut {
		return nil
	}
	for _, alternatives := range []string{"anyOf", "oneOf", "allOf"} { // nullable, and a null beside alternatives
		if have[alternatives] != nil {
			return nil
		}
	}
	return fmt.Errorf("the type is %v, and the document says %s", have["type"], name)
}

// body is a request body as the document says.
type body struct {
	content  map[string]any // schemas by media type
	required bool
}

// readBody returns the request body of an operation. Its content is empty if there is none.
func (d *Definition) readBody(operation, item map[string]any) body {
	if d.swagger {
		return d.readSwaggerBody(operation, item)
	}
	request := d.resolveRefs(operation["requestBody"])
	out := body{content: map[string]any{}, required: request["required"] == true}
	content, _ := request["content"].(map[string]any)
	for name, v := range content {
		if media, _, err := mime.ParseMediaType(name); err == nil {
			out.content[media] = d.resolveRefs(v)["schema"]
		}
	}
	return out
}

func (d *Definition) readSwaggerBody(operation, item map[string]any) body {
	out := body{content: map[string]any{}}
	consumes := d.swaggerTypes(operation, "consumes")
	fields, required := map[string]any{}, []any{}
	isFile := false
	for _, p := range d.listParameters(operation, item) {
		switch p.in {
		case "body":
			for _, media := range consumes {
				out.content[media] = p.schema
			}
			out.required = p.required
			return out
		case "formData":
			fields[p.name] = p.schema
			if p.required {
				required = append(required, p.name)
			}
			isFile = isFile || d.resolveRefs(p.schema)["type"] == "file"
		}
	}
	if len(fields) > 0 {
		media := "application/x-www-form-urlencoded"
		if isFile || slices.Contains(consumes, "multipart/form-data") && consumes[0] == "multipart/form-data" {
			media = "multipart/form-data"
		}
		out.content[media] = map[string]any{"type": "object", "properties": fields, "required": required}
		out.required = len(required) > 0
	}
	return out
}

func (d *Definition) swaggerTypes(operation map[string]any, name string) (types []string) {
	list, ok := operation[name].([]any)
	if !ok {
		list, _ = d.root[name].([]any)
	}
	for _, v := range list {
		if text, ok := v.(string); ok {
			types = append(types, text)
		}
	}
	if len(types) == 0 {
		types = []string{"application/json"}
	}
	return types
}

// checkBody checks the media type of a body, and that its members are arguments, or members of the one argument.
func (t *checkedTool) checkBody(want body) error {
	b := t.binding.Body
	if b == nil {
		for _, v := range want.content {
			if schema := t.document.resolveRefs(v); want.required || schema["additionalProperties"] != false || len(t.document.listMembers(schema)) > 0 {
				return fmt.Errorf("the document has one, and the binding has none")
			}
		}
		return nil
	}
	schema, described := want.content[b.Media]
	if !described && b.Media == "application/json" { // of any type: an object is sent as JSON
		for _, wildcard := range []string{"*/*", "application/*"} {
			if v, there := want.content[wildcard]; there {
				schema, described = v, true
			}
		}
	}
	if !described {
		return fmt.Errorf("the media type %s is not in the document", b.Media)
	}
	if b.Required != want.required {
		return fmt.Errorf("required: %v, and the document says %v", b.Required, want.required)
	}
	members := t.document.listMembers(schema)
	if b.Argument != "" {
		return t.checkOneBody(schema, members)
	}
	fields := map[string]string{}
	for _, f := range b.Fields {
		if _, there := members[f.Name]; !there {
			return fmt.Errorf("the member %s is not in the document", f.Name)
		}
		fields[f.Name] = f.Argument
	}
	for name, m := range members {
		argument, there := fields[name]
		if !there {
			return fmt.Errorf("the member %s is not in the binding", name)
		}
		if err := t.checkArgument(argument, name, m.required && want.required, m.schema); err != nil {
			return fmt.Errorf("the member %s: %w", name, err)
		}
	}
	return nil
}

// checkOneBody checks a body that is one argument.
func (t *checkedTool) checkOneBody(schema any, members map[string]member) error {
	b := t.binding.Body
	if b.File || !strings.HasSuffix(b.Media, "json") && !strings.HasPrefix(b.Media, "multipart/") && b.Media != "application/x-www-form-urlencoded" {
		return t.checkArgument(b.Argument, "body", b.Required, nil) // a file, or a text
	}
	if err := t.checkArgument(b.Argument, "body", b.Required, schema); err != nil {
		return err
	}
	properties, _ := t.input["properties"].(map[string]any)
	have := (&Definition{root: t.input}).listMembers(properties[b.Argument])
	for name := range members {
		if _, there := have[name]; !there && !t.isCut {
			return fmt.Errorf("the member %s is not in the input schema", name)
		}
	}
	return nil
}

// member is a member of an object.
type member struct {
	schema   any
	required bool
}

// listMembers returns the members that a schema names: its own, and those of its allOf and its alternatives. Those that are only read are left out.
func (d *Definition) listMembers(schema any) map[string]member {
	members, required := map[string]member{}, map[string]bool{}
	d.addMembers(members, required, schema, 0)
	for name, m := range members {
		m.required = required[name]
		members[name] = m
	}
	return members
}

func (d *Definition) addMembers(members map[string]member, required map[string]bool, v any, level int) {
	schema := d.resolveRefs(v)
	if level > 8 {
		return
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		own, _ := property.(map[string]any) // some say readOnly beside a reference
		if _, there := members[name]; !there && property != false && own["readOnly"] != true && d.resolveRefs(property)["readOnly"] != true {
			members[name] = member{schema: property}
		}
	}
	names, _ := schema["required"].([]any)
	for _, v := range names {
		name, _ := v.(string)
		required[name] = true
	}
	parts, _ := schema["allOf"].([]any)
	for _, part := range parts {
		d.addMembers(members, required, part, level+1)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		branches, _ := schema[keyword].([]any)
		for _, branch := range branches {
			d.addMembers(members, map[string]bool{}, branch, level+1)
		}
	}
}

// jsonAnswer returns the schema of the first JSON answer with a 2xx status that has one.
func (d *Definition) jsonAnswer(operation map[string]any) (schema any, media string) {
	responses, _ := operation["responses"].(map[string]any)
	for _, code := range sortedNames(responses) {
		if !strings.HasPrefix(code, "2") {
			continue
		}
		response := d.resolveRefs(responses[code])
		schema, media := response["schema"], "application/json"
		if !d.swagger {
			schema, media = jsonContent(response)
		} else if !slices.ContainsFunc(d.swaggerTypes(operation, "produces"), isJSON) {
			continue
		}
		if resolved, ok := schema.(map[string]any); ok && resolved["type"] != "file" {
			return schema, media
		}
	}
	return nil, ""
}

func isJSON(media string) bool {
	base, _, _ := strings.Cut(media, ";")
	return strings.HasSuffix(strings.TrimSpace(base), "json")
}
