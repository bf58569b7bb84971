package openapi_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"patchbay/internal/openapi"
)

func TestRead_Versions(t *testing.T) {
	t.Parallel()
	paths := `"paths":{"/a":{"get":{"responses":{}}}}`
	for text, want := range map[string]string{
		`{"swagger":"2.0","host":"h.example","basePath":"/v1","schemes":["http","https"],` + paths + `}`: "https://h.example/v1/a",
		`{"openapi":"3.0.3","servers":[{"url":"https://h.example/v2/"}],` + paths + `}`:                  "https://h.example/v2/a",
		`{"openapi":"3.1.0",` + paths + `}`:                                                              "https://example.com/a",
		`{"openapi":"3.2.0","servers":[{"url":"./v3"}],` + paths + `}`:                                   "https://example.com/docs/v3/a",
		"openapi: 3.1\nservers: [{url: /v4}]\npaths:\n  /a:\n    get: &g {responses: {}}\n    head: *g":  "https://example.com/v4/a",
		"swagger: 2.0\nbasePath: /v5\npaths:\n  /a: {get: {responses: {}}}":                              "https://example.com/v5/a",
	} {
		made := makeTool(t, readDocument(t, text, openapi.Options{URL: "https://example.com/docs/openapi.json"}), "GET /a")
		if have := made.Binding.Server + made.Binding.Path; have != want {
			t.Errorf("%s: %s, want %s", text, have, want)
		}
	}
	for _, text := range []string{``, `[]`, `{`, `{}`, `"x"`, `{"openapi":"4.0.0","paths":{}}`, `{"openapi":"3.0.0","paths":{}}`, "a: [", `{"swagger":"1.2"}`} {
		if _, err := openapi.Read([]byte(text), openapi.Options{}); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestRead_MethodsOf32(t *testing.T) {
	t.Parallel()
	text := document("3.2.0", `{"query":{"responses":{}},"additionalOperations":{"LINK":{"responses":{}}},"trace":{"responses":{}}}`, `{}`)
	d := readDocument(t, text, openapi.Options{})
	if len(d.Operations) != 2 || len(d.Problems) != 1 || !makeTool(t, d, "QUERY /a").Annotations["readOnlyHint"] {
		t.Errorf("%d operations, %v", len(d.Operations), d.Problems)
	}
}

func TestNames_AreStableAndUnique(t *testing.T) {
	t.Parallel()
	path := func(name, id string) string {
		return `"` + name + `":{"get":{"operationId":"` + id + `","responses":{}}}`
	}
	read := func(names map[string]string, paths ...string) map[string]string {
		d := readDocument(t, `{"openapi":"3.0.0","paths":{`+strings.Join(paths, ",")+`}}`, openapi.Options{Names: names})
		all := map[string]string{}
		for _, o := range d.Operations {
			all[o.Key()] = o.Name
		}
		return all
	}
	long := strings.Repeat("long", 30)
	first := read(nil, path("/b", "list/all"), path("/c", "list_all"), path("/d", "list_all"), path("/e", long), path("/{x}/y-z", ""), path("/9", "9lives"))
	if first["GET /c"] != "list_all" || !strings.HasPrefix(first["GET /b"], "list_all_") || first["GET /{x}/y-z"] != "get_x_y-z" || first["GET /9"] != "op_9lives" {
		t.Errorf("%v", first)
	}
	if unique := slices.Compact(slices.Sorted(maps.Values(first))); len(unique) != 6 || slices.ContainsFunc(unique, func(n string) bool { return len(n) > 64 }) {
		t.Errorf("%q", unique)
	}
	again := read(nil, path("/9", "9lives"), path("/{x}/y-z", ""), path("/e", long), path("/d", "list_all"), path("/c", "list_all"), path("/b", "list/all"))
	if !maps.Equal(first, again) {
		t.Errorf("another order has other names: %v, %v", first, again)
	}
	later := read(first, path("/a", "list_all"), path("/b", "list/all"), path("/c", "list_all"))
	if later["GET /c"] != "list_all" || later["GET /b"] != first["GET /b"] || later["GET /a"] == "list_all" {
		t.Errorf("an operation that was added takes a name: %v", later)
	}
}

func TestSecurity_SchemesAndScopes(t *testing.T) {
	t.Parallel()
	d := readHard(t, openapi.Options{})
	if len(d.Schemes) != 5 {
		t.Fatalf("%+v", d.Schemes)
	}
	oauth, key, openid := d.Schemes[0], d.Schemes[1], d.Schemes[2]
	if oauth.Type != openapi.SchemeOAuth2 || len(oauth.Flows) != 2 || oauth.Flows[0].TokenURL != "https://example.com/token" || len(oauth.Flows[0].Scopes) != 2 {
		t.Errorf("%+v", oauth)
	}
	if key.In != "header" || key.Parameter != "x-api-key" || openid.OpenIDConnectURL == "" || d.Schemes[3].Type != openapi.SchemeBasic || d.Schemes[4].Type != openapi.SchemeBearer {
		t.Errorf("%+v", d.Schemes)
	}
	get := makeTool(t, d, "GET /things/{id}").Binding.Security
	if len(get) != 2 || !slices.Equal(get[0][0].Scopes, []string{"read"}) || get[1][0].Parameter != "x-api-key" {
		t.Errorf("%+v", get)
	}
}

func TestSwagger_ParametersAndForms(t *testing.T) {
	t.Parallel()
	text := `{"swagger":"2.0","host":"h.example","securityDefinitions":{"o":{"type":"oauth2","flow":"accessCode","authorizationUrl":"https://i.example/a",
		"tokenUrl":"https://i.example/t","scopes":{"r":"R"}}},"paths":{"/a/{id}":{"post":{"consumes":["multipart/form-data"],"parameters":[
		{"name":"id","in":"path","type":"integer","required":true},{"name":"tags","in":"query","type":"array","items":{"type":"string"},"collectionFormat":"pipes"},
		{"name":"f","in":"formData","type":"file","description":"A file"},{"name":"n","in":"formData","type":"array","items":{"type":"integer"},"collectionFormat":"multi","required":true}],
		"responses":{"200":{"schema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}}}}}`
	d := readDocument(t, text, openapi.Options{})
	made := makeTool(t, d, "POST /a/{id}")
	binding := string(made.Binding.JSON())
	for _, part := range []string{`"style":"pipeDelimited"`, `"media":"multipart/form-data"`, `{"argument":"f","name":"f","file":true}`, `"name":"n","style":"form","explode":true`} {
		if !strings.Contains(binding, part) {
			t.Errorf("no %s in %s", part, binding)
		}
	}
	if made.OutputSchema == nil || d.Schemes[0].Flows[0].Kind != "authorizationCode" || !slices.Contains(made.InputSchema.Required, "n") {
		t.Errorf("%s", made.Definition)
	}
}

// hostile are documents that would cost much.
func hostile() map[string]string {
	chain := map[string]int{"links": 20_000}
	var links strings.Builder
	for i := range chain["links"] {
		links.WriteString(`"S` + strconv.Itoa(i) + `":{"$ref":"#/components/schemas/S` + strconv.Itoa(i+1) + `"},`)
	}
	var fork, web strings.Builder
	for i := range 40 {
		next := `{"$ref":"#/components/schemas/F` + strconv.Itoa(i+1) + `"}`
		fork.WriteString(`"F` + strconv.Itoa(i) + `":{"type":"object","properties":{"l":` + next + `,"r":` + next + `}},`)
	}
	all := make([]string, 60)
	for i := range all {
		all[i] = `{"$ref":"#/components/schemas/W` + strconv.Itoa(i) + `"}`
	}
	for i := range all {
		web.WriteString(`"W` + strconv.Itoa(i) + `":{"allOf":[` + strings.Join(all, ",") + `],"oneOf":[` + strings.Join(all, ",") + `]},`)
	}
	nested := func(n int) string { return strings.Repeat(`{"items":`, n) + `{}` + strings.Repeat(`}`, n) }
	ref := func(name string) string { return post(`{"$ref":"#/components/schemas/` + name + `"}`) }
	bomb := "openapi: 3.0.0\npaths: {/a: {get: {responses: {}}}}\nx0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		n, before := strconv.Itoa(i+1), strconv.Itoa(i)
		bomb += "x" + n + ": &a" + n + " [" + strings.TrimSuffix(strings.Repeat("*a"+before+",", 10), ",") + "]\n"
	}
	return map[string]string{
		"self":          document("3.0.0", ref("A"), `{"schemas":{"A":{"$ref":"#/components/schemas/A"}}}`),
		"ring":          document("3.0.0", ref("A"), `{"schemas":{"A":{"$ref":"#/components/schemas/B"},"B":{"$ref":"#/components/schemas/A"}}}`),
		"chain":         document("3.0.0", ref("S0"), `{"schemas":{`+links.String()+`"x":{}}}`),
		"fork":          document("3.0.0", ref("F0"), `{"schemas":{`+fork.String()+`"F40":{}}}`),
		"web":           document("3.0.0", ref("W0"), `{"schemas":{`+web.String()+`"x":{}}}`),
		"nested":        document("3.0.0", post(nested(4000)), `{}`),
		"nested far":    document("3.0.0", post(nested(200_000)), `{}`),
		"nested YAML":   "openapi: 3.0.0\npaths: " + strings.Repeat("[", 1_000_000),
		"values":        document("3.0.0", post(`{"enum":[`+strings.Repeat("1,", 1_200_000)+`1]}`), `{}`),
		"enum":          document("3.0.0", post(`{"enum":[`+strings.Repeat("1,", 500_000)+`1]}`), `{}`),
		"properties":    document("3.0.0", post(`{"properties":{`+strings.Repeat(`"a":{},`, 200_000)+`"b":{}}}`), `{}`),
		"bomb":          bomb,
		"alias in self": "openapi: 3.0.0\npaths: &p {/a: *p}",
		"alias texts":   "openapi: 3.0.0\nx: &x " + strings.Repeat("x", 100_000) + "\ny: [" + strings.Repeat("*x,", 10_000) + "*x]\npaths: {/a: {get: {responses: {}}}}",
		"merges":        "openapi: 3.0.0\nx: &x {<<: *x}\npaths: {/a: {get: {responses: {}}}}",
		"flow YAML":     "openapi: 3.0.0\nx: [" + strings.Repeat("1,", 2_000_000) + "]",
		"operations":    `{"openapi":"3.0.0","paths":{` + manyPaths(12_000) + `}}`,
		"path items":    `{"openapi":"3.0.0","paths":{"/a":{"$ref":"#/paths/~1b"},"/b":{"$ref":"#/paths/~1a"}}}`,
		"nulls":         `{"openapi":"3.1.0","info":null,"servers":[null,{}],"paths":{"/a":null,"/b":{"get":null,"post":{"parameters":[null,1,{}],"requestBody":null,"responses":null,"tags":1}}},"components":null,"security":[null,1]}`,
		"long names":    document("3.0.0", post(`{"properties":{"`+strings.Repeat("n", 1<<20)+`":{"description":"`+strings.Repeat("d", 1<<20)+`"}}}`), `{}`),
	}
}

func manyPaths(n int) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(`"/p` + strconv.Itoa(i) + `":{"get":{}},`)
	}
	return strings.TrimSuffix(out.String(), ",")
}

