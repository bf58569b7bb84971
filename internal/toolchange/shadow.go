package toolchange

import (
	"fmt"
)

// Named is a tool of another connector.
type Named struct{ Connector, Tool string }

// Names are the tools that a tool could be taken for: those of the tenant's other connectors. A nil one holds none.
type Names struct {
	others []Named
	exact  map[string]Named
	looks  map[string]Named // by skeleton
	own    map[string]bool
}

// NewNames makes names of the other connectors' tools, and of the own connector's, which may be named.
func NewNames(others []Named, own []string) *Names {
	n := &Names{others: others, exact: map[string]Named{}, looks: map[string]Named{}, own: make(map[string]bool, len(own))}
	for _, o := range others {
		if _, taken := n.exact[o.Tool]; !taken {
			n.exact[o.Tool] = o
		}
		if look := skeleton(o.Tool); n.looks[look] == (Named{}) {
			n.looks[look] = o
		}
	}
	for _, name := range own {
		n.own[name] = true
	}
	return n
}

// leastEdited is the length from which on names that differ in one character are suspicious: of shorter ones, too many are.
const leastEdited = 6

// like finds a tool that has the name, looks like it, or is one character away from it. exact: it has the name.
func (n *Names) like(name string) (found Named, exact, ok bool) {
	if n == nil {
		return found, false, false
	}
	if found, ok = n.exact[name]; ok {
		return found, true, true
	}
	look := skeleton(name)
	if found, ok = n.looks[look]; ok {
		return found, false, true
	}
	if len(look) < leastEdited {
		return found, false, false
	}
	for _, o := range n.others {
		if len(o.Tool) >= leastEdited && oneEdit(name, o.Tool) {
			return o, false, true
		}
	}
	return found, false, false
}

// oneEdit tells whether one character more, less or other makes a of b.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i < len(a) && a[i+1:] == b[i+1:]
	}
	return a[i:] == b[i+1:]
}

// name judges the name of a new tool.
func (c *comparison) name() {
	other, exact, found := c.names.like(c.self)
	if !found {
		return
	}
	sentence := fmt.Sprintf("The name looks like %q, a tool of the connector %q.", other.Tool, other.Connector)
	if exact {
		sentence = fmt.Sprintf("The connector %q has a tool of the same name.", other.Connector)
	}
	c.add(Difference{Path: "name", Kind: Shadows, After: short(c.self, true), Sentence: sentence})
}

// mentions reports new texts that name another connector's tool.
func (c *comparison) mentions(was, fresh []passage) {
	if c.names == nil {
		return
	}
	c.news(Shadows, was, fresh, func(p passage) []finding {
		var found []finding
		for _, word := range telling(p.text) {
			if o, known := c.names.exact[word]; known && word != c.self && !c.names.own[word] {
				found = append(found, finding{key: word, shown: word, sentence: fmt.Sprintf("The text names %q, a tool of the connector %q.", o.Tool, o.Connector)})
			}
		}
		return found
	})
}

// telling are the words of a text that may name a tool: such as no sentence has, with a mark or a capital inside.
func telling(text string) []string {
	var words []string
	for i := 0; i < len(text); i++ {
		if !isLetter(text[i]) {
			for i < len(text) && isWord(text, i) { // a number, and what hangs on it
				i++
			}
			continue
		}
		start, marked, capital, small := i, false, false, false
		for ; i < len(text) && isWord(text, i); i++ {
			switch b := text[i]; {
			case b >= 'a' && b <= 'z':
				small = true
			case b >= 'A' && b <= 'Z':
				capital = capital || i > start
			case b < '0' || b > '9':
				marked = true
			}
		}
		if i-start >= leastEdited && (marked || capital && small) {
			words = append(words, text[start:i])
		}
	}
	return words
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// isWord tells whether a byte of a text belongs to a word: a letter, a digit, or a mark between such.
func isWord(text string, i int) bool {
	b := text[i]
	if isLetter(b) || b >= '0' && b <= '9' {
		return true
	}
	if b != '_' && b != '-' && b != '.' || i == 0 || i+1 == len(text) {
		return false
	}
	next, last := text[i+1], text[i-1]
	return (isLetter(next) || next >= '0' && next <= '9') && (isLetter(last) || last >= '0' && last <= '9')
}

// mostTelling are the words that one definition has looked up.
const mostTelling = 200

// Mentions are the words of a definition that may name another tool, for who looks their owners up before [Compare]. Those that the
// definition from before has, too, are no news.
func Mentions(before, now []byte) []string {
	fresh := telling(string(now))
	if len(fresh) == 0 {
		return nil
	}
	seen := map[string]bool{}
	for _, word := range telling(string(before)) {
		seen[word] = true
	}
	var words []string
	for _, word := range fresh {
		if len(words) < mostTelling && !seen[word] {
			words = append(words, word)
		}
		seen[word] = true
	}
	return words
}
