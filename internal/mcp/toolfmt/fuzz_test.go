package toolfmt_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"patchbay/internal/mcp/toolfmt"
)

// FuzzDefinitions checks that any tool makes definitions that are valid in each format.
func FuzzDefinitions(f *testing.F) {
	files, err := filepath.Glob("testdata/definitions/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal("no definitions", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		tool := parseTool(f, archive.Files[0].Data)
		f.Add(tool.Description, []byte(tool.InputSchema), []byte(tool.Annotations), []byte(tool.Definition))
	}
	f.Fuzz(func(t *testing.T, description string, schema, annotations, definition []byte) {
		tool := toolfmt.Tool{
			Name: "mcp_test__tool", Description: description, InputSchema: schema, Annotations: annotations, Definition: definition,
		}
		if strings.Contains(string(schema), "e999") {
			return // a number that encoding/json refuses
		}
		for _, format := range formats {
			for _, raw := range toolfmt.Definitions(format, []toolfmt.Tool{tool}) {
				for _, complaint := range checkDefinition(string(format), raw) {
					t.Errorf("%s: %s\n%s\n%s", format, complaint, schema, raw)
				}
			}
		}
	})
}
