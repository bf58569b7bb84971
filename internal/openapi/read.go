package openapi

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"patchbay/internal/fault"
	"patchbay/internal/jsonschema"
)

// Bounds of a document. With them, reading takes less than 256 MiB.
const (
	MaxBytes      = 16 << 20 // with its files
	MaxOperations = 10_000
	maxNodes      = 1_000_000
	maxDepth      = 200
)

// Options say how a document is read.
type Options struct {
	// URL is the address of the document. Relative servers begin there. Empty: none.
	URL string
	// Names are names that operations have already, by [Operation.Key]. They keep them.
	Names map[string]string
	// Server is the address of the API, for a document that has none, or one with a variable that it has no value for. Empty: none.
	Server string
	// InputBytes and OutputBytes bound the schemas of a tool. 0: 128 KiB and 64 KiB.
	InputBytes, OutputBytes int
}

// Document is an API document.
type Document struct {
	Spec        string // version of OpenAPI or Swagger: "3.1.0"
	Title       string
	Description string
	Version     string // of the API
	Servers     []Server
	Schemes     []SecurityScheme
	Operations  []*Operation
	Problems    []Problem // what was left out, at most 100

	options  Options
	root     *source
	dialect  dialect
	keywords map[string]*keywordRule
	security []Requirement // of the document
	schemes  map[string]*SecurityScheme

	ownServer sync.Once // for server and serverErr: what operations without servers of their own have
	server    string
	serverErr error
}

// Problem is a part of a document that was left out.
type Problem struct {
	Where    string // "GET /pets", or a name
	Sentence string
}

const maxProblems = 100

func (d *Document) addProblem(where, sentence string) {
	p := Problem{Where: shortenText(where, 200), Sentence: sentence}
	if len(d.Problems) < maxProblems && !slices.Contains(d.Problems, p) {
		d.Problems = append(d.Problems, p)
	}
}

// dialect is a generation of the specification.
type dialect int

const (
	swagger2  dialect = iota
	openapi30         // schemas in the manner of draft 4
	openapi31         // JSON Schema 2020-12; 3.2 too
)

// Read reads a document. The error is a fault with a sentence.
func Read(document []byte, o Options) (*Document, error) {
	if o.InputBytes == 0 {
		o.InputBytes = 128 << 10
	}
	if o.OutputBytes == 0 {
		o.OutputBytes = 64 << 10
	}
	d := &Document{options: o, schemes: map[string]*SecurityScheme{}, keywords: newKeywords()}
	if len(document) > MaxBytes {
		return nil, fault.Errorf(fault.TooLarge, "The document is larger than %d MiB.", MaxBytes>>20)
	}
	root, err := decodeDocument(document, maxNodes)
	if err != nil {
		return nil, err
	}
	d.root = &source{node: root, refs: jsonschema.NewReferences(root, nil)}
	if err := d.readVersion(); err != nil {
		return nil, err
	}
	info := d.rootValue().Get("info")
	d.Title = shortenText(info.GetText("title"), 200)
	d.Description = shortenText(info.GetText("description"), 4000)
	d.Version = shortenText(info.GetText("version"), 100)
	d.Servers = d.readServers(d.rootValue())
	d.readSchemes()
	d.security, _ = readRequirements(d.rootValue().Get("security"))
	return d, d.readOperations()
}

func (d *Document) rootValue() value { return d.root.wrapNode(d.root.node) }

func (d *Document) readVersion() error {
	v := d.rootValue()
	if version := scalarText(v.Get("swagger").Node); version == "2.0" || version == "2" {
		d.Spec, d.dialect = "2.0", swagger2
		return nil
	}
	d.Spec = scalarText(v.Get("openapi").Node)
	switch {
	case strings.HasPrefix(d.Spec, "3.0"):
		d.dialect = openapi30
	case strings.HasPrefix(d.Spec, "3.1"), strings.HasPrefix(d.Spec, "3.2"):
		d.dialect = openapi31
	case d.Spec == "":
		return fault.Errorf(fault.Invalid, "This isn't an OpenAPI document: it has neither “openapi” nor “swagger” at the top.")
	default:
		return fault.Errorf(fault.Invalid, "The document's OpenAPI version isn't supported. Use Swagger 2.0 or OpenAPI 3.0, 3.1 or 3.2.")
	}
	return nil
}

var errTooManyValues = fault.Errorf(fault.TooLarge, "The document has too many values.")

// decodeDocument decodes JSON or YAML with at most nodes values. JSON with an error is read as YAML, which may accept it.
func decodeDocument(document []byte, nodes int) (*jsonschema.Node, error) {
	if nodes <= 0 {
		return nil, errTooManyValues
	}
	document = bytes.TrimPrefix(document, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(document) {
		document = bytes.ToValidUTF8(document, []byte("\uFFFD"))
	}
	if text := bytes.TrimLeft(document, " \t\r\n"); len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		node, whole := jsonschema.Decode(document, jsonschema.Limits{Bytes: MaxBytes, Values: nodes, Depth: maxDepth})
		switch {
		case !whole:
			return nil, errTooManyValues
		case node != nil:
			return requireObject(node)
		}
	}
	node, err := decodeYAML(document, nodes)
	if err != nil {
		return nil, err
	}
	return requireObject(node)
}

func requireObject(node *jsonschema.Node) (*jsonschema.Node, error) {
	if !node.Is(jsonschema.Object) {
		return nil, fault.Errorf(fault.Invalid, "The document isn't an object.")
	}
	return node, nil
}

// scalarText returns the text of a string, or the spelling of a number: YAML reads the version 3.1 as one.
func scalarText(n *jsonschema.Node) string {
	if n.Is(jsonschema.Number) {
		return n.Raw
	}
	return n.Text()
}

// shortenText cuts a text at a rune, and marks the cut.
func shortenText(text string, limit int) string {
	text = strings.TrimSpace(text)
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strings.TrimSpace(text[:cut]) + "…"
}
