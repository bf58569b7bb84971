//go:build !race

// The race detector finds nothing in these computations and takes ten times as long.

package openapi_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"patchbay/internal/fault"
	"patchbay/internal/openapi"
)

const (
	bundleOrigin = "https://example.com"
	bundleURL    = bundleOrigin + "/v1/openapi.yaml"
)

// readFrom returns a reader of files by path, and the addresses that it is asked for.
func readFrom(files map[string]string) (read openapi.ReadFile, asked *[]string) {
	asked = &[]string{}
	return func(address string) ([]byte, string, error) {
		*asked = append(*asked, address)
		text, known := files[strings.TrimPrefix(address, bundleOrigin)]
		if !known {
			return nil, "", fault.Errorf(fault.Upstream, "The document can't be read: its server answered 404.")
		}
		return []byte(text), address, nil
	}, asked
}

func TestBundle_BringsFilesIntoTheDocument(t *testing.T) {
	t.Parallel()
	read, asked := readFrom(map[string]string{
		"/v1/paths/index.yaml": "/pets/{id}: {$ref: pets.yaml}\n/owners: {post: {$ref: 'owners.yaml#/post'}}",
		"/v1/paths/pets.yaml": `{parameters: [{$ref: "../common.json#/parameters/id"}],
  put: {requestBody: {content: {application/json: {schema: {$ref: ../schemas/Pet.yaml}}}}, responses: {default: {$ref: '../common.json#/responses/default'}}}}`,
		"/v1/paths/owners.yaml": `post: {requestBody: {content: {application/json: {schema: {properties: {pet: {$ref: "../schemas/Pet.yaml"}, example: {$ref: "#/Local"}}}}}}, responses: {}}
Local: {type: integer, example: {$ref: never.yaml}}`,
		"/v1/schemas/Pet.yaml": `type: object
properties: {name: {type: string}, friend: {$ref: Pet.yaml}, kind: {$ref: "../openapi.yaml#/components/schemas/Kind"}, at: {$ref: "/shared/Pet.yaml"},
  one: {oneOf: [{$ref: "#/$defs/Cat"}, {$ref: ../common.json#/Dog}], discriminator: {propertyName: k, mapping: {cat: "#/$defs/Cat", dog: ../common.json#/Dog, other: gone.yaml}}}}
$defs: {Cat: {type: object, properties: {k: {type: string}, tail: {type: object, properties: {long: {type: boolean}}}}}}`,
		"/shared/Pet.yaml": "{type: object, properties: {x: {type: number}}}",
		"/v1/common.json":  `{"parameters":{"id":{"name":"id","in":"path","required":true,"schema":{"type":"string"}}},"responses":{"default":{"description":"d"}},"Dog":{"type":"object","properties":{"k":{"type":"string"}}}}`,
	})
	text := "openapi: 3.1.0\nservers: [{url: https://api.example.com}]\npaths: {$ref: paths/index.yaml}\nx-data: {$ref: never.json}\ncomponents: {schemas: {Kind: {type: string, enum: [cat]}}}"
	bundle, err := openapi.Bundle([]byte(text), bundleURL, read)
	if err != nil {
		t.Fatal(err)
	}
	d := readDocument(t, string(bundle), openapi.Options{URL: bundleURL})
	put, post := makeTool(t, d, "PUT /pets/{id}"), makeTool(t, d, "POST /owners")
	if len(d.Problems) != 0 || !slices.Equal(put.InputSchema.Required, []string{"id"}) || len(*asked) != 6 || string(post.InputSchema.Properties["example"]) != `{"type":"integer"}` {
		t.Errorf("%v, asked for %q: %s\n%s", d.Problems, *asked, put.Definition, post.Definition)
	}
	definition := string(put.Definition)
	for _, part := range []string{`"$ref":"#/$defs/Pet"`, `"at":{"$ref":"#/$defs/Pet_2"}`, `"kind":{"type":"string","enum":["cat"]}`, `{"enum":["cat"]}`, `{"enum":["dog"]}`, `"long":{"type":"boolean"}`} {
		if !strings.Contains(definition, part) {
			t.Errorf("no %s in %s", part, definition)
		}
	}
	again, err := openapi.Bundle(bundle, bundleURL, nil)
	if err != nil || string(again) != string(bundle) {
		t.Errorf("a bundle has other files: %v", err)
	}
	twice, err := openapi.Bundle([]byte(text), bundleURL, read)
	if err != nil || string(twice) != string(bundle) {
		t.Errorf("another bundle is made of the same files: %v", err)
	}
}

