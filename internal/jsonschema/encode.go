package jsonschema

// NewObject returns an object.
func NewObject(members ...Member) *Node { return &Node{Kind: Object, Members: members} }

// NewArray returns an array.
func NewArray(items ...*Node) *Node { return &Node{Kind: Array, Items: items} }

// NewString returns a string.
func NewString(text string) *Node { return &Node{Kind: String, Raw: string(AppendQuoted(nil, text))} }

// NewStrings returns an array of strings.
func NewStrings(texts []string) *Node {
	n := NewArray()
	for _, text := range texts {
		n.Items = append(n.Items, NewString(text))
	}
	return n
}

// NewTrue returns true.
func NewTrue() *Node { return &Node{Kind: True, Raw: "true"} }

// EstimateSize returns about the bytes that AppendTo appends. It stops counting above limit.
func (n *Node) EstimateSize(limit int) int {
	size := len("[]")
	if n.Kind != Object && n.Kind != Array {
		size = max(size, len(n.Raw))
	}
	for i := 0; i < len(n.Members) && size <= limit; i++ {
		m := n.Members[i]
		size += len(m.Name) + len(`"":,`) + m.Value.EstimateSize(limit-size)
		for _, c := range []byte(m.Name) {
			if c < ' ' {
				size += len(`\u0000`)
			}
		}
	}
	for i := 0; i < len(n.Items) && size <= limit; i++ {
		size += n.Items[i].EstimateSize(limit-size) + len(",")
	}
	return size
}

// AppendTo appends the value without white space.
func (n *Node) AppendTo(dst []byte) []byte {
	switch n.Kind {
	case Object:
		dst = append(dst, '{')
		for i, m := range n.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendQuoted(dst, m.Name), ':')
			dst = m.Value.AppendTo(dst)
		}
		return append(dst, '}')
	case Array:
		dst = append(dst, '[')
		for i, item := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendTo(dst)
		}
		return append(dst, ']')
	}
	return append(dst, n.Raw...)
}
