package toolchange_test

import (
	"fmt"
	"strings"
)

// hostilePair is a shape of two definitions with a size. Both definitions grow with n, in bytes about.
type hostilePair struct {
	name  string
	build func(n int) (before, now string)
}

// repeated returns count texts of a format with their index, separated by commas.
func repeated(format string, count int) string {
	var b strings.Builder
	for i := range max(count, 1) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// withCore returns a pair of tools with schemas that differ in one subschema.
func withCore(newSchema func(core string) string) (before, now string) {
	return toolJSON(newSchema(`{"type":"string"}`)), toolJSON(newSchema(`{"type":"number"}`))
}

func object(members string) string { return "{" + members + "}" }

// hostilePairs are definitions that are costly for one part of the comparison each.
func hostilePairs() []hostilePair {
	return []hostilePair{
		{"one list of alternatives at many nodes", func(n int) (string, string) {
			defs := `"$defs":{"a":{"anyOf":[` + repeated(`{"const":%d}`, n/32) + `]}}`
			return toolJSON(object(`"properties":{` + repeated(`"p%d":{"type":"string"}`, n/64) + `},` + defs)),
				toolJSON(object(`"properties":{` + repeated(`"p%d":{"$ref":"#/$defs/a"}`, n/64) + `},` + defs))
		}},
		{"nested alternatives", func(n int) (string, string) {
			return withCore(func(core string) string {
				open := `{"anyOf":[` + repeated(`{"const":%d}`, n/(32*60)) + `,{"oneOf":[`
				return strings.Repeat(open, 30) + core + strings.Repeat(`]}]}`, 30)
			})
		}},
		{"equal alternatives", func(n int) (string, string) {
			return withCore(func(core string) string {
				return `{"oneOf":[` + strings.Repeat(`{"anyOf":[{},{}]},`, n/20) + core + `]}`
			})
		}},
		{"alternatives that differ", func(n int) (string, string) {
			return toolJSON(object(`"anyOf":[` + repeated(`{"const":%d}`, n/15) + `]`)), toolJSON(object(`"anyOf":[` + repeated(`{"const":"%d"}`, n/17) + `]`))
		}},
		{"an alternative at each of many nodes", func(n int) (string, string) {
			return toolJSON(object(`"properties":{` + repeated(`"p%d":{"type":"string"}`, n/64) + `}`)),
				toolJSON(object(`"properties":{` + repeated(`"p%d":{"anyOf":[{"type":"null"},{"type":"string"}]}`, n/64) + `}`))
		}},
		{"deep schemas", func(n int) (string, string) {
			return withCore(func(core string) string {
				deep := strings.Repeat(`{"not":`, 400) + core + strings.Repeat(`}`, 400)
				return `{"allOf":[` + strings.Repeat(deep+",", n/4000) + core + `]}`
			})
		}},
		{"deep properties", func(n int) (string, string) {
			return withCore(func(core string) string {
				deep := strings.Repeat(`{"properties":{"a":`, 200) + core + strings.Repeat(`}}`, 200)
				return `{"prefixItems":[` + strings.Repeat(deep+",", n/4400) + core + `]}`
			})
		}},
		{"long enums", func(n int) (string, string) {
			return toolJSON(object(`"enum":[` + repeated(`"v%d"`, n/8) + `]`)), toolJSON(object(`"enum":[` + repeated(`"w%d"`, n/8) + `]`))
		}},
		{"enums of objects", func(n int) (string, string) {
			return toolJSON(object(`"enum":[` + repeated(`{"a":%d}`, n/10) + `]`)), toolJSON(object(`"enum":[` + repeated(`{"b":%d}`, n/10) + `]`))
		}},
		{"one enum at many nodes", func(n int) (string, string) {
			properties := `"properties":{` + repeated(`"p%d":{"$ref":"#/$defs/a"}`, n/64) + `}`
			return toolJSON(object(properties + `,"$defs":{"a":{"enum":[` + repeated(`%d`, n/12) + `]}}`)),
				toolJSON(object(properties + `,"$defs":{"a":{"enum":[` + repeated(`"%d"`, n/12) + `]}}`))
		}},
		{"wide properties", func(n int) (string, string) {
			return toolJSON(object(`"properties":{` + repeated(`"p%d":{"type":"string"}`, n/24) + `}`)),
				toolJSON(object(`"properties":{` + repeated(`"p%d":{"type":"number"}`, n/24) + `}`))
		}},
		{"new properties", func(n int) (string, string) {
			return toolJSON(`{}`), toolJSON(object(`"properties":{` + repeated(`"p%d":1`, n/10) + `}`))
		}},
		{"long names of properties", func(n int) (string, string) {
			long := strings.Repeat("a", 400)
			return toolJSON(object(`"properties":{` + repeated(`"`+long+`%d":{"minimum":1}`, n/420) + `}`)),
				toolJSON(object(`"properties":{` + repeated(`"`+long+`%d":{"minimum":2}`, n/420) + `}`))
		}},
		{"unknown keywords", func(n int) (string, string) {
			return toolJSON(object(repeated(`"x%d":1`, n/9))), toolJSON(object(repeated(`"x%d":2`, n/9)))
		}},
		{"required names", func(n int) (string, string) {
			return toolJSON(object(`"required":[` + repeated(`"a%d"`, n/8) + `]`)), toolJSON(object(`"required":[` + repeated(`"b%d"`, n/8) + `]`))
		}},
		{"the same required names again", func(n int) (string, string) {
			list := strings.Repeat(`,"`+strings.Repeat("a", 20)+`"`, n/24)
			return toolJSON(object(`"required":[` + repeated(`"b%d"`, 98) + list + `]`)), toolJSON(object(`"required":[` + repeated(`"c%d"`, 98) + list + `]`))
		}},
		{"required names at many nodes", func(n int) (string, string) {
			properties := `"properties":{` + repeated(`"p%d":{"$ref":"#/$defs/a"}`, n/64) + `}`
			return toolJSON(object(properties + `,"$defs":{"a":{"required":[` + repeated(`"a%d"`, n/16) + `]}}`)),
				toolJSON(object(properties + `,"$defs":{"a":{"required":[` + repeated(`"b%d"`, n/16) + `]}}`))
		}},
		{"types", func(n int) (string, string) {
			return toolJSON(object(`"type":[` + repeated(`"a%d"`, n/8) + `]`)), toolJSON(object(`"type":[` + repeated(`"b%d"`, n/8) + `]`))
		}},
		{"one wide schema under many references", func(n int) (string, string) {
			wide := `"$defs":{"a":{"properties":{` + repeated(`"p%d":{}`, n/32) + `}}}`
			return toolJSON(object(`"properties":{` + repeated(`"p%d":{"$ref":"#/$defs/a","x":1}`, n/64) + `},` + wide)),
				toolJSON(object(`"properties":{` + repeated(`"p%d":{"$ref":"#/$defs/a","x":2}`, n/64) + `},` + wide))
		}},
		{"chains of references", func(n int) (string, string) {
			return withCore(func(core string) string {
				chain := `"0":{"x":1}`
				for i := 1; i < 16; i++ {
					chain += fmt.Sprintf(`,"%d":{"$ref":"#/$defs/%d","y%d":1}`, i, i-1, i)
				}
				return object(`"properties":{` + repeated(`"p%d":{"$ref":"#/$defs/15","z":1}`, n/48) + `,"z":` + core + `},"$defs":{` + chain + `}`)
			})
		}},
		{"long references", func(n int) (string, string) {
			return withCore(func(core string) string {
				return object(`"prefixItems":[` + strings.Repeat(`{"$ref":"#`+strings.Repeat("/%2524", 600)+`"},`, n/3640) + core + `]`)
			})
		}},
		{"a reference of slashes", func(n int) (string, string) {
			return withCore(func(core string) string {
				return object(`"$ref":"#` + strings.Repeat("/", n) + `","x":` + core)
			})
		}},
		{"a definition named in many ways", func(n int) (string, string) {
			return withCore(func(core string) string {
				var properties []string
				for i := range max(n/256, 1) {
					ref := ""
					for bit, r := range "abcdefghijklmnop" {
						if i>>bit&1 == 1 {
							ref += fmt.Sprintf("%%%x", r)
						} else {
							ref += string(r)
						}
					}
					properties = append(properties, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/%s"}`, i, ref))
				}
				return object(`"properties":{` + strings.Join(properties, ",") + `},"$defs":{"abcdefghijklmnop":{"properties":{` + repeated(`"q%d":{}`, n/32) + `,"z":` + core + `}}}`)
			})
		}},
		{"unreached definitions", func(n int) (string, string) {
			return toolJSON(object(`"$defs":{` + repeated(`"d%d":{"minimum":1}`, n/24) + `}`)), toolJSON(object(`"$defs":{` + repeated(`"d%d":{"minimum":2}`, n/24) + `}`))
		}},
		{"values of one kind", func(n int) (string, string) {
			return toolJSON(object(`"default":[` + strings.Repeat(`{"a":1},`, n/8) + `1]`)), toolJSON(object(`"default":[` + strings.Repeat(`{"a":1},`, n/8) + `2]`))
		}},
		{"empty values", func(n int) (string, string) {
			return toolJSON(object(`"default":[` + strings.Repeat(`{},`, n/3) + `1]`)), toolJSON(object(`"default":[` + strings.Repeat(`[],`, n/3) + `1]`))
		}},
		{"members", func(n int) (string, string) {
			return object(`"name":"t",` + repeated(`"a%d":1`, n/9)), object(`"name":"t",` + repeated(`"a%d":2`, n/9))
		}},
		{"annotations", func(n int) (string, string) {
			return object(`"name":"t","annotations":{` + repeated(`"a%d":1`, n/9) + `}`), object(`"name":"t","annotations":{` + repeated(`"a%d":2`, n/9) + `}`)
		}},
		{"definitions as long as a sync accepts", func(int) (string, string) {
			return toolJSON(`{"default":[` + strings.Repeat(`{"a":1},`, 1<<20) + `1]}`), toolJSON(`{"default":[` + strings.Repeat(`{"a":1},`, 1<<20) + `2]}`)
		}},
		{"long numbers", func(n int) (string, string) {
			return toolJSON(object(`"minimum":` + strings.Repeat("1", n))), toolJSON(object(`"minimum":` + strings.Repeat("2", n)))
		}},
	}
}

// hostileTexts are texts that are costly for one search each.
func hostileTexts() []hostilePair {
	all := "ignore missachte oublie olvida забудь 忽略 user the user utente пользовател before this tool instead of system prompt "
	pairs := []hostilePair{
		{"short texts", func(n int) (string, string) {
			return toolJSON(object(`"examples":[` + repeated(`"old%d"`, n/10) + `]`)), toolJSON(object(`"examples":[` + repeated(`"new%d"`, n/10) + `]`))
		}},
		{"short texts with all hints", func(n int) (string, string) {
			return toolJSON(`{}`), toolJSON(object(`"examples":[` + repeated(`"`+all+`%d"`, n/150) + `]`))
		}},
		{"texts with hidden characters", func(n int) (string, string) {
			return toolJSON(`{}`), toolJSON(object(`"examples":[` + repeated(`"%d`+"\u200b"+`"`, n/11) + `]`))
		}},
		{"addresses in many texts", func(n int) (string, string) {
			return toolJSON(object(`"examples":[` + repeated(`"http://a.b/%d a%[1]d@b.cc"`, n/32) + `]`)), toolJSON(object(`"examples":[` + repeated(`"http://c.d/%d b%[1]d@c.dd"`, n/32) + `]`))
		}},
	}
	for _, word := range []string{
		"a", "a ", "ä", "用", "\u200b", "\U000e0041", "A", "Ä ", "http://", "a.a.://", "a@", "a@b.c", "a_b_c_d ", "send include ", "ignore all the ", "do not the user show ", all,
		"before using this ", "www.a ", "\\u00e4",
	} {
		text := func(before, n int) string {
			return fmt.Sprintf(`{"name":"t","description":"%s %d"}`, strings.Repeat(word, max(n/len(word), 1)), before)
		}
		pairs = append(pairs,
			hostilePair{fmt.Sprintf("a text of %.12q", word), func(n int) (string, string) { return `{"name":"t","description":"x"}`, text(1, n) }},
			hostilePair{fmt.Sprintf("two texts of %.12q", word), func(n int) (string, string) { return text(1, n), text(2, n) }},
		)
	}
	return pairs
}
