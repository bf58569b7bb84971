package tools

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// objectSchema is an input schema with these properties.
func objectSchema(properties string, required ...string) json.RawMessage {
	names, _ := json.Marshal(required)
	if required == nil {
		names = []byte("[]")
	}
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":` + string(names) + `,
		"$defs":{"kind":{"enum":["a","b"]},"loop":{"type":"object","properties":{"again":{"$ref":"#/$defs/loop"}}}}}`)
}

func TestAFormAsksForEachKindOfProperty(t *testing.T) {
	t.Parallel()
	type is struct {
		Kind    templates.FieldKind
		Type    string
		Options string
	}
	for property, want := range map[string]is{
		`{"type":"string"}`:                                                {templates.AskLine, "text", ""},
		`{"type":"string","maxLength":5000}`:                               {templates.AskText, "", ""},
		`{"type":"string","format":"date"}`:                                {templates.AskLine, "date", ""},
		`{"type":"string","format":"date-time"}`:                           {templates.AskLine, "datetime-local", ""},
		`{"type":"string","format":"email"}`:                               {templates.AskLine, "email", ""},
		`{"type":"string","format":"uri"}`:                                 {templates.AskLine, "url", ""},
		`{"type":"string","writeOnly":true}`:                               {templates.AskLine, "password", ""},
		`{"type":["string","null"]}`:                                       {templates.AskLine, "text", ""},
		`{"type":"number"}`:                                                {templates.AskLine, "number", ""},
		`{"type":"integer"}`:                                               {templates.AskLine, "number", ""},
		`{"type":"boolean"}`:                                               {templates.AskChoice, "", "–,true,false"},
		`{"type":"boolean","default":true}`:                                {templates.AskFlag, "", ""},
		`{"enum":["low","high",5,null]}`:                                   {templates.AskChoice, "", "–,low,high,5"},
		`{"const":"only"}`:                                                 {templates.AskChoice, "", "–,only"},
		`{"oneOf":[{"const":1,"title":"One"},{"const":2}]}`:                {templates.AskChoice, "", "–,One,2"},
		`{"$ref":"#/$defs/kind"}`:                                          {templates.AskChoice, "", "–,a,b"},
		`{"allOf":[{"$ref":"#/$defs/kind"}],"description":"x"}`:            {templates.AskChoice, "", "–,a,b"},
		`{"anyOf":[{"type":"integer"},{"type":"null"}]}`:                   {templates.AskLine, "number", ""},
		`{"type":"array","items":{"type":"string"}}`:                       {templates.AskText, "", ""},
		`{"type":"array","items":{"$ref":"#/$defs/kind"}}`:                 {templates.AskSeveral, "", "a,b"},
		`{"type":"array","items":{"type":"object","properties":{"a":{}}}}`: {templates.AskText, "", ""},
		`{"type":"object","properties":{"a":{"type":"string"}}}`:           {templates.AskGroup, "", ""},
		`{"type":"object","additionalProperties":{"type":"string"}}`:       {templates.AskText, "", ""},
		`{"anyOf":[{"type":"string"},{"type":"number"}]}`:                  {templates.AskText, "", ""},
		`{"type":["string","number"]}`:                                     {templates.AskText, "", ""},
		`{"$ref":"https://example.com/elsewhere.json"}`:                    {templates.AskText, "", ""},
		`{"$ref":"#/$defs/nothing"}`:                                       {templates.AskText, "", ""},
		`{"$ref":"#/properties/p"}`:                                        {templates.AskText, "", ""},
		`true`:                                                             {templates.AskText, "", ""},
	} {
		fields := newDocument(objectSchema(`"p":`+property)).newForm(t.Context()).toView(t.Context(), nil, nil)
		var labels []string
		for _, o := range fields[0].Options {
			labels = append(labels, o.Label)
		}
		have := is{fields[0].Kind, fields[0].Type, strings.Join(labels, ",")}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s:\n%s", property, diff)
		}
	}
}

func TestAFormMakesArguments(t *testing.T) {
	t.Parallel()
	type typed = map[string]string
	for name, tc := range map[string]struct {
		properties string
		required   []string
		typed      typed
		want       string
	}{
		"in the schema's order":            {`"b":{"type":"string"},"a":{"type":"string"}`, nil, typed{"arg.1": "2", "arg.0": "1"}, `{"b":"1","a":"2"}`},
		"without what was left empty":      {`"a":{"type":"string"},"b":{"type":"integer"},"c":{"type":"array","items":{"type":"string"}}`, nil, typed{"arg.1": " "}, `{}`},
		"with text as it was typed":        {`"a":{"type":"string"}`, nil, typed{"arg.0": " <b> & \"x\"\r\ny "}, `{"a":" <b> & \"x\"\ny "}`},
		"with every digit of a number":     {`"a":{"type":"integer"},"b":{"type":"number"}`, nil, typed{"arg.0": "9007199254740993", "arg.1": "1.10e3"}, `{"a":9007199254740993,"b":1.10e3}`},
		"with numbers as people type them": {`"a":{"type":"integer"},"b":{"type":"number"},"c":{"type":"number"},"d":{"type":"integer"}`, nil, typed{"arg.0": "+007", "arg.1": "-.5", "arg.2": "2.", "arg.3": "000"}, `{"a":7,"b":-0.5,"c":2,"d":0}`},
		"with choices of any type":         {`"a":{"enum":["x",5,true]},"b":{"enum":["x",5,true]}`, nil, typed{"arg.0": "5", "arg.1": `"x"`}, `{"a":5,"b":"x"}`},
		"with a flag in any case":          {`"a":{"type":"boolean"},"b":{"type":"boolean","default":true}`, []string{"a"}, typed{}, `{"a":false,"b":false}`},
		"with lists by lines":              {`"a":{"type":"array","items":{"type":"string"}},"b":{"type":"array","items":{"type":"integer"}}`, nil, typed{"arg.0": "x\n\n y ", "arg.1": "1\n2"}, `{"a":["x","y"],"b":[1,2]}`},
		"with an empty list that must be":  {`"a":{"type":"array","items":{"type":"string"}}`, []string{"a"}, typed{}, `{"a":[]}`},
		"with null that must be":           {`"a":{"type":["string","null"]}`, []string{"a"}, typed{}, `{"a":null}`},
		"with times in UTC":                {`"a":{"type":"string","format":"date-time"},"b":{"type":"string","format":"date-time"}`, nil, typed{"arg.0": "2026-11-21T10:30", "arg.1": "2026-11-21T10:30:05+02:00"}, `{"a":"2026-11-21T10:30:00Z","b":"2026-11-21T10:30:05+02:00"}`},
		"with JSON for the rest":           {`"a":{},"b":{"type":"object"}`, nil, typed{"arg.0": "[1, 2]", "arg.1": `{"x": 1}`}, `{"a":[1, 2],"b":{"x": 1}}`},
		"with nested objects":              {`"a":{"type":"object","properties":{"x":{"type":"string"},"y":{"type":"object","properties":{"z":{"type":"integer"}}}}}`, nil, typed{"arg.0.1.0": "5"}, `{"a":{"y":{"z":5}}}`},
		"without an optional group":        {`"a":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`, nil, typed{}, `{}`},
		"with a group that must be":        {`"a":{"type":"object","properties":{"x":{"type":"string"}}}`, []string{"a"}, typed{}, `{"a":{}}`},
		"with names of any kind":           {`"a.b/c \"d\"":{"type":"string"}`, nil, typed{"arg.0": "x"}, `{"a.b/c \"d\"":"x"}`},
	} {
		values := url.Values{}
		for name, text := range tc.typed {
			values.Set(name, text)
		}
		have, wrong := newDocument(objectSchema(tc.properties, tc.required...)).newForm(t.Context()).readArguments(values)
		if string(have) != tc.want || len(wrong) > 0 {
			t.Errorf("%s: %s, want %s; wrong: %v", name, have, tc.want, wrong)
		}
		if !json.Valid(have) {
			t.Errorf("%s: %s is no JSON", name, have)
		}
	}
}

func TestAFormSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	form := newDocument(objectSchema(`
		"text":{"type":"string"}, "whole":{"type":"integer"}, "any":{"type":"number"}, "json":{}, "when":{"type":"string","format":"date-time"},
		"kind":{"$ref":"#/$defs/kind"}, "many":{"type":"array","items":{"type":"integer"}},
		"group":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`, "text")).newForm(t.Context())
	_, have := form.readArguments(url.Values{
		"arg.1": {"1.5"}, "arg.2": {"one"}, "arg.3": {"{"}, "arg.4": {"tomorrow"}, "arg.5": {`"c"`}, "arg.6": {"1\nx"}, "arg.7.1": {"given"},
	})
	want := map[string]i18n.Key{
		"arg.0": messageRequired, "arg.1": messageInteger, "arg.2": messageNumber, "arg.3": messageJSON, "arg.4": messageDateTime, "arg.5": messageChoice,
		"arg.6": messageInteger, "arg.7.0": messageRequired,
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

func TestToolForm_RoundTripsArguments(t *testing.T) {
	t.Parallel()
	form := newDocument(objectSchema(`
		"text":{"type":"string"}, "n":{"type":"integer"}, "flag":{"type":"boolean"}, "kind":{"$ref":"#/$defs/kind"}, "rest":{},
		"tags":{"type":"array","items":{"type":"string"}}, "kinds":{"type":"array","items":{"$ref":"#/$defs/kind"}},
		"when":{"type":"string","format":"date-time"}, "group":{"type":"object","properties":{"x":{"type":"number"}}},
		"day":{"type":"string","format":"date"}, "mail":{"type":"string","format":"email"}`)).newForm(t.Context())
	for _, arguments := range []string{
		`{}`, `{"group":{"x":1},"day":"2026-11-21"}`,
		`{"text":"two\nlines","n":9007199254740993,"flag":false,"kind":"b","rest":[1,{"a":null}],"tags":["a","b"],"kinds":["a"],"when":"2026-11-21T10:30:00Z","group":{"x":0.50}}`,
	} {
		values, whole := form.fillValues(json.RawMessage(arguments))
		have, wrong := form.readArguments(values)
		if compactJSON(have) != arguments || !whole || len(wrong) > 0 {
			t.Errorf("%s became %s (whole: %v, wrong: %v)", arguments, have, whole, wrong)
		}
	}
	for _, arguments := range []string{
		`[]`, `{"unknown":1}`, `{"text":5}`, `{"n":"5"}`, `{"n":1.5}`, `{"kind":"c"}`, `{"tags":["two\nlines"]}`, `{"tags":[]}`, `{"tags":[5]}`, `{"when":"soon"}`, `{"group":{"y":1}}`, `{"text":""}`, `{"text":null}`,
		`{"group":{}}`, `{"when":"2026-11-21T10:30:00.1234567Z"}`, `{"when":"9999-12-31T23:59:59-23:00"}`, `{"day":"soon"}`, `{"mail":" a@example.com"}`,
	} {
		if _, whole := form.fillValues(json.RawMessage(arguments)); whole {
			t.Errorf("%s is said to fit into the form", arguments)
		}
	}
}

func TestToolForm_FillKeepsDefaultTrue(t *testing.T) {
	t.Parallel()
	form := newDocument(objectSchema(`"yes":{"type":"boolean","default":true},"no":{"type":"boolean"}`, "no")).newForm(t.Context())
	for arguments, want := range map[string]string{`{}`: `{"yes":true,"no":false}`, `{"yes":false}`: `{"yes":false,"no":false}`} {
		values, _ := form.fillValues(json.RawMessage(arguments))
		if have, wrong := form.readArguments(values); string(have) != want || len(wrong) > 0 {
			t.Errorf("%s became %s, %v", arguments, have, wrong)
		}
	}
}

func TestToolForm_MultilineText(t *testing.T) {
	t.Parallel()
	form := newDocument(objectSchema(`"name":{"type":"string"}`)).newForm(t.Context())
	for text, want := range map[string]templates.FieldKind{"one": templates.AskLine, "one\ntwo": templates.AskText} {
		if have := form.toView(t.Context(), url.Values{"arg.0": {text}}, nil)[0].Kind; have != want {
			t.Errorf("%q is asked for by %v", text, have)
		}
	}
}

func TestAFormBeginsWithTheDefaults(t *testing.T) {
	t.Parallel()
	form := newDocument(objectSchema(`
		"n":{"type":"integer","default":20}, "bad":{"type":"integer","default":"x"}, "kind":{"enum":["a","b"],"default":"b"},
		"flag":{"type":"boolean","default":true}, "may":{"type":"object","properties":{"n":{"type":"integer","default":5}}},
		"must":{"type":"object","properties":{"n":{"type":"integer","default":5}}}`, "must")).newForm(t.Context())
	want := url.Values{"arg.0": {"20"}, "arg.2": {`"b"`}, "arg.3": {"true"}, "arg.5.0": {"5"}}
	if diff := cmp.Diff(want, form.defaults()); diff != "" {
		t.Error(diff)
	}
}

func TestAFormStandsAnySchema(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 2000) + `{}` + strings.Repeat(`}}`, 2000)
	for name, tc := range map[string]struct {
		schema string
		only   bool
		fields int
	}{
		"none":               {``, false, 0},
		"no object":          {`5`, false, 0},
		"a loop":             {`{"type":"object","properties":{"loop":{"$ref":"#"}}}`, false, 1},
		"a loop of pointers": {`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, false, 0},
		"a deep one":         {deep, false, 1},
		"a wide one":         {`{"properties":{` + strings.Repeat(`"p":{},`, 200) + `"q":{}}}`, true, 0},
		"a large one":        {`{"description":"` + strings.Repeat("x", 200<<10) + `"}`, true, 0},
		"a union":            {`{"oneOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, true, 0},
		"a pointer":          {`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{"type":"string"}}}}}`, false, 1},
		"odd values":         {`{"properties":{"a":{"type":7,"enum":{},"items":5,"properties":[],"$ref":{}}},"required":"a"}`, false, 1},
	} {
		form := newDocument(json.RawMessage(tc.schema)).newForm(t.Context())
		if (form.jsonOnlyReason != "") != tc.only || len(form.fields) != tc.fields {
			t.Errorf("%s: %d fields, only JSON: %q", name, len(form.fields), form.jsonOnlyReason)
		}
		form.toView(t.Context(), form.defaults(), nil)
	}
}

func TestParameters_FollowReferences(t *testing.T) {
	t.Parallel()
	raw := objectSchema(`"kind":{"$ref":"#/$defs/kind","description":"Which"},"n":{"anyOf":[{"type":"integer"},{"type":"null"}]},
		"many":{"type":"array","items":{"anyOf":[{"type":"string"}]}}`)
	want := []templates.Param{
		{Name: "kind", Description: "Which", Notes: []string{"one of a, b"}}, {Name: "n", Type: "integer or null"}, {Name: "many", Type: "array of string"},
	}
	if diff := cmp.Diff(want, newDocument(raw).listParams(t.Context(), true)); diff != "" {
		t.Error(diff)
	}
	want[0].Notes = nil
	if diff := cmp.Diff(want, newDocument(raw).listParams(t.Context(), false)); diff != "" {
		t.Error(diff)
	}
}
