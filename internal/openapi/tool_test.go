package openapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/openapi"
)

func TestTool_NamesCollidingArguments(t *testing.T) {
	t.Parallel()
	get := makeTool(t, readHard(t, openapi.Options{}), "GET /things/{id}")
	want := []string{"filter_name", "header_id", "id", "locale", "query_id", "session", "sort"}
	if have := sortedKeys(get.InputSchema.Properties); !slices.Equal(have, want) {
		t.Errorf("arguments %q, want %q", have, want)
	}
	if have := string(get.InputSchema.Properties["query_id"]); have != `{"type":"integer","exclusiveMinimum":0}` {
		t.Error(have)
	}
	if have := string(get.InputSchema.Properties["filter_name"]); have != `{"type":["string","null"],"examples":["x"]}` {
		t.Error(have)
	}
	if !slices.Equal(get.InputSchema.Required, []string{"id"}) || get.Title != "Get a thing" || !get.Annotations["readOnlyHint"] {
		t.Errorf("%s", get.Definition)
	}
}

func TestTool_NamesMembersThatCollideWithParameters(t *testing.T) {
	t.Parallel()
	patch := makeTool(t, readHard(t, openapi.Options{}), "PATCH /things/{id}")
	if have := sortedKeys(patch.InputSchema.Properties); !slices.Equal(have, []string{"body_id", "id", "label", "locale"}) || !slices.Equal(patch.InputSchema.Required, []string{"id", "locale", "body_id"}) {
		t.Errorf("arguments %q, required %q", have, patch.InputSchema.Required)
	}
	binding := string(patch.Binding.JSON())
	for _, part := range []string{`{"argument":"id","name":"id","in":"path"`, `"fields":[{"argument":"body_id","name":"id"},{"argument":"label","name":"label"}]`} {
		if !strings.Contains(binding, part) {
			t.Errorf("no %s in %s", part, binding)
		}
	}
}

func TestTool_MarksWhatIsDeprecated(t *testing.T) {
	t.Parallel()
	d := readHard(t, openapi.Options{})
	if have := string(makeTool(t, d, "GET /things/{id}").InputSchema.Properties["sort"]); have != `{"type":"string","description":"Use order.","deprecated":true}` {
		t.Errorf("parameter: %s", have)
	}
	if have := string(makeTool(t, d, "PATCH /things/{id}").InputSchema.Properties["label"]); have != `{"type":"string","deprecated":true}` {
		t.Errorf("member of a body: %s", have)
	}
	text := `{"swagger":"2.0","host":"h.example","paths":{"/a":{"get":{"parameters":[{"name":"q","in":"query","type":"string","deprecated":true}],"responses":{}}}}}`
	if have := string(makeTool(t, readDocument(t, text, openapi.Options{}), "GET /a").InputSchema.Properties["q"]); have != `{"type":"string","deprecated":true}` {
		t.Errorf("parameter of Swagger: %s", have)
	}
}

func TestTool_MergesBodyAndLeavesOutReadOnly(t *testing.T) {
	t.Parallel()
	put := makeTool(t, readHard(t, openapi.Options{}), "PUT /things/{id}")
	if have := sortedKeys(put.InputSchema.Properties); !slices.Equal(have, []string{"id", "locale", "name", "size"}) {
		t.Errorf("arguments %q", have)
	}
	if have := string(put.InputSchema.Properties["size"]); have != `{"type":"integer","format":"int64"}` {
		t.Errorf("a bound that JavaScript cannot represent is kept: %s", have)
	}
	if !slices.Equal(put.InputSchema.Required, []string{"id", "name"}) || !put.Annotations["idempotentHint"] || !strings.HasPrefix(put.Description, "Deprecated. ") {
		t.Errorf("%s", put.Definition)
	}
	if put.OutputSchema != nil || len(put.Binding.Security) != 0 {
		t.Errorf("%s", put.Binding.JSON())
	}
}