func TestBundle_LeavesDocumentsWithoutFiles(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		document("3.0.0", post(`{"$ref":"#/components/schemas/A"}`), `{"schemas":{"A":{"type":"object"}}}`),
		document("3.0.0", post(`{"type":"object","example":{"$ref":"https://other.example/x"},"properties":{"$ref":{"type":"string"}}}`), `{"examples":{"a":{"$ref":"file.json"}}}`),
		"not a document",
	} {
		bundle, err := openapi.Bundle([]byte(text), bundleURL, nil)
		if err != nil || string(bundle) != text {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// refs returns a document with a reference in its body.
func refs(ref string) string { return document("3.1.0", post(`{"$ref":`+ref+`}`), `{}`) }

func TestBundle_RefusesHostileReferences(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 200 {
		many["/v1/"+strconv.Itoa(i)] = `{"$ref":"` + strconv.Itoa(i+1) + `"}`
	}
	bombs := map[string]string{"/v1/a": "{allOf: [{$ref: b}, {$ref: c}]}"}
	for _, name := range []string{"b", "c"} {
		bombs["/v1/"+name] = "x0: &x0 [1,1,1,1,1,1,1,1,1,1]\nx1: &x1 [*x0,*x0,*x0,*x0,*x0,*x0,*x0,*x0,*x0,*x0]\nx2: &x2 [*x1,*x1,*x1,*x1,*x1,*x1,*x1,*x1,*x1,*x1]\n" +
			"x3: &x3 [*x2,*x2,*x2,*x2,*x2,*x2,*x2,*x2,*x2,*x2]\nx4: &x4 [*x3,*x3,*x3,*x3,*x3,*x3]\nx5: [*x4,*x4,*x4,*x4,*x4,*x4,*x4,*x4,*x4,*x4]"
	}
	large := map[string]string{"/v1/a": `{"allOf":[{"$ref":"b"},{"$ref":"c"}]}`, "/v1/b": `"` + strings.Repeat("b", 9<<20) + `"`}
	large["/v1/b"], large["/v1/c"] = `{"title":`+large["/v1/b"]+`}`, `{"title":`+large["/v1/b"]+`}`
	local := map[string]string{"/v1/a": "{}"}
	for _, test := range []struct {
		ref   string
		files map[string]string
		want  string // of the sentence
	}{
		{`"https://other.example/x.json#/A"`, local, `"https://other.example/x.json#/A" points to another origin`},
		{`"//other.example/x.json"`, local, `"//other.example/x.json" points to another origin`},
		{`"http://example.com/x.json"`, local, "another origin"},
		{`"https://example.com:8443/x.json"`, local, "another origin"},
		{`"https://user:key@example.com/a"`, local, "another origin"},
		{`"file:///etc/passwd"`, local, "another origin"},
		{`"data:application/json,{}"`, local, "another origin"},
		{`"http://169.254.169.254/latest"`, local, "another origin"},
		{`"\\\\other.example/x"`, local, "can't be followed"},
		{`"%zz"`, local, "isn't a valid URL"},
		{`"gone.yaml"`, local, `"gone.yaml" can't be followed. The document can't be read: its server answered 404.`},
		{`"a"`, map[string]string{"/v1/a": "["}, `"a" can't be followed. The document is neither valid JSON nor valid YAML.`},
		{`"a"`, map[string]string{"/v1/a": `{"properties":{"p":{"$ref":"//other.example"}}}`}, `"//other.example" points to another origin`},
		{`"0"`, many, "more than 100 files"},
		{`"a"`, bombs, "too many values"},
		{`"a"`, large, "larger than 16 MiB"},
		{`"` + strings.Repeat("\u202e", 4000) + `"`, local, "can't be followed"},
	} {
		read, asked := readFrom(test.files)
		_, err := openapi.Bundle([]byte(refs(test.ref)), bundleURL, read)
		f := fault.As(err)
		if err == nil || f.Kind == fault.Internal || !strings.Contains(f.Message, test.want) || len(f.Message) > 700 || strings.Contains(f.Message, "\u202e") {
			t.Errorf("%.60s: %v", test.ref, err)
		}
		for _, address := range *asked {
			if !strings.HasPrefix(address, bundleOrigin+"/") {
				t.Errorf("%s: asked for %s", test.ref, address)
			}
		}
		if _, err := openapi.Bundle([]byte(refs(test.ref)), "", nil); !strings.Contains(fault.As(err).Message, "isn't possible in an uploaded document") {
			t.Errorf("%.60s uploaded: %v", test.ref, err)
		}
	}
	broken := errors.New("no route")
	_, err := openapi.Bundle([]byte(refs(`"a"`)), bundleURL, func(string) ([]byte, string, error) { return nil, "", broken })
	if !errors.Is(err, broken) {
		t.Errorf("the failure of a connection is lost: %v", err)
	}
}

func TestBundle_EndsWithCycles(t *testing.T) {
	t.Parallel()
	read, asked := readFrom(map[string]string{
		"/v1/a": `{"type":"object","properties":{"b":{"$ref":"b"},"a":{"$ref":"a#/properties/a"},"up":{"$ref":"openapi.yaml#/paths/~1a/post"}}}`,
		"/v1/b": `{"properties":{"a":{"$ref":"a"},"self":{"$ref":"#"},"gone":{"$ref":"#/gone"},"anchor":{"$ref":"a#anchor"}}}`,
	})
	bundle, err := openapi.Bundle([]byte(refs(`"a"`)), bundleURL, read)
	if err != nil || len(*asked) != 2 || !json.Valid(bundle) {
		t.Fatalf("%v, asked for %q: %s", err, *asked, bundle)
	}
	made := makeTool(t, readDocument(t, string(bundle), openapi.Options{URL: bundleURL}), "POST /a")
	if !strings.Contains(string(made.Definition), `"self":{"$ref":"#/$defs/b"}`) {
		t.Errorf("%s", made.Definition)
	}
}

// FuzzBundle bundles documents with a file. Whatever they say, the bundle is complete, and only addresses of the origin are asked for.
func FuzzBundle(f *testing.F) {
	f.Add([]byte(refs(`"a#/b"`)), []byte(`{"b":{"$ref":"a"}}`))
	f.Add([]byte("openapi: 3.1.0\nx-bundled-files: {a: {}}\npaths: {/a: {$ref: a}}"), []byte("get: {responses: {200: {$ref: '#/x'}}}\nx: {$ref: //h}"))
	f.Add([]byte(refs(`"//b@example.com/a"`)), []byte(`{}`))
	f.Fuzz(func(t *testing.T, text, file []byte) {
		bundle, err := openapi.Bundle(text, bundleURL, func(address string) ([]byte, string, error) {
			if !strings.HasPrefix(strings.ToLower(address), bundleOrigin+"/") && !strings.HasPrefix(strings.ToLower(address), bundleOrigin+"?") && strings.ToLower(address) != bundleOrigin {
				t.Errorf("asked for %s", address)
			}
			return file, address, nil
		})
		if err != nil {
			return
		}
		if again, err := openapi.Bundle(bundle, bundleURL, nil); err != nil || string(again) != string(bundle) {
			t.Errorf("the bundle %s has other files: %v", bundle, err)
		}
		readAll(string(bundle))
	})
}
