package toolchange

import (
	"fmt"
	"iter"
)

// Named is a tool of another connector.
type Named struct{ Connector, Tool string }

// Names are the tools of the tenant's other connectors that a tool could imitate. A nil Names is empty.
type Names struct {
	others     []Named
	exact      map[string]Named
	bySkeleton map[string]Named
	own        map[string]bool
}

// NewNames returns the names of other connectors' tools, without false matches for the connector's own ones.
func NewNames(others []Named, own []string) *Names {
	n := &Names{others: others, exact: map[string]Named{}, bySkeleton: map[string]Named{}, own: make(map[string]bool, len(own))}
	for _, o := range others {
		if _, taken := n.exact[o.Tool]; !taken {
			n.exact[o.Tool] = o
		}
		if look := nameSkeleton(o.Tool); n.bySkeleton[look] == (Named{}) {
			n.bySkeleton[look] = o
		}
	}
	for _, name := range own {
		n.own[name] = true
	}
	return n
}

// minFuzzyLength is the length from which names that differ in one character are suspicious. Shorter names are
// often similar.
const minFuzzyLength = 6

// findSimilar finds a tool with an equal name (exact), a look-alike one, or one that is one edit apart.
func (n *Names) findSimilar(name string) (found Named, exact, ok bool) {
	if n == nil {
		return found, false, false
	}
	if found, ok = n.exact[name]; ok {
		return found, true, true
	}
	look := nameSkeleton(name)
	if found, ok = n.bySkeleton[look]; ok {
		return found, false, true
	}
	if len(look) < minFuzzyLength {
		return found, false, false
	}
	for _, o := range n.others {
		if len(o.Tool) >= minFuzzyLength && isOneEditApart(name, o.Tool) {
			return o, false, true
		}
	}
	return found, false, false
}

// isOneEditApart reports whether one inserted, deleted or replaced character makes a of b.
func isOneEditApart(a, b string) bool {
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

// checkName compares a new tool's name with those of other connectors.
func (c *comparison) checkName() {
	other, exact, found := c.names.findSimilar(c.toolName)
	if !found {
		return
	}
	sentence := fmt.Sprintf("The name resembles %q, a tool of the connector %q.", other.Tool, other.Connector)
	if exact {
		sentence = fmt.Sprintf("The connector %q has a tool of the same name.", other.Connector)
	}
	c.add(Difference{Path: "name", Kind: Shadows, After: c.shortJSON(c.toolName, true), Sentence: sentence})
}

// compareMentions reports new texts that name another connector's tool.
func (c *comparison) compareMentions(old, fresh []definitionText) {
	if c.names == nil {
		return
	}
	c.addFindings(Shadows, old, fresh, func(p definitionText) []finding {
		var found []finding
		if !c.work.spendUnits(nameByteWork * len(p.text)) {
			return nil
		}
		for word := range toolNames(p.text) {
			if o, known := c.names.exact[word]; known && word != c.toolName && !c.names.own[word] {
				found = append(found, finding{key: word, shown: word, sentence: fmt.Sprintf("The text names %q, a tool of the connector %q.", o.Tool, o.Connector)})
			}
		}
		return found
	})
	if _, isCut := findMentions(c.rawBefore, c.rawNow, c.work); isCut {
		c.addUncompared("", Shadows, fmt.Sprintf("The texts have more possible tool names than the %d that Patchbay checks.", maxMentions))
	}
}

// toolNames returns the words of a text that look like tool names: with a separator or a capital inside.
func toolNames(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(text); i++ {
			start := i
			for i < len(text) && isWordByte(text, i) {
				i++
			}
			if word := text[start:i]; isToolName(word) && !yield(word) {
				return
			}
		}
	}
}

func isToolName(word string) bool {
	if len(word) < minFuzzyLength || !isLetter(word[0]) { // a number has no name as its suffix
		return false
	}
	marked, capital, small := false, false, false
	for i := range len(word) {
		switch b := word[i]; {
		case b >= 'a' && b <= 'z':
			small = true
		case b >= 'A' && b <= 'Z':
			capital = capital || i > 0
		case b < '0' || b > '9':
			marked = true
		}
	}
	return marked || capital && small
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// isWordByte reports whether a byte belongs to a word: a letter, a digit, or a separator between them.
func isWordByte(text string, i int) bool {
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
