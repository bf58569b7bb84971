package catalog

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"patchbay/internal/fault"
)

// Schema is the version of the file format. Newer versions are refused.
const Schema = 1

// Bounds of a file.
const (
	MaxBytes   = 1 << 20
	MaxEntries = 500
)

type catalogDocument struct {
	Schema  int             `yaml:"schema"`
	Date    string          `yaml:"date"`
	Servers []catalogServer `yaml:"servers"`
	Hide    []string        `yaml:"hide"`
}

type catalogServer struct {
	Name        string `yaml:"name"`
	Slug        string `yaml:"slug"`
	Publisher   string `yaml:"publisher"`
	Category    string `yaml:"category"`
	Description string `yaml:"description"`
	URL         string `yaml:"url"`
	Transport   string `yaml:"transport"`
	Auth        struct {
		Type      string   `yaml:"type"`
		Header    string   `yaml:"header"`
		Scopes    []string `yaml:"scopes"`
		OwnClient bool     `yaml:"own_client"`
	} `yaml:"auth"`
	Note     string `yaml:"note"`
	Docs     string `yaml:"docs"`
	Source   string `yaml:"source"`
	Verified string `yaml:"verified"`
	Icon     struct {
		Letters string `yaml:"letters"`
		Colour  string `yaml:"colour"`
	} `yaml:"icon"`
}

type catalogFile struct {
	date    string
	entries []Entry
	hidden  []lineText
}

type lineText struct {
	text string
	line int
}

func readFile(text []byte, rules checkRules) (catalogFile, error) {
	if len(text) > MaxBytes {
		return catalogFile{}, fault.Errorf(fault.TooLarge, "Catalog larger than 1 MiB.")
	}
	var doc catalogDocument
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	if err := strict.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return catalogFile{}, yamlError(err)
	}
	if err := strict.Decode(&catalogDocument{}); !errors.Is(err, io.EOF) {
		return catalogFile{}, fault.Errorf(fault.Invalid, "The catalog must be a single YAML document.")
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return catalogFile{}, yamlError(err)
	}
	return checkDocument(doc, newLineIndex(root), rules)
}

var goType = regexp.MustCompile(` in type \S+$| into \S+$`)

// yamlError converts errors of the YAML library to defects.
func yamlError(err error) error {
	found := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if all, ok := errors.AsType[*yaml.TypeError](err); ok {
		found = all.Errors
	}
	var w defectList
	for _, text := range found {
		text = goType.ReplaceAllString(text, "")
		line := 0
		if rest, ok := strings.CutPrefix(text, "line "); ok {
			number, message, _ := strings.Cut(rest, ": ")
			line, _ = strconv.Atoi(number)
			text = message
		}
		name, unknown := strings.CutSuffix(strings.TrimPrefix(text, "field "), " not found")
		switch {
		case unknown:
			w = append(w, defect{line, name, "Unknown field."})
		case strings.HasPrefix(text, "cannot unmarshal"):
			w = append(w, defect{line, "", "Wrong type for this field."})
		default:
			w = append(w, defect{line, "", "Invalid YAML: " + text + "."})
		}
	}
	return w.toError()
}

type lineIndex struct {
	servers []map[string]int // by field; "" is the server itself
	hidden  []int
	fields  map[string]int // of the file
}

// newLineIndex finds the lines of a decoded document. Invalid parts are missing.
func newLineIndex(root yaml.Node) lineIndex {
	found := lineIndex{fields: map[string]int{}}
	if len(root.Content) == 0 {
		return found
	}
	for name, n := range objectMembers(root.Content[0]) {
		found.fields[name] = n.Line
		n = resolveAlias(n)
		for _, item := range n.Content {
			switch name {
			case "servers":
				at := map[string]int{"": item.Line}
				addFieldLines(at, "", item)
				found.servers = append(found.servers, at)
			case "hide":
				found.hidden = append(found.hidden, item.Line)
			}
		}
	}
	return found
}

// addFieldLines adds the lines of an object's fields, nested ones as "auth.type".
func addFieldLines(lines map[string]int, prefix string, n *yaml.Node) {
	for name, inner := range objectMembers(n) {
		lines[prefix+name] = inner.Line
		if inner.Kind == yaml.MappingNode {
			addFieldLines(lines, prefix+name+".", inner)
		}
	}
}

func objectMembers(n *yaml.Node) map[string]*yaml.Node {
	found := map[string]*yaml.Node{}
	if n = resolveAlias(n); n.Kind != yaml.MappingNode {
		return found
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		found[n.Content[i].Value] = n.Content[i+1]
	}
	return found
}

func resolveAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}
