package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// StringEdits maps paths to edits of strings in a JSON document. A path is the member names from the root, each after a dot,
// with "[]" for array elements: ".contents[].uri". An edit that returns false keeps the string.
type StringEdits map[string]func(string) (string, bool)

// ObjectEdits maps paths to edits of whole objects, which come after those of the strings in them. An edit that returns false
// keeps the object. An object with a replaced string is not to be replaced.
type ObjectEdits map[string]func(object []byte) ([]byte, bool)

// EditStrings returns raw with some strings replaced. All other bytes stay. Values that no path leads to are only scanned, so
// memory does not grow with their depth or names.
func EditStrings(raw []byte, edits StringEdits) ([]byte, error) { return EditObjects(raw, edits, nil) }

// EditObjects is [EditStrings] that also replaces objects.
func EditObjects(raw []byte, edits StringEdits, objects ObjectEdits) ([]byte, error) {
	e := editor{scanner: scanner{data: raw}}
	root := e.newNode()
	for path, edit := range edits {
		root.addPath(path).edit = edit
	}
	for path, edit := range objects {
		root.addPath(path).editObject = edit
	}
	if err := e.editValue(root); err != nil {
		return nil, fmt.Errorf("edit JSON: %w", err)
	}
	if e.copied == 0 {
		return raw, nil
	}
	return append(e.out, raw[e.copied:]...), nil
}

type editor struct {
	scanner
	out    []byte
	copied int // bytes of data that are in out
}

// editNode is a step of the paths of edits.
type editNode struct {
	editor     *editor
	edit       func(string) (string, bool) // nil: the string stays
	editObject func([]byte) ([]byte, bool) // nil: the object stays
	members    map[string]*editNode
	element    *editNode // nil: arrays stay

	// Functions of the node, made once: a document can have a million objects.
	readMember  func(key []byte) error
	readElement func() error
}

func (e *editor) newNode() *editNode {
	n := &editNode{editor: e, members: map[string]*editNode{}}
	n.readMember = func(key []byte) error { return e.editValue(n.members[string(key)]) }
	n.readElement = func() error { return e.editValue(n.element) }
	return n
}

// addPath returns the node of a path below n.
func (n *editNode) addPath(path string) *editNode {
	for path != "" {
		if rest, ok := strings.CutPrefix(path, "[]"); ok {
			if n.element == nil {
				n.element = n.editor.newNode()
			}
			n, path = n.element, rest
			continue
		}
		name := path[1:]
		if end := strings.IndexAny(name, ".["); end >= 0 {
			name = name[:end]
		}
		path = path[1+len(name):]
		if n.members[name] == nil {
			n.members[name] = n.editor.newNode()
		}
		n = n.members[name]
	}
	return n
}

// editValue reads a value at a node; nil: no path leads to it.
func (e *editor) editValue(n *editNode) error {
	switch c := e.peek(); {
	case n == nil:
	case c == '{' && n.editObject != nil:
		return e.replaceObject(n)
	case c == '{' && len(n.members) > 0:
		return e.readObject(n.readMember)
	case c == '[' && n.element != nil:
		return e.readArray(n.readElement)
	case c == '"' && n.edit != nil:
		return e.editString(n.edit)
	}
	return e.skipValue()
}

// replaceObject reads an object, then edits it.
func (e *editor) replaceObject(n *editNode) error {
	start := e.pos
	if err := e.readObject(n.readMember); err != nil {
		return err
	}
	if next, ok := n.editObject(e.data[start:e.pos]); ok {
		e.out = append(append(e.out, e.data[e.copied:start]...), next...)
		e.copied = e.pos
	}
	return nil
}

func (e *editor) editString(edit func(string) (string, bool)) error {
	start := e.pos
	quoted, err := e.readString()
	if err != nil {
		return err
	}
	text, ok := Unquote(quoted)
	if !ok {
		return ErrSyntax
	}
	next, ok := edit(text)
	if !ok {
		return nil
	}
	e.out = append(append(e.out, e.data[e.copied:start]...), encodeText(next)...)
	e.copied = e.pos
	return nil
}

// encodeText encodes a string without HTML escapes.
func encodeText(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // strings always encode
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
