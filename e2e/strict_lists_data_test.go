//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// fine are entries without a defect, by the list: each has every member that SDKs look at. %s is a part of its name.
var fine = map[string]string{
	"tools": `{"name":"%s","title":"T","description":"D","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"p":{"type":"string"}},"required":["p"]},` +
		`"outputSchema":{"type":"object","properties":{"q":{"type":"string","pattern":"^[a-z]+$","minLength":1,"enum":["a"]},"r":{"$ref":"#/$defs/r"}},"required":["q"],"$defs":{"r":{"type":"array","items":{"type":"integer","maximum":7}}}},` +
		`"annotations":{"title":"T","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},"execution":{"taskSupport":"optional"},` +
		`"icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["48x48"],"theme":"light"}],"_meta":{"a/b":[1,{"c":null}]}}`,
	"prompts": `{"name":"%s","title":"T","description":"D","arguments":[{"name":"n","title":"T","description":"D","required":true}],"icons":[{"src":"https://example.com/i.png","sizes":["any"]}],"_meta":{"a":1}}`,
	"resources": `{"uri":"file:///%s","name":"N","title":"T","description":"D","mimeType":"text/plain","size":7,"annotations":{"audience":["user"],"priority":0.5,"lastModified":"2026-07-28T12:00:00Z"},` +
		`"icons":[{"src":"https://example.com/i.png"}],"_meta":{"a":1}}`,
	"resourceTemplates": `{"uriTemplate":"file:///%s/{path}","name":"N","title":"T","description":"D","mimeType":"text/plain","annotations":{"audience":["assistant"],"priority":1,"lastModified":"2026-07-28T12:00:00+02:00"},"icons":[],"_meta":{}}`,
}

// goodLists are lists of n entries without a defect.
func goodLists(n int) map[string][]string {
	lists := map[string][]string{}
	for list, entry := range fine {
		for i := range n {
			lists[list] = append(lists[list], fmt.Sprintf(entry, fmt.Sprintf("fine%d", i)))
		}
	}
	return lists
}

// badLists have one entry of each kind of defect that was met, and some of our own.
func badLists() map[string][]string {
	lists := goodLists(2)
	for i, member := range []string{
		`"description":7`, `"title":7`, `"annotations":"x"`, `"_meta":"x"`, `"annotations":{"readOnlyHint":"true"}`, `"icons":{}`, `"outputSchema":"x"`,
		`"description":null`, `"description":7,"description":"x"`, `"_meta":{"x":1e400}`, `"_meta":{"__proto__":7,"x":-0,"y":9007199254740993,"z":"\ud800\u0000"}`,
		`"inputSchema":{"type":["object"]}`, `"inputSchema":{"properties":{"p":true,"q":false}}`, `"inputSchema":{"properties":{"p":null}}`, `"inputSchema":{"$schema":7}`,
		`"outputSchema":{"type":"array"}`, `"outputSchema":{"type":"object","properties":{"p":{"pattern":"(?i)x"}}}`, `"outputSchema":{"type":"object","$ref":"https://example.com/x"}`,
		`"execution":{"taskSupport":7}`, `"icons":[{"src":"x","sizes":"48x48"}]`,
	} {
		lists["tools"] = append(lists["tools"], fmt.Sprintf(`{"name":"odd%d",%s}`, i, member))
	}
	for i, member := range []string{
		`"arguments":{}`, `"arguments":[null]`, `"arguments":[{"name":"n","title":7}]`, `"arguments":[{"name":"n","required":"yes"}]`, `"_meta":[]`, `"icons":[{}]`, `"title":[]`,
	} {
		lists["prompts"] = append(lists["prompts"], fmt.Sprintf(`{"name":"odd%d",%s}`, i, member))
	}
	for i, member := range []string{
		`"size":1.5`, `"size":"1"`, `"size":1e400`, `"name":7`, `"mimeType":{}`, `"annotations":[]`, `"annotations":{"audience":"user"}`, `"annotations":{"priority":2}`,
		`"annotations":{"lastModified":"2025-01-12T15:00:58"}`, `"annotations":null`,
	} {
		lists["resources"] = append(lists["resources"], fmt.Sprintf(`{"uri":"file:///odd%d","name":"N",%s}`, i, member))
		lists["resourceTemplates"] = append(lists["resourceTemplates"], fmt.Sprintf(`{"uriTemplate":"file:///odd%d/{x}","name":"N",%s}`, i, member))
	}
	lists["resources"] = append(lists["resources"], `{"uri":"file:///nameless"}`)
	return lists
}

// randomLists are some entries without a defect and many that have been changed at random.
func randomLists(r *rand.Rand) map[string][]string {
	lists := goodLists(3)
	for _, list := range slices.Sorted(maps.Keys(fine)) {
		for i := range 60 {
			lists[list] = append(lists[list], altered(r, fmt.Sprintf(fine[list], fmt.Sprintf("odd%d", i))))
		}
	}
	return lists
}

// odd are values that stand in the place of others.
var odd = []string{
	`null`, `true`, `false`, `0`, `-0`, `7`, `-1`, `1.5`, `1e3`, `1e400`, `9007199254740993`, `99999999999999999999`, `""`, `"x"`, `"7"`, `"true"`, `"object"`, `"\ud800"`, `"\u0000"`, `"2025-01-12"`,
	`"2025-01-12T15:00:58"`, `"("`, `"#/nowhere"`, `[]`, `[null]`, `["x"]`, `[7]`, `[[]]`, `[{}]`, `{}`, `{"type":"object"}`, `{"type":"strng"}`, `{"a":1e400}`, `{"$ref":"#"}`, `{"__proto__":7}`, `{"constructor":{}}`,
}

// extra are members that entries and schemas may have besides.
var extra = []string{
	"name", "title", "description", "icons", "_meta", "annotations", "arguments", "size", "inputSchema", "outputSchema", "execution", "type", "properties", "required", "$schema", "$id", "$ref", "pattern", "enum",
	"format", "items", "anyOf", "not", "nullable", "id", "minimum", "x", "__proto__", "Name", "constructor",
}

// altered is an entry in which one to three values are others, are gone, or have come.
func altered(r *rand.Rand, entry string) string {
	var v any
	if err := json.Unmarshal([]byte(entry), &v); err != nil {
		panic(err)
	}
	for range 1 + r.IntN(3) {
		places := placesIn(v)
		places[r.IntN(len(places))](r)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if r.IntN(8) == 0 { // a member twice
		raw = fmt.Appendf(nil, `{%q:%s,%s`, extra[r.IntN(len(extra))], odd[r.IntN(len(odd))], raw[1:])
	}
	return string(raw)
}

// placesIn are the ways to change something in a value, one for each of its parts.
func placesIn(v any) (places []func(*rand.Rand)) {
	other := func(r *rand.Rand) any { return json.RawMessage(odd[r.IntN(len(odd))]) }
	switch v := v.(type) {
	case map[string]any:
		places = append(places, func(r *rand.Rand) { v[extra[r.IntN(len(extra))]] = other(r) })
		for _, key := range slices.Sorted(maps.Keys(v)) {
			places = append(places, func(r *rand.Rand) {
				if r.IntN(5) == 0 {
					delete(v, key)
				} else {
					v[key] = other(r)
				}
			})
			places = append(places, placesIn(v[key])...)
		}
	case []any:
		for i := range v {
			places = append(places, func(r *rand.Rand) { v[i] = other(r) })
			places = append(places, placesIn(v[i])...)
		}
	}
	return places
}
