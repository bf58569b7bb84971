package main

import (
	"maps"
	"slices"
	"strings"
)

func (g *generator) writePaths() error {
	g.printHeader("net/http")
	byMethod := map[string][]string{}
	for path, operations := range g.doc.Paths {
		if !strings.HasPrefix(path, prefix) {
			continue
		}
		for method := range operations {
			byMethod[method] = append(byMethod[method], path)
		}
	}
	g.printLine("// paths are the document's paths, such as /api/v1/connectors/{id}, by method.")
	g.printLine("var paths = map[string][]string{")
	for _, method := range slices.Sorted(maps.Keys(byMethod)) {
		g.printLine("http.Method%s: {", strings.ToUpper(method[:1])+method[1:])
		for _, path := range slices.Sorted(slices.Values(byMethod[method])) {
			g.printLine("%q,", path)
		}
		g.printLine("},")
	}
	g.printLine("}")
	return nil
}
