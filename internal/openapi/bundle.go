package openapi

import (
	"bytes"
	"net/url"
	"path"
	"strings"

	"patchbay/internal/fault"
	"patchbay/internal/jsonschema"
)

const (
	filesMember = "x-bundled-files" // of a bundle: its files by name
	maxFiles    = 100               // beside the document
)

// ReadFile returns the text of a file, and its address after redirects.
type ReadFile func(address string) (text []byte, from string, err error)

// Bundle returns a document with the files that its references lead to, so that each reference stays within it. A document without
// such references stays as it is. Files have the origin of the document. read is nil for a document that must have none. The
// error is a fault with a sentence, or that of read.
func Bundle(document []byte, address string, read ReadFile) ([]byte, error) {
	if !MayHaveFiles(document) {
		return document, nil
	}
	b := &bundler{read: read, files: map[string]*bundledFile{}, scanned: map[*jsonschema.Node]bool{}, names: map[string]bool{}, bytes: MaxBytes, nodes: maxNodes}
	root, err := b.addFile("", address, document)
	if err != nil {
		return nil, err
	}
	earlier := root.node.GetKind(filesMember, jsonschema.Object)
	for _, m := range (value{Node: earlier}).Fields() {
		b.names[m.Name] = true
	}
	b.root, b.files[root.base.String()] = root, root
	b.queue = []bundledValue{{file: root, node: root.node}}
	for len(b.queue) > 0 {
		next := b.queue[len(b.queue)-1]
		b.queue = b.queue[:len(b.queue)-1]
		if err := b.scanValue(next); err != nil {
			return nil, err
		}
	}
	if !b.moved {
		return document, nil
	}
	b.writeMappings()
	if earlier == nil {
		earlier = jsonschema.NewObject()
		root.node.Set(filesMember, earlier)
	}
	earlier.Members = append(earlier.Members, b.added...)
	if root.node.EstimateSize(MaxBytes) > MaxBytes {
		return nil, errBundleSize
	}
	return root.node.AppendTo(nil), nil
}

var errBundleSize = fault.Errorf(fault.TooLarge, "The document and the files that it refers to are larger than %d MiB.", MaxBytes>>20)

// MayHaveFiles reports whether a text has a reference that does not begin with #. It misses references with escapes in their name: they
// are not followed then.
func MayHaveFiles(document []byte) bool {
	for rest := document; ; {
		at := bytes.Index(rest, []byte("$ref"))
		if at < 0 {
			return false
		}
		rest = bytes.TrimLeft(rest[at+len("$ref"):], "\"' \t\r\n:")
		if len(rest) > 0 && rest[0] != '#' {
			return true
		}
	}
}

// bundler follows the references of a document to its files.
type bundler struct {
	read     ReadFile
	root     *bundledFile
	files    map[string]*bundledFile // by address
	added    []jsonschema.Member     // files by name, in the order in which they are met
	names    map[string]bool         // that files have
	queue    []bundledValue
	scanned  map[*jsonschema.Node]bool
	mappings []bundledValue // of discriminators
	bytes    int            // left for files
	nodes    int            // left for files
	moved    bool           // a reference has another text
}

type bundledFile struct {
	node   *jsonschema.Node
	refs   *jsonschema.References
	base   *url.URL // where its references begin
	prefix string   // of pointers into it; empty: the document itself
}

// bundledValue is a value of a file that references lead to.
type bundledValue struct {
	file  *bundledFile
	node  *jsonschema.Node
	names bool // its members are names, as those of paths are, and no keywords
}

// addFile decodes a file.
func (b *bundler) addFile(prefix, from string, text []byte) (*bundledFile, error) {
	if b.bytes -= len(text); b.bytes < 0 {
		return nil, errBundleSize
	}
	node, err := decodeDocument(text, b.nodes)
	if err != nil {
		return nil, err
	}
	b.nodes -= countNodes(node)
	base, err := url.Parse(from)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The document's URL isn't valid.")
	}
	return &bundledFile{node: node, refs: jsonschema.NewReferences(node, nil), base: base, prefix: prefix}, nil
}

// nameMembers are the keywords that have values by name.
var nameMembers = map[string]bool{
	"paths": true, "webhooks": true, "additionalOperations": true, "responses": true, "headers": true, "content": true, "encoding": true, "callbacks": true,
	"schemas": true, "parameters": true, "requestBodies": true, "securitySchemes": true, "pathItems": true, "mediaTypes": true,
	"properties": true, "patternProperties": true, "dependentSchemas": true, "definitions": true, "$defs": true, "securityDefinitions": true,
}

// dataMembers are the keywords that have no references: what looks like one is data.
var dataMembers = map[string]bool{
	"example": true, "examples": true, "default": true, "enum": true, "const": true, "description": true, "externalDocs": true, "links": true, "tags": true,
}