func TestTool_CyclesBecomeDefinitions(t *testing.T) {
	t.Parallel()
	get := makeTool(t, readHard(t, openapi.Options{}), "GET /things/{id}")
	if have := sortedKeys(get.OutputSchema.Defs); !slices.Equal(have, []string{"Node"}) {
		t.Errorf("definitions %q", have)
	}
	node := string(get.OutputSchema.Defs["Node"])
	for _, part := range []string{`"value":{"type":["string","null"]}`, `"items":{"$ref":"#/$defs/Node"}`, `"anyOf":[{"allOf":[{"$ref":"#/$defs/Node"}]},{"type":"null"}]`} {
		if !strings.Contains(node, part) {
			t.Errorf("no %s in %s", part, node)
		}
	}
	if strings.Contains(node, "secret") || strings.Contains(node, "required") {
		t.Errorf("an answer's schema has more than it should: %s", node)
	}
}

func TestTool_DiscriminatorRestrictsBranches(t *testing.T) {
	t.Parallel()
	create := makeTool(t, readHard(t, openapi.Options{}), "POST /pets")
	body := string(create.InputSchema.Defs["Pet"])
	for _, kind := range []string{"cat", "dog"} {
		if !strings.Contains(body, `{"properties":{"kind":{"enum":["`+kind+`"]}},"required":["kind"]}`) {
			t.Errorf("no %s in %s", kind, body)
		}
	}
	if create.Binding.Result != openapi.ResultObject || !strings.Contains(string(create.Definition), `"outputSchema":{"type":"object","anyOf":`) {
		t.Errorf("%s", create.Definition)
	}
}

// Without a mapping, a discriminator says nothing that holds: the branches stay as they are.
func TestTool_DiscriminatorWithoutMapping(t *testing.T) {
	t.Parallel()
	const schemas = `{"schemas":{"Cat":{"type":"object","properties":{"kind":{"type":"string"},"lives":{"type":"integer"}}},"Dog":{"type":"object","properties":{"kind":{"type":"string"},"barks":{"type":"boolean"}}}}}`
	const branches = `"oneOf":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}]`
	for discriminator, want := range map[string]string{
		`{"propertyName":"kind"}`:                         `{"anyOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"}]}`,
		`{"propertyName":"kind","mapping":{"cat":"Cat"}}`: `{"anyOf":[{"allOf":[{"$ref":"#/$defs/Cat"},{"properties":{"kind":{"enum":["cat"]}},"required":["kind"]}]},{"$ref":"#/$defs/Dog"}]}`,
	} {
		text := document("3.1.0", post(`{`+branches+`,"discriminator":`+discriminator+`}`), schemas)
		if have := string(makeTool(t, readDocument(t, text, openapi.Options{}), "POST /a").InputSchema.Properties["body"]); have != want {
			t.Errorf("%s: %s, want %s", discriminator, have, want)
		}
	}
}

func TestTool_WrapsAnswersThatAreNoObjects(t *testing.T) {
	t.Parallel()
	remove := makeTool(t, readHard(t, openapi.Options{}), "DELETE /things/{id}")
	if remove.Binding.Result != openapi.ResultWrapped || !strings.Contains(string(remove.OutputSchema.Properties["result"]), `"array"`) {
		t.Errorf("%s", remove.Definition)
	}
	if !remove.Annotations["destructiveHint"] || remove.Name != "delete_things_id" {
		t.Errorf("%s", remove.Definition)
	}
}

func TestTool_FormsAndFiles(t *testing.T) {
	t.Parallel()
	d := readHard(t, openapi.Options{})
	upload := makeTool(t, d, "POST /upload")
	if upload.Binding.Server != "https://uploads.example.com" || upload.Binding.Accept != "image/png" {
		t.Errorf("%s", upload.Binding.JSON())
	}
	if !strings.Contains(string(upload.InputSchema.Properties["file"]), `"contentEncoding":"base64"`) || !strings.Contains(string(upload.InputSchema.Properties["more"]), `"items":{"type":"object"`) {
		t.Errorf("%s", upload.Definition)
	}
	form := makeTool(t, d, "POST /form")
	want := `"fields":[{"argument":"deep","name":"deep","style":"deepObject","explode":true},{"argument":"json","name":"json"},{"argument":"list","name":"list","style":"form"}]`
	if !strings.Contains(string(form.Binding.JSON()), want) {
		t.Errorf("%s", form.Binding.JSON())
	}
}