// readAll reads a document and makes its tools.
func readAll(text string) (tools, largest int) {
	d, err := openapi.Read([]byte(text), openapi.Options{URL: "https://example.com/x"})
	if err != nil {
		return 0, 0
	}
	for _, o := range d.Operations {
		if made, err := d.Tool(o); err == nil {
			tools, largest = tools+1, max(largest, len(made.Definition))
		}
	}
	return tools, largest
}

func BenchmarkHostileDocuments(b *testing.B) {
	for name, text := range hostile() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				readAll(text)
			}
		})
	}
}

// FuzzRead reads documents. Whatever they say, names are usable and definitions are JSON.
func FuzzRead(f *testing.F) {
	for name, text := range hostile() {
		if len(text) < 4000 {
			f.Add([]byte(text))
			_ = name
		}
	}
	f.Add([]byte(`{"swagger":"2.0","host":"h","paths":{"/a/{b}":{"post":{"parameters":[{"name":"b","in":"body","schema":{"type":"object"}}]}}}}`))
	f.Add([]byte("openapi: 3.1.0\npaths:\n  /a?b=c#d:\n    get: {parameters: [{name: q, in: query, content: {application/json: {}}}]}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := openapi.Read(text, openapi.Options{URL: "https://example.com/x", Server: "https://eu.example.com/v1"})
		if err != nil {
			return
		}
		for _, o := range d.Operations {
			made, err := d.Tool(o)
			if err == nil {
				checkMade(t, made)
			}
		}
	})
}
