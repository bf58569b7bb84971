package toolfmt_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"patchbay/internal/mcp/toolfmt"
)

var updateGolden = flag.Bool("update", false, "write the expected definitions anew")

var formats = []toolfmt.Format{toolfmt.MCP, toolfmt.OpenAI, toolfmt.Anthropic, toolfmt.Google}

func parseTool(t testing.TB, raw []byte) toolfmt.Tool {
	t.Helper()
	var fields struct {
		Name, Title, Description string
		InputSchema, Annotations json.RawMessage
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	return toolfmt.Tool{
		Name: "mcp_test__" + fields.Name, Title: fields.Title, Description: fields.Description,
		InputSchema: fields.InputSchema, Annotations: fields.Annotations, Definition: raw,
	}
}

func toolWithSchema(schema string) toolfmt.Tool {
	return toolfmt.Tool{Name: "mcp_test__tool", Description: "Does it.", InputSchema: json.RawMessage(schema)}
}

func TestDefinitions_EachProviderMatchesGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/definitions/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for _, f := range archive.Files {
				want[f.Name] = string(f.Data)
			}
			tool := parseTool(t, bytes.TrimSpace(archive.Files[0].Data))
			archive.Files = archive.Files[:1]
			for _, format := range formats[1:] {
				list := toolfmt.Definitions(format, []toolfmt.Tool{tool})
				if len(list) != 1 {
					t.Fatalf("%s: %d elements", format, len(list))
				}
				for _, complaint := range checkDefinition(string(format), list[0]) {
					t.Errorf("%s: %s", format, complaint)
				}
				name := string(format) + ".json"
				got := indentJSON(t, list[0])
				archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(got)})
				if diff := cmp.Diff(want[name], got); diff != "" && !*updateGolden {
					t.Errorf("%s (-want +got):\n%s", format, diff)
				}
			}
			if *updateGolden {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func indentJSON(t *testing.T, raw []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return b.String() + "\n"
}

func TestDefinitions_MCPChangesOnlyName(t *testing.T) {
	t.Parallel()
	for definition, want := range map[string]string{
		`{"name":"a","x":9007199254740993}`:                         `{"name":"N","x":9007199254740993}`,
		` { "x" : {"name":"inner"} , "name"  :  "a\"}" , "y":1.50}`: ` { "x" : {"name":"inner"} , "name"  :  "N" , "y":1.50}`,
		`{"name":"a","Name":"b","name":"c"}`:                        `{"name":"N","Name":"b","name":"N"}`,
		`{"n\u0061me":"a","d":"\u003c<\u2028"}`:                     `{"n\u0061me":"N","d":"\u003c<\u2028"}`,
		`not JSON`:                                                  `{"name":"N","title":"T","inputSchema":{"type":"object"}}`,
		`{"title":"no"}`:                                            `{"name":"N","title":"T","inputSchema":{"type":"object"}}`,
	} {
		got := toolfmt.Definitions(toolfmt.MCP, []toolfmt.Tool{{Name: "N", Title: "T", Definition: json.RawMessage(definition)}})
		if len(got) != 1 || string(got[0]) != want {
			t.Errorf("%s becomes %s, want %s", definition, got, want)
		}
	}
}

func TestDefinitions_ValidSchemaIsUnchanged(t *testing.T) {
	t.Parallel()
	schema := `{"$schema":"https://json-schema.org/draft/2020-12/schema", "zeta":1,"type":"object","properties":{"n":{"maximum":18446744073709551615,"default":-1.50e+2},` +
		`"r":{"$ref":"#/$defs/x"},"u":{"anyOf":[{"type":"string"},{"type":"null"}]},"<":{"enum":[{"items":null},"\u003c"]}},"$defs":{"x":{"type":["string","null"]}},"x-own":{"type":"array"}}`
	for format, key := range map[toolfmt.Format]string{toolfmt.OpenAI: "parameters", toolfmt.Anthropic: "input_schema"} {
		sent := schema
		if format == toolfmt.Anthropic {
			sent = strings.Replace(schema, `"<"`, `"lt"`, 1)
		}
		got := string(toolfmt.Definitions(format, []toolfmt.Tool{toolWithSchema(sent)})[0])
		if !strings.Contains(got, `"`+key+`":`+sent+`}`) {
			t.Errorf("%s: %s", format, got)
		}
	}
}

func TestDescription_IsCutAtWord(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"words":      strings.Repeat("word ", 5000),
		"one word":   strings.Repeat("a", 20_000),
		"wide runes": strings.Repeat("語", 20_000),
		"broken":     strings.Repeat("\xff", 20_000),
		"exactly":    strings.Repeat("x", 1024),
	} {
		for _, format := range formats[1:] {
			tool := toolWithSchema(`{}`)
			tool.Description, tool.Annotations = text, json.RawMessage(`{"readOnlyHint":true}`)
			got := toolfmt.Definitions(format, []toolfmt.Tool{tool})[0]
			for _, complaint := range checkDefinition(string(format), got) {
				t.Errorf("%s for %s: %s", name, format, complaint)
			}
			if !bytes.Contains(got, []byte("… (Its server says that this tool is read-only.)")) && (format == toolfmt.OpenAI || len(text) > 20_000) {
				t.Errorf("%s for %s: %.100s…%s", name, format, got, got[max(0, len(got)-300):])
			}
			if name == "words" && bytes.Contains(got, []byte("wor…")) {
				t.Errorf("%s: cut within a word", format)
			}
		}
	}
}