func TestTool_PlainBodies(t *testing.T) {
	t.Parallel()
	d, err := openapi.Read([]byte(`{"openapi":"3.1.0","info":{"title":"T","version":"1"},"servers":[{"url":"https://api.example.com"}],"paths":{
		"/text":{"post":{"requestBody":{"required":true,"content":{"text/plain":{"schema":{"type":"string"}}}},"responses":{}}},
		"/bytes":{"put":{"requestBody":{"content":{"application/octet-stream":{}}},"responses":{}}}}}`), openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]struct{ binding, schema string }{
		"POST /text": {`"body":{"media":"text/plain","required":true,"argument":"body"`, `{"type":"object","properties":{"body":{"type":"string"}},"required":["body"]`},
		"PUT /bytes": {`"body":{"media":"application/octet-stream","argument":"body","file":true`, `"contentEncoding":"base64"`},
	} {
		tool := makeTool(t, d, key)
		if !strings.Contains(string(tool.Binding.JSON()), want.binding) || !strings.Contains(string(tool.Definition), want.schema) {
			t.Errorf("%s: %s with %s", key, tool.Definition, tool.Binding.JSON())
		}
	}
}

func TestBinding_IsCanonicalAndReadBack(t *testing.T) {
	t.Parallel()
	d := readHard(t, openapi.Options{})
	for _, o := range d.Operations {
		made, err := d.Tool(o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := openapi.ReadBinding(made.Binding.JSON())
		if err != nil || string(again.JSON()) != string(made.Binding.JSON()) {
			t.Errorf("%s: %v", made.Binding.JSON(), err)
		}
	}
	create := makeTool(t, d, "POST /pets").Binding
	want := `{"v":1,"method":"POST","server":"https://eu.api.example.com/v1","path":"/pets","body":{"media":"application/json","argument":"body"},` +
		`"accept":"application/json","result":"object","security":[[{"scheme":"oauth","type":"oauth2","scopes":["read","write"]}]]}`
	if string(create.JSON()) != want {
		t.Errorf("%s", create.JSON())
	}
	if _, err := openapi.ReadBinding([]byte(`{"v":2}`)); err == nil {
		t.Error("another version is read")
	}
}

func TestSchemas_OfEachVersion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ version, schema, want string }{
		"nullable":                 {"3.0.3", `{"type":"string","nullable":true,"enum":["a"]}`, `{"type":["string","null"],"enum":["a",null]}`},
		"nullable reference":       {"3.0.3", `{"$ref":"#/components/schemas/O","nullable":true}`, `{"anyOf":[{"$ref":"#/$defs/O"},{"type":"null"}]}`},
		"exclusive bounds":         {"3.0.3", `{"type":"number","maximum":5,"exclusiveMaximum":true,"minimum":1}`, `{"type":"number","exclusiveMaximum":5,"minimum":1}`},
		"types of 3.1":             {"3.1.0", `{"type":["integer","null"],"exclusiveMinimum":1}`, `{"type":["integer","null"],"exclusiveMinimum":1}`},
		"beside a reference":       {"3.1.0", `{"$ref":"#/components/schemas/O","description":"d"}`, `{"$ref":"#/$defs/O","description":"d"}`},
		"small reference":          {"3.1.0", `{"$ref":"#/components/schemas/S"}`, `{"type":"string"}`},
		"identifiers":              {"3.1.0", `{"type":"string","$id":"x","$anchor":"y","x-z":1}`, `{"type":"string"}`},
		"example":                  {"3.0.3", `{"type":"integer","example":3}`, `{"type":"integer","examples":[3]}`},
		"pattern in slashes":       {"3.0.3", `{"type":"string","pattern":"/^a$/i"}`, `{"type":"string"}`},
		"reference to nothing":     {"3.0.3", `{"$ref":"#/components/schemas/None"}`, `{}`},
		"items of draft 4":         {"3.0.3", `{"type":"array","items":[{"type":"string"}]}`, `{"type":"array","prefixItems":[{"type":"string"}]}`},
		"conditions":               {"3.1.0", `{"if":{"type":"string"},"then":{"minLength":1}}`, `{"if":{"type":"string"},"then":{"minLength":1}}`},
		"null beside alternatives": {"3.1.0", `{"type":"null","oneOf":[{"type":"string"}]}`, `{"anyOf":[{"anyOf":[{"type":"string"}]},{"type":"null"}]}`},
		"null beside any":          {"3.1.0", `{"type":"null","anyOf":[{"type":"string"}]}`, `{"anyOf":[{"anyOf":[{"type":"string"}]},{"type":"null"}]}`},
		"wrong kinds":              {"3.0.3", `{"type":"strin","required":true,"enum":{},"maximum":"5","properties":[]}`, `{"properties":{}}`},
	} {
		text := document(tc.version, post(`{"type":"object","additionalProperties":true,"properties":{"v":`+tc.schema+`}}`), `{"schemas":{"O":{"type":"object","properties":{"a":{}}},"S":{"type":"string"}}}`)
		body := makeTool(t, readDocument(t, text, openapi.Options{}), "POST /a").InputSchema.Properties["body"]
		var of struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(body, &of); err != nil || string(of.Properties["v"]) != tc.want {
			t.Errorf("%s: %s, want %s (%v)", name, of.Properties["v"], tc.want, err)
		}
	}
}

