package jsonschema

// Kind is the kind of a JSON value: its first character, or '0' for a number.
type Kind byte

// The kinds.
const (
	Object Kind = '{'
	Array  Kind = '['
	String Kind = '"'
	Number Kind = '0'
	True   Kind = 't'
	False  Kind = 'f'
	Null   Kind = 'n'
)

// Node is a value of a schema document.
type Node struct {
	Kind    Kind
	Offset  uint32   // of Raw in the document, as UTF-8
	Raw     string   // its text in the document; empty for an object or array that was made
	Members []Member // of an object, in the order of the document
	Items   []*Node  // of an array

	index map[string]int // of a wide object's members, made by the first Find
}

// Member is a member of an object.
type Member struct {
	Name  string
	Value *Node
}

// maxScanned is the number of members up to which a linear scan is cheaper than a map.
const maxScanned = 16

// Get returns the value of a member; nil if there is none, or n is no object. Of duplicates the last counts, as in
// most JSON parsers.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	if at := n.findMember(name, nil); at >= 0 {
		return n.Members[at].Value
	}
	return nil
}

// Find is [Node.Get] for many names of a wide object: the first call makes an index. The members must not change
// from then on.
func (n *Node) Find(name string) *Node {
	if n.index == nil && len(n.Members) > maxScanned {
		n.index = n.MemberIndex()
	}
	if at := n.findMember(name, n.index); at >= 0 {
		return n.Members[at].Value
	}
	return nil
}

// MemberIndex returns the position of each member.
func (n *Node) MemberIndex() map[string]int {
	places := make(map[string]int, 2*len(n.Members))
	for i, m := range n.Members {
		places[m.Name] = i
	}
	return places
}

// findMember returns a member's position, or -1. A nil index means a linear scan.
func (n *Node) findMember(name string, index map[string]int) int {
	if index != nil {
		if at, found := index[name]; found {
			return at
		}
		return -1
	}
	for i := len(n.Members) - 1; i >= 0; i-- {
		if n.Members[i].Name == name {
			return i
		}
	}
	return -1
}

// GetKind returns a member of this kind, else nil.
func (n *Node) GetKind(name string, kind Kind) *Node {
	if m := n.Get(name); m.Is(kind) {
		return m
	}
	return nil
}

// GetItems returns the items of a member that is an array.
func (n *Node) GetItems(name string) []*Node { return n.GetKind(name, Array).List() }

// GetText returns the text of a member that is a string.
func (n *Node) GetText(name string) string { return n.Get(name).Text() }

// Is reports whether n has a kind. A nil n has none.
func (n *Node) Is(kind Kind) bool { return n != nil && n.Kind == kind }

// List returns the items of an array; nil for any other value.
func (n *Node) List() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Text returns the text of a string; empty for any other value.
func (n *Node) Text() string {
	if !n.Is(String) {
		return ""
	}
	return Unquote(n.Raw)
}

// Set sets a member, and returns the object.
func (n *Node) Set(name string, value *Node) *Node {
	if at := n.findMember(name, nil); at >= 0 {
		n.Members[at].Value = value
	} else {
		n.Members = append(n.Members, Member{name, value})
	}
	return n
}

// Drop removes a member and reports whether there was one.
func (n *Node) Drop(name string) bool {
	at := n.findMember(name, nil)
	if at >= 0 {
		n.Members = append(n.Members[:at:at], n.Members[at+1:]...)
	}
	return at >= 0
}