func TestDefinitions_NoToolsAreEmptyList(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		if got := toolfmt.Definitions(format, nil); got == nil || len(got) != 0 {
			t.Errorf("%s: %s", format, got)
		}
	}
	if got := toolfmt.Definitions("cobol", []toolfmt.Tool{toolWithSchema(`{}`)}); got != nil {
		t.Errorf("an unknown format: %s", got)
	}
}

func TestDefinitions_GoogleHasOneElement(t *testing.T) {
	t.Parallel()
	list := toolfmt.Definitions(toolfmt.Google, []toolfmt.Tool{toolWithSchema(`{}`), toolWithSchema(`{"properties":{"a":{}}}`), toolWithSchema(``)})
	var tool struct{ FunctionDeclarations []map[string]any }
	if len(list) != 1 || json.Unmarshal(list[0], &tool) != nil || len(tool.FunctionDeclarations) != 3 {
		t.Errorf("%s", list)
	}
}

// hostileSchemas grow, nest or are recursive.
func hostileSchemas() map[string]string {
	bomb := []string{`"l0":{"type":"string","description":"` + strings.Repeat("x", 1000) + `"}`}
	for i := 1; i < 30; i++ {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/l%d"}`, i-1)
		bomb = append(bomb, fmt.Sprintf(`"l%d":{"type":"object","properties":{"a":%s,"b":%s},"anyOf":[%s,%s],"allOf":[%s]}`, i, ref, ref, ref, ref, ref))
	}
	wide := make([]string, 5_000)
	for i := range wide {
		wide[i] = fmt.Sprintf(`"p%d":{"type":"object","properties":{"x":{"type":"string"}}}`, i)
	}
	values := make([]string, 50_000)
	for i := range values {
		values[i] = fmt.Sprintf(`"value %d"`, i)
	}
	alternatives := make([]string, 3000)
	for i := range alternatives {
		alternatives[i] = fmt.Sprintf(`{"properties":{"kind":{"const":"%d"},"p%d":{"type":"string"}}}`, i, i%100)
	}
	return map[string]string{
		"200 deep":             strings.Repeat(`{"type":"object","properties":{"x":`, 200) + `{"type":"string"}` + strings.Repeat(`}}`, 200),
		"200 arrays deep":      `{"properties":{"a":` + strings.Repeat(`{"type":"array","items":`, 200) + `{"type":"string"}` + strings.Repeat(`}`, 200) + `}}`,
		"4 000 unions deep":    `{"properties":{"a":` + strings.Repeat(`{"anyOf":[{"type":"null"},`, 4000) + `{"type":"string"}` + strings.Repeat(`]}`, 4000) + `}}`,
		"a bomb of references": `{"$ref":"#/$defs/l29","$defs":{` + strings.Join(bomb, ",") + `}}`,
		"a bomb inside":        `{"properties":{"a":{"$ref":"#/$defs/l29"},"b":{"$ref":"#/$defs/l28"}},"$defs":{` + strings.Join(bomb, ",") + `}}`,
		"5 000 properties":     `{"type":"object","properties":{` + strings.Join(wide, ",") + `},"required":["p0","p4999"]}`,
		"50 000 choices":       `{"type":"object","properties":{"a":{"enum":[` + strings.Join(values, ",") + `]}}}`,
		"3 000 alternatives":   `{"type":"object","oneOf":[` + strings.Join(alternatives, ",") + `]}`,
		"3 000 inside":         `{"properties":{"a":{"oneOf":[` + strings.Join(alternatives, ",") + `]}}}`,
		"itself":               `{"$ref":"#"}`,
		"itself in all":        `{"type":"object","properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#/properties/a"}]}},"allOf":[{"$ref":"#"}]}`,
		"a ring":               `{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/c"},"c":{"$ref":"#/$defs/a"}}}`,
		"a ring of unions": `{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"object","anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/c"}]},` +
			`"b":{"type":"object","anyOf":[{"$ref":"#/$defs/c"},{"$ref":"#/$defs/a"}]},"c":{"type":"object","anyOf":[{"$ref":"#/$defs/b"}]}}}`,
		"a ring of all": `{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"properties":{"x":{"allOf":[{"$ref":"#/$defs/b"}]},"y":{"allOf":[{"$ref":"#/$defs/b"}]}}},` +
			`"b":{"properties":{"x":{"allOf":[{"$ref":"#/$defs/a"}]},"y":{"allOf":[{"$ref":"#/$defs/a"}]}}}}}`,
		"invalid UTF-8": "{\"properties\":{\"\xff\":{\"description\":\"\xfe\"}}}",
		"no names":      `{"properties":{"":{"type":"string"}}}`,
		"twice":         `{"type":"string","type":"object","properties":{"a":{"type":"string"},"a":{"type":"integer"}},"required":["a","a"]}`,
		"properties called like words": `{"type":"object","properties":{"type":{"type":"string"},"properties":{"type":"object","properties":{"$ref":{"type":"string"}}},` +
			`"items":{"type":"array","items":{"type":"object","properties":{"enum":{"type":"boolean"}}}},"anyOf":{"type":"string"}},"required":["type","anyOf"]}`,
	}
}

func TestDefinitions_HostileSchemasStayBounded(t *testing.T) {
	t.Parallel()
	for name, schema := range hostileSchemas() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, format := range formats {
				tool := toolWithSchema(schema)
				tool.Definition = json.RawMessage(`{"name":"tool"}`)
				for _, raw := range toolfmt.Definitions(format, []toolfmt.Tool{tool}) {
					for _, complaint := range checkDefinition(string(format), raw) {
						t.Errorf("%s: %.300s", format, complaint)
					}
					if limit := 2 * (1<<20 + len(schema)); len(raw) > limit || !utf8.Valid(raw) {
						t.Errorf("%s: %d bytes", format, len(raw))
					}
				}
			}
		})
	}
}