func TestBody_IsFlatOnlyWhereItSaysAllMembers(t *testing.T) {
	t.Parallel()
	for schema, flat := range map[string]bool{
		`{"type":"object","properties":{"a":{},"b":{}}}`:                                                    true,
		`{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`:    true,
		`{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"type":"string"},"b":{}}}]}`:  true,
		`{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"type":"integer"},"b":{}}}]}`: false,
		`{"type":"object","properties":{"a":{},"b":{}},"additionalProperties":{"type":"string"}}`:           false,
		`{"type":"object","oneOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`:                       false,
		`{"type":"array","items":{"properties":{"a":{},"b":{}}}}`:                                           false,
		`{"type":"object","properties":{"a":{},"b":{}},"minProperties":1}`:                                  false,
	} {
		made := makeTool(t, readDocument(t, document("3.0.3", post(schema), `{}`), openapi.Options{}), "POST /a")
		want := []string{"body"}
		if flat {
			want = []string{"a", "b"}
		}
		if have := sortedKeys(made.InputSchema.Properties); !slices.Equal(have, want) {
			t.Errorf("%s: %q, want %q", schema, have, want)
		}
	}
}

func TestTool_ArgumentsHaveObjectsAsSchemas(t *testing.T) {
	t.Parallel()
	operation := `{"post":{"parameters":[{"name":"q","in":"query","schema":true},{"name":"r","in":"query","schema":false}],
		"requestBody":{"content":{"application/json":{"schema":{"properties":{"a":true,"additionalProperties":false}}}}}}}`
	made := makeTool(t, readDocument(t, document("3.1.0", operation, `{}`), openapi.Options{}), "POST /a")
	if have := sortedKeys(made.InputSchema.Properties); !slices.Equal(have, []string{"a", "q", "r"}) || strings.Contains(string(made.Definition), `"a":true`) {
		t.Errorf("%s", made.Definition)
	}
}

