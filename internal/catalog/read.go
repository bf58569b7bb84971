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

// Schema is the version of the file's form. A program reads no newer one than its own.
const Schema = 1

// Bounds of a file.
const (
	MaxBytes   = 1 << 20
	MaxEntries = 500
)

// document is a file as it is written.
type document struct {
	Schema  int      `yaml:"schema"`
	Date    string   `yaml:"date"`
	Servers []server `yaml:"servers"`
	Hide    []string `yaml:"hide"`
}

type server struct {
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

// file is what a document says, checked.
type file struct {
	date    string
	entries []Entry
	hidden  []spot
}

// spot is a text and the line where it stands.
type spot struct {
	text string
	line int
}

func read(text []byte, rules rules) (file, error) {
	if len(text) > MaxBytes {
		return file{}, fault.Errorf(fault.TooLarge, "A catalog has at most 1 MiB.")
	}
	var doc document
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	if err := strict.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return file{}, unread(err)
	}
	if err := strict.Decode(&document{}); !errors.Is(err, io.EOF) {
		return file{}, fault.Errorf(fault.Invalid, "A catalog is one YAML document, and here another follows.")
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return file{}, unread(err)
	}
	return check(doc, linesOf(root), rules)
}

var goType = regexp.MustCompile(` in type \S+$| into \S+$`)

// unread says in a line each what the library found wrong.
func unread(err error) error {
	found := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if all, ok := errors.AsType[*yaml.TypeError](err); ok {
		found = all.Errors
	}
	var w wrong
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
			w = append(w, defect{line, name, "There is no such field."})
		case strings.HasPrefix(text, "cannot unmarshal"):
			w = append(w, defect{line, "", "This value is of another type than its field."})
		default:
			w = append(w, defect{line, "", "This is not YAML: " + text + "."})
		}
	}
	return w.err()
}

// lines are where things stand in a file.
type lines struct {
	servers []map[string]int // by field; "" is the server itself
	hidden  []int
	fields  map[string]int // of the file
}

// linesOf finds the lines. The document was decoded already: what is not as it should be is not there.
func linesOf(root yaml.Node) lines {
	found := lines{fields: map[string]int{}}
	if len(root.Content) == 0 {
		return found
	}
	for name, n := range members(root.Content[0]) {
		found.fields[name] = n.Line
		n = aliased(n)
		for _, item := range n.Content {
			switch name {
			case "servers":
				at := map[string]int{"": item.Line}
				place(at, "", item)
				found.servers = append(found.servers, at)
			case "hide":
				found.hidden = append(found.hidden, item.Line)
			}
		}
	}
	return found
}

// place notes the lines of an object's fields, and of those inside of them: "auth.type".
func place(at map[string]int, prefix string, n *yaml.Node) {
	for name, inner := range members(n) {
		at[prefix+name] = inner.Line
		if inner.Kind == yaml.MappingNode {
			place(at, prefix+name+".", inner)
		}
	}
}

func members(n *yaml.Node) map[string]*yaml.Node {
	found := map[string]*yaml.Node{}
	if n = aliased(n); n.Kind != yaml.MappingNode {
		return found
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		found[n.Content[i].Value] = n.Content[i+1]
	}
	return found
}

// aliased is what a node stands for.
func aliased(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}