// scanValue makes the references in a value local, and queues what they lead to.
func (b *bundler) scanValue(v bundledValue) error {
	if v.node.Kind != jsonschema.Object && v.node.Kind != jsonschema.Array || b.scanned[v.node] {
		return nil
	}
	b.scanned[v.node] = true
	for _, item := range v.node.Items {
		if err := b.scanValue(bundledValue{file: v.file, node: item}); err != nil {
			return err
		}
	}
	for _, m := range v.node.Members {
		var err error
		switch {
		case m.Name == "$ref" && m.Value.Is(jsonschema.String):
			err = b.moveReference(v, m.Value)
		case v.names:
			err = b.scanValue(bundledValue{file: v.file, node: m.Value})
		case m.Name == "discriminator":
			if mapping := m.Value.Get("mapping"); mapping.Is(jsonschema.Object) {
				b.mappings = append(b.mappings, bundledValue{file: v.file, node: mapping})
			}
		case dataMembers[m.Name], strings.HasPrefix(m.Name, "x-"):
		default:
			err = b.scanValue(bundledValue{file: v.file, node: m.Value, names: nameMembers[m.Name]})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// moveReference makes a reference local.
func (b *bundler) moveReference(v bundledValue, ref *jsonschema.Node) error {
	to, fragment, err := b.openReference(v.file, ref.Text())
	if err != nil {
		return err
	}
	if text := "#" + to.prefix + fragment; text != ref.Text() {
		*ref = *jsonschema.NewString(text)
		b.moved = true
	}
	if to == b.root {
		return nil // all of it is scanned
	}
	target := to.refs.Resolve(jsonschema.NewString("#" + fragment))
	if target != nil {
		b.queue = append(b.queue, bundledValue{file: to, node: target, names: v.names})
	}
	return nil
}

// openReference returns the file that a reference leads to, which is read if it is new.
func (b *bundler) openReference(from *bundledFile, ref string) (f *bundledFile, fragment string, err error) {
	address, fragment, _ := strings.Cut(ref, "#")
	if address == "" {
		return from, fragment, nil
	}
	if b.read == nil {
		return nil, "", fault.Errorf(fault.Invalid, "The reference %q points to another file, which isn't possible in an uploaded document. Enter the URL of the document instead.", shortenText(ref, 200))
	}
	at, err := from.base.Parse(address)
	switch {
	case err != nil:
		return nil, "", fault.Errorf(fault.Invalid, "The reference %q isn't a valid URL.", shortenText(ref, 200))
	case !IsSameOrigin(at, b.root.base):
		return nil, "", fault.Errorf(fault.Invalid, "The reference %q points to another origin. A document may refer only to files of its own origin.", shortenText(ref, 200))
	}
	if f, known := b.files[at.String()]; known {
		return f, fragment, nil
	}
	if len(b.added) == maxFiles {
		return nil, "", fault.Errorf(fault.TooLarge, "The document refers to more than %d files.", maxFiles)
	}
	text, actual, err := b.read(at.String())
	if err != nil {
		return nil, "", explainReference(err, ref)
	}
	name := b.nameFile(at)
	if f, err = b.addFile("/"+filesMember+"/"+name, actual, text); err != nil {
		return nil, "", explainReference(err, ref)
	}
	b.files[at.String()] = f
	b.added = append(b.added, jsonschema.Member{Name: name, Value: f.node})
	return f, fragment, nil
}

// nameFile returns the name of a file in the bundle. Schemas that are whole files get theirs from it.
func (b *bundler) nameFile(at *url.URL) string {
	name := strings.TrimSuffix(path.Base(at.Path), path.Ext(at.Path))
	if name = strings.Trim(defNameCharacters.ReplaceAllString(name, "_"), "_"); name == "" || len(name) > 64 {
		name = "file"
	}
	return uniqueName(name, b.names)
}

// writeMappings makes the references of discriminators local. Names of schemas are no references, and lead to no file.
func (b *bundler) writeMappings() {
	for _, mapping := range b.mappings {
		for _, m := range mapping.node.Members {
			address, fragment, _ := strings.Cut(m.Value.Text(), "#")
			to := mapping.file
			if address != "" {
				at, err := mapping.file.base.Parse(address)
				if err != nil || b.files[at.String()] == nil {
					continue
				}
				to = b.files[at.String()]
			} else if fragment == "" {
				continue
			}
			*m.Value = *jsonschema.NewString("#" + to.prefix + fragment)
		}
	}
}

func countNodes(n *jsonschema.Node) int {
	count := 1
	for _, m := range n.Members {
		count += countNodes(m.Value)
	}
	for _, item := range n.Items {
		count += countNodes(item)
	}
	return count
}

// IsSameOrigin reports whether an address of HTTP has the origin of another one.
func IsSameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && (a.Scheme == "https" || a.Scheme == "http") && strings.EqualFold(a.Host, b.Host) && a.User == nil
}

// explainReference says which file could not be read. An error that is no fault stays.
func explainReference(err error, ref string) error {
	f := fault.As(err)
	if f.Kind == fault.Internal {
		return err
	}
	explained := fault.Errorf(f.Kind, "The reference %q can't be followed. %s", shortenText(ref, 200), f.Message)
	explained.Err = err
	return explained
}