func TestSchemas_GetWiderAtTheBound(t *testing.T) {
	t.Parallel()
	long := `{"type":"string","description":"` + strings.Repeat("d", 500) + `"}`
	properties := strings.TrimSuffix(strings.Repeat(`"x":`+long+`,`, 400), ",")
	for i := range 400 {
		properties = strings.Replace(properties, `"x"`, `"p`+string(rune('a'+i%26))+string(rune('a'+i/26))+`"`, 1)
	}
	schema := `{"type":"object","additionalProperties":false,"patternProperties":{"^p":{}},"properties":{` + properties + `},"not":{"required":["z"]},"if":{"$ref":"#/components/schemas/C"},"then":{"required":["y"]}}`
	made := makeTool(t, readDocument(t, document("3.1.0", post(schema), `{"schemas":{"C":{"type":"object","properties":{"a":{}}}}}`), openapi.Options{}), "POST /a")
	body := string(made.InputSchema.Properties["body"])
	if len(body) > 140<<10 || strings.Contains(body, `"additionalProperties"`) || strings.Contains(body, `"not"`) || strings.Contains(body, `"if"`) {
		t.Errorf("%d bytes: %.100s … %s", len(body), body, body[len(body)-200:])
	}
	small := `{"type":"object","additionalProperties":false,"patternProperties":{"^p":{}},"not":{"required":["z"]}}`
	made = makeTool(t, readDocument(t, document("3.1.0", post(small), `{}`), openapi.Options{}), "POST /a")
	if have := string(made.InputSchema.Properties["body"]); have != small {
		t.Error(have)
	}
}

func TestOutput_IsWiderThanTheDocument(t *testing.T) {
	t.Parallel()
	text := document("3.0.3", `{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"type":"object","required":["a"],"additionalProperties":false,
		"properties":{"a":{"type":"string","enum":["x"],"pattern":"^x$","maxLength":1},"b":{"oneOf":[{"type":"string"},{"type":"integer"}]},"$id":{"type":"string"}}}}}}}}}`, `{}`)
	made := makeTool(t, readDocument(t, text, openapi.Options{}), "GET /a")
	want := `"outputSchema":{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"anyOf":[{"type":["string","null"]},{"type":["integer","null"]}]},{"type":"null"}]}}}`
	if !strings.Contains(string(made.Definition), want) {
		t.Errorf("%s", made.Definition)
	}
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func TestProposePages_OfEachKind(t *testing.T) {
	t.Parallel()
	parameter := func(name string) string { return `{"name":"` + name + `","in":"query","schema":{"type":"string"}}` }
	get := func(parameters, headers, schema string) string {
		return document("3.0.3", `{"get":{"parameters":[`+parameters+`],"responses":{"200":{"headers":{`+headers+`},"content":{"application/json":{"schema":`+schema+`}}}}}}`, `{}`)
	}
	list := `{"type":"array","items":{}}`
	for text, want := range map[string]string{
		get(parameter("page"), `"Link":{}`, list):                                              `{"kind":"link","max":5}`,
		get(parameter("page"), ``, list):                                                       `{"kind":"page","argument":"page","first":1,"max":5}`,
		get(parameter("offset"), ``, `{"type":"object","properties":{"a/b":`+list+`,"n":{}}}`): `{"kind":"offset","argument":"offset","items":"/a~1b","max":5}`,
		get(parameter("cursor"), ``, `{"type":"object","properties":{"list":`+list+`,"meta":{"type":"object","properties":{"next_cursor":{"type":"string"}}}}}`): `{"kind":"cursor","argument":"cursor","next":"/meta/next_cursor","items":"/list","max":5}`,
		get(parameter("cursor"), ``, list): `null`,
		get(parameter("page"), ``, `{"type":"object","properties":{"a":`+list+`,"b":`+list+`}}`): `null`,
		get(``, ``, list): `null`,
	} {
		d := readDocument(t, text, openapi.Options{})
		made := makeTool(t, d, "GET /a")
		if have, err := json.Marshal(d.ProposePages(d.Operations[0], made.Binding)); err != nil || string(have) != want {
			t.Errorf("%s: %s, want %s", text, have, want)
		}
	}
}
