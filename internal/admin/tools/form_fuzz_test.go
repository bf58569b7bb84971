package tools

import (
	"bytes"
	"encoding/json"
	"net/url"
	"reflect"
	"testing"
	"time"

	callpages "patchbay/internal/admin/calls"
	"patchbay/internal/i18n"
)

// FuzzToolForm builds forms from any schema. Input becomes one JSON object or an error beside a field.
// Arguments that fit the form come out unchanged.
func FuzzToolForm(f *testing.F) {
	const properties = `"text":{"type":"string"},"n":{"type":"integer"},"flag":{"type":"boolean","default":true},"kind":{"enum":["a",5]},"rest":{},
		"tags":{"type":"array","items":{"type":"string"}},"when":{"type":"string","format":"date-time"},"maybe":{"type":["string","null"]},
		"group":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]}`
	f.Add(string(objectSchema(properties)), `{"text":"two\nlines","n":9007199254740993,"kind":"a","tags":["a"],"group":{"x":0.50}}`, "arg.0=a&arg.1=x&arg.8.0=1")
	f.Add(string(objectSchema(properties, "flag", "maybe", "tags", "group")), `{"when":"2026-11-21T10:30:00.123456Z","maybe":null,"flag":false}`, "arg.6=2026-11-21T10:30")
	f.Add(`{"properties":{"d":{"type":"string","format":"date"},"u":{"type":"string","format":"uri"},"a":{},"a":{}},"required":["a"]}`, `{"d":"soon","u":" x ","a":1,"a":2}`, "arg.2=%7B")
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{"$ref":"#"}}}}}`, `{"x":{"x":{}}}`, "arg.0=[]")
	f.Add(`{"properties":{"w":{"type":"string","format":"date-time"}}}`, `{"w":"9999-12-31T23:59:59-23:00"}`, "")
	f.Fuzz(func(t *testing.T, raw, arguments, typed string) {
		newDocument(json.RawMessage(raw)).listParams(t.Context(), true)
		form := newDocument(json.RawMessage(raw)).newForm(t.Context())
		form.toView(t.Context(), form.defaults(), nil)
		values, _ := url.ParseQuery(typed)
		object, wrong := form.readArguments(values)
		form.toView(t.Context(), values, wrong)
		if len(wrong) == 0 && (!json.Valid(object) || object[0] != '{') {
			t.Fatalf("%q is no object", object)
		}
		if !json.Valid([]byte(arguments)) {
			return
		}
		values, whole := form.fillValues(json.RawMessage(arguments))
		if !whole {
			return
		}
		back, wrong := form.readArguments(values)
		for name, says := range wrong {
			if says != messageRequired {
				t.Fatalf("%s: %q of arguments that fit", name, says)
			}
		}
		if len(wrong) == 0 && !isExtension(decodeJSON(t, []byte(arguments)), decodeJSON(t, back)) {
			t.Fatalf("%s became %s", arguments, back)
		}
	})
}

func decodeJSON(t *testing.T, raw []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// isExtension reports whether b is a plus defaults that the form adds.
func isExtension(a, b any) bool {
	if before, ok := a.(map[string]any); ok {
		after, ok := b.(map[string]any)
		if !ok {
			return false
		}
		for name, v := range before {
			if there, ok := after[name]; !ok || !isExtension(v, there) {
				return false
			}
		}
		for name, v := range after {
			if _, ok := before[name]; !ok && !isFormDefault(v) {
				return false
			}
		}
		return true
	}
	if before, ok := a.(string); ok {
		after, _ := b.(string)
		at, err := time.Parse(time.RFC3339, before)
		there, also := time.Parse(time.RFC3339, after)
		return before == after || err == nil && also == nil && at.Equal(there)
	}
	return reflect.DeepEqual(a, b)
}

func isFormDefault(v any) bool {
	switch v := v.(type) {
	case nil, bool:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return isExtension(map[string]any{}, v)
	default:
		return false
	}
}

// FuzzToolResult shows any result within bounds. A picture has a type that runs no scripts.
func FuzzToolResult(f *testing.F) {
	f.Add(`{"isError":true,"structuredContent":{"n":1},"content":[{"type":"text","text":"{}"},{"type":"image","mimeType":"image/svg+xml","data":"AAA="},
		{"type":"resource","resource":{"uri":"file:///b","blob":"AAAA"}},{"type":"resource_link","uri":"javascript:x","size":-1},7]}`, `[{"src":"data:image/png;base64,AAAA"}]`)
	f.Add(`{"content":{"type":"text"},"structuredContent":null}`, `[{"src":"data:image/svg+xml;base64,\"><script>"},{"src":"https://x"}]`)
	f.Fuzz(func(t *testing.T, raw, icons string) {
		if src := FirstIcon(json.RawMessage(icons)); len(src) > maxIconSize || bytes.ContainsAny([]byte(src), "\"'<>& \n") {
			t.Errorf("icon %q", src)
		}
		var r callpages.ToolResult
		if json.Unmarshal([]byte(raw), &r) != nil {
			return
		}
		german := i18n.With(t.Context(), i18n.German)
		shown := callpages.ResultView(german, r, func(int) string { return "/picture" })
		if len(shown.Blocks) > callpages.MaxBlocks {
			t.Errorf("%d blocks", len(shown.Blocks))
		}
		for i, b := range shown.Blocks {
			var is callpages.ContentBlock
			_ = json.Unmarshal(r.Content.Value[i], &is)
			if b.Src != "" && !callpages.SafePictures[is.MIMEType.Value] {
				t.Errorf("a picture of type %q is shown", is.MIMEType.Value)
			}
		}
		callpages.ReadTask([]byte(raw))
	})
}
