package main

import (
	"maps"
	"slices"
	"strings"
)

// paths writes what can be asked, for whoever completes a command line.
func (g *generator) paths() error {
	g.head("net/http")
	byMethod := map[string][]string{}
	for path, operations := range g.doc.Paths {
		if !strings.HasPrefix(path, prefix) {
			continue
		}
		for method := range operations {
			byMethod[method] = append(byMethod[method], path)
		}
	}
	g.line("// paths are those of the document, as /api/v1/connectors/{id}, by method.")
	g.line("var paths = map[string][]string{")
	for _, method := range slices.Sorted(maps.Keys(byMethod)) {
		g.line("http.Method%s: {", strings.ToUpper(method[:1])+method[1:])
		for _, path := range slices.Sorted(slices.Values(byMethod[method])) {
			g.line("%q,", path)
		}
		g.line("},")
	}
	g.line("}")
	return nil
}
