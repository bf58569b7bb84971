package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"patchbay/internal/openapi"
)

// listDocument returns the operations of an API document as tools, with the tags of each.
func listDocument(s listedServer) (tools []json.RawMessage, tags [][]string, err error) {
	file := filepath.Join("bin/openapi", s.Path)
	if _, err := os.Stat(file); err != nil {
		file = filepath.Join(documents, s.Path)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	d, err := openapi.Read(text, openapi.Options{URL: "https://api.example.com/openapi.json"})
	if err != nil {
		return nil, nil, err
	}
	for _, o := range d.Operations {
		tool, err := d.Tool(o)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %s: %v\n", s.Server, o.Key(), err)
			continue
		}
		tools, tags = append(tools, tool.Definition), append(tags, o.Tags)
	}
	return tools, tags, nil
}

// listFixture reads the tools of the server that is in this repository for development.
func listFixture(s listedServer) (tools []json.RawMessage, err error) {
	text, err := os.ReadFile(s.Path)
	if err != nil {
		return nil, err
	}
	return tools, json.Unmarshal(text, &tools)
}
