package main

import (
	"fmt"
	"os"
	"strings"

	"patchbay/internal/toolsearch/searchset"
)

// Kinds of sources.
const (
	kindNPM      = "npm"
	kindGo       = "go"
	kindDocument = "openapi"
	kindFixture  = "fixture"
)

// listedServer is a server that gives the set its tools.
type listedServer struct {
	searchset.Source
	args []string // of the program
}

// readSources reads lines of slug, title, kind, package, path, licence and arguments. "-" is an empty field, "_" in the title and the licence a space.
func readSources(file string) (all []listedServer, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if len(fields) < 6 {
			return nil, fmt.Errorf("%s: %q has under 6 fields", file, strings.TrimSpace(line))
		}
		for i, f := range fields {
			if f == "-" {
				fields[i] = ""
			}
		}
		all = append(all, listedServer{args: fields[6:], Source: searchset.Source{
			Server: fields[0], Title: strings.ReplaceAll(fields[1], "_", " "), Kind: fields[2], Package: fields[3], Path: fields[4],
			Licence: strings.ReplaceAll(fields[5], "_", " "),
		}})
	}
	return all, nil
}
