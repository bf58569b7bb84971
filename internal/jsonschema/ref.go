package jsonschema

import (
	"net/url"
	"strconv"
	"strings"
)

// maxRefBytes bounds the text of a reference. A longer one has no target.
const maxRefBytes = 4 << 10

// Charges for a reference. A unit takes at most about a nanosecond, and allocates at most about a byte.
const (
	workRef     = 120
	workRefByte = 10
	workMember  = 120 // of an object that is indexed
)

// References resolves the references of one document.
type References struct {
	root    *Node
	spend   func(units int) bool
	targets map[string]*Node // by the spelling of $ref
}

// NewReferences returns the references of the document at root. spend charges work, and reports whether it was
// available; nil: always.
func NewReferences(root *Node, spend func(units int) bool) *References {
	if spend == nil {
		spend = func(int) bool { return true }
	}
	return &References{root: root, spend: spend, targets: map[string]*Node{}}
}

// Resolve returns the value that the string ref refers to; nil: there is none in this document, or the work is
// spent.
func (r *References) Resolve(ref *Node) *Node {
	if !ref.Is(String) || len(ref.Raw) > maxRefBytes {
		return nil
	}
	target, known := r.targets[ref.Raw]
	if !known && r.spend(workRef+workRefByte*len(ref.Raw)) {
		target = r.followPointer(ref.Text())
		r.targets[ref.Raw] = target
	}
	return target
}

func (r *References) followPointer(ref string) *Node {
	pointer, ok := NewPointer(ref)
	if !ok {
		return nil
	}
	at := r.root
	for at != nil && pointer != "" {
		var name string
		name, pointer = pointer.Cut()
		at = r.followName(at, name)
	}
	return at
}

// followName returns the member or item that a name of a pointer leads to; nil if there is none.
func (r *References) followName(n *Node, name string) *Node {
	switch n.Kind {
	case Array:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.Items) {
			return n.Items[i]
		}
	case Object:
		if n.index == nil && len(n.Members) > maxScanned && !r.spend(workMember*len(n.Members)) {
			return n.Get(name)
		}
		return n.Find(name)
	}
	return nil
}

var pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")

// Pointer is a JSON pointer (RFC 6901); empty for the whole document.
type Pointer string

// NewPointer returns the pointer in the URI fragment of a reference (RFC 6901 section 6). ok is false for an anchor
// or another document.
func NewPointer(ref string) (p Pointer, ok bool) {
	fragment, local := strings.CutPrefix(ref, "#")
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	return Pointer(fragment), local && (fragment == "" || fragment[0] == '/')
}

// Cut returns the first name of a pointer, which is not empty, and the pointer behind it.
func (p Pointer) Cut() (name string, rest Pointer) {
	text := string(p[1:])
	if end := strings.IndexByte(text, '/'); end >= 0 {
		text, rest = text[:end], p[1+end:]
	}
	return pointerUnescaper.Replace(text), rest
}
