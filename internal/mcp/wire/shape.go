package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ItemKind is the kind of a list entry.
type ItemKind uint8

// The kinds of list entries.
const (
	ToolItem ItemKind = iota
	PromptItem
	ResourceItem
	TemplateItem
)

// Shape is the result of checking a list entry against MCP's schema as the official SDKs read it. Their clients
// refuse a whole list for one invalid entry.
type Shape struct {
	Defect string // why the entry cannot be listed, as a sentence; empty: it can
	Edits  []Edit // edits after which every SDK accepts the entry, in order
}

// Edit replaces the bytes from From to To.
type Edit struct {
	From, To int
	Text     string
}

// Apply returns the edited entry, or raw itself if there are no edits.
func (s Shape) Apply(raw []byte) []byte {
	if len(s.Edits) == 0 {
		return raw
	}
	out, at := make([]byte, 0, len(raw)+64), 0
	for _, e := range s.Edits {
		out = append(append(out, raw[at:e.From]...), e.Text...)
		at = e.To
	}
	return append(out, raw[at:]...)
}

// CheckItem checks one entry against the schema of its kind. Edits remove the members named in without.
//
// Edits keep the meaning: an optional null member is removed, a schema without a type gets "object", which MCP
// requires, the schemas true and false become {} and {"not":{}}, and a tool's schema or input_schema becomes the missing
// inputSchema.
func CheckItem(kind ItemKind, raw []byte, without ...string) Shape {
	s := &scanner{data: raw}
	c := itemChecker{scanner: s, without: without}
	err := c.checkItem(kind)
	if err == nil && s.peek() != 0 {
		err = ErrSyntax
	}
	if err != nil {
		return Shape{Defect: brokenReason(err)}
	}
	slices.SortStableFunc(c.edits, func(a, b Edit) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	if kind == ToolItem {
		c.defect = c.newToolEntry().Defect
	}
	return Shape{Defect: c.defect, Edits: c.edits}
}

const notAnObject = "Not an object."

// itemChecker checks the values that a scanner reads.
type itemChecker struct {
	*scanner
	without     []string           // members to remove from the entry
	path        [maxSteps]pathStep // of the current member
	depthOfPath int                // length of path
	defect      string             // the first one
	edits       []Edit
	name        []byte // raw value of name: of duplicates the first that is no string, else the last
	alias       aliasMember
	renames     []Edit // edits that give a member its name instead of an alias; edits has them, too
}

// aliasMember is the first member of the entry under an alias of a rule.
type aliasMember struct {
	rule             int // its index
	key, colon, from int // offsets of the key, of the byte after the colon and of the value; from 0: there is no such member
}

// maxSteps is the depth of the rules, plus one for a schema's property.
const maxSteps = 4

// pathStep is one step of a path.
type pathStep struct {
	name  string
	index int // in a list; -1: not a list
}

// checkItem checks one entry.
func (c *itemChecker) checkItem(kind ItemKind) error {
	c.overflow = ""
	if c.peek() != '{' {
		c.defect = notAnObject
		return c.skipValue()
	}
	if err := c.checkObject(itemRules[kind]); err != nil {
		return err
	}
	if c.overflow != "" && c.defect == "" {
		c.defect = "The entry contains the number " + c.overflow + ", which is too large for most programs."
	}
	return nil
}

// checkObject checks the members of an object that have a rule.
func (c *itemChecker) checkObject(members []memberRule) error {
	if err := c.openBracket(); err != nil {
		return err
	}
	var seen uint32 // bit set of member indexes
	kept, comma := 0, 0
	for more := c.peek() != '}'; more; {
		start := c.pos
		key, err := c.readKey()
		if err != nil {
			return err
		}
		i := ruleIndex(members, key)
		drop := false
		if i < 0 {
			c.noteAlias(members, key, start)
			err = c.skipValue()
		} else {
			drop, err = c.checkMember(&members[i])
			if !drop {
				seen |= 1 << i
			}
		}
		if err != nil {
			return err
		}
		end := c.pos
		if more, err = c.nextElement('}'); err != nil {
			return err
		}
		switch {
		case !drop:
			kept++
		case kept > 0:
			c.edits = append(c.edits, Edit{From: comma, To: end})
		case more:
			c.edits = append(c.edits, Edit{From: start, To: c.pos})
		default:
			c.edits = append(c.edits, Edit{From: start, To: end})
		}
		comma = c.pos - 1
	}
	if err := c.checkAlias(members, &seen); err != nil {
		return err
	}
	c.addMissing(members, seen, kept)
	return c.closeBracket()
}

// ruleIndex returns the index of a member's rule; -1: none.
func ruleIndex(members []memberRule, key []byte) int {
	for i := range members {
		if members[i].name == string(key) {
			return i
		}
	}
	return -1
}

// noteAlias notes a member of the entry that has an alias of a rule for its name. The scanner is after its colon.
func (c *itemChecker) noteAlias(members []memberRule, key []byte, start int) {
	if c.depthOfPath > 0 || c.alias.from > 0 {
		return
	}
	i := slices.IndexFunc(members, func(m memberRule) bool { return slices.Contains(m.aliases, string(key)) })
	colon := c.pos
	if i >= 0 && c.peek() == '{' {
		c.alias = aliasMember{rule: i, key: start, colon: colon, from: c.pos}
	}
}

// checkAlias renames a member with an alias for its name if no member has the name itself.
func (c *itemChecker) checkAlias(members []memberRule, seen *uint32) error {
	found := c.alias
	if c.depthOfPath > 0 || found.from == 0 || *seen&(1<<found.rule) != 0 {
		return nil
	}
	m, end := &members[found.rule], c.pos
	c.renames = append(c.renames, Edit{From: found.key, To: found.colon, Text: `"` + m.name + `":`})
	c.edits = append(c.edits, c.renames...)
	*seen |= 1 << found.rule
	c.pos = found.from
	_, err := c.checkMember(m)
	c.pos = end
	return err
}

// readKey reads a key and its colon.
func (c *itemChecker) readKey() ([]byte, error) {
	if c.peek() != '"' {
		return nil, ErrSyntax
	}
	key, err := c.readString()
	if err != nil {
		return nil, err
	}
	if c.escaped {
		key = unquoteKey(key)
	} else {
		key = key[1 : len(key)-1]
	}
	if c.peek() != ':' {
		return nil, ErrSyntax
	}
	c.pos++
	return key, nil
}

// nextElement reads a comma and reports whether another element follows. Otherwise the scanner is at end.
func (c *itemChecker) nextElement(end byte) (bool, error) {
	switch c.peek() {
	case ',':
		c.pos++
		return true, nil
	case end:
		return false, nil
	}
	return false, ErrSyntax
}

// addMissing adds the fallback of each missing member, or reports it as a defect.
func (c *itemChecker) addMissing(members []memberRule, seen uint32, kept int) {
	for i := range members {
		switch m := &members[i]; {
		case seen&(1<<i) != 0:
		case m.fallback != "":
			text := m.fallback
			if kept++; kept > 1 {
				text = "," + text
			}
			c.edits = append(c.edits, Edit{From: c.pos, To: c.pos, Text: text})
		case m.required:
			c.pushStep(m.name)
			c.reportDefect(func(at string) string { return fmt.Sprintf("Missing %q, which MCP requires.", at) })
			c.depthOfPath--
		}
	}
}

// checkMember checks a value and reports whether the member is to be removed.
func (c *itemChecker) checkMember(m *memberRule) (drop bool, err error) {
	if m.kind == kindName {
		return false, c.readName()
	}
	c.pushStep(m.name)
	first := c.peek()
	drop = first == 'n' && !m.required || c.depthOfPath == 1 && slices.Contains(c.without, m.name)
	if drop {
		err = c.skipValue()
	} else {
		err = c.checkValue(m, first)
	}
	c.depthOfPath--
	return drop, err
}

// pushStep appends a step to the path.
func (c *itemChecker) pushStep(name string) {
	c.path[c.depthOfPath] = pathStep{name, -1}
	c.depthOfPath++
}

// readName stores the name, which is checked after the whole entry.
func (c *itemChecker) readName() error {
	c.peek()
	start := c.pos
	err := c.skipValue()
	if len(c.name) == 0 || c.name[0] == '"' {
		c.name = c.data[start:c.pos]
	}
	return err
}

// checkValue checks a value against a rule.
func (c *itemChecker) checkValue(m *memberRule, first byte) error {
	if !m.kind.canBegin(first) {
		c.reportType(first, m)
		return c.skipValue()
	}
	switch m.kind {
	case kindObject:
		return c.checkObject(m.members)
	case kindTexts, kindObjects:
		return c.checkList(m)
	case kindSchemas:
		return c.checkSchemas(m)
	}
	start := c.pos
	if err := c.skipValue(); err != nil {
		return err
	}
	c.checkContent(m, c.data[start:c.pos])
	return nil
}

// checkList checks an array of strings or objects.
func (c *itemChecker) checkList(m *memberRule) error {
	at := c.depthOfPath - 1
	i := 0
	err := c.readArray(func() error {
		c.path[at].index = i
		i++
		first := c.peek()
		switch {
		case m.kind == kindObjects && first == '{':
			return c.checkObject(m.members)
		case m.kind == kindTexts && first == '"':
			start := c.pos
			err := c.skipValue()
			if err == nil {
				c.checkContent(m, c.data[start:c.pos])
			}
			return err
		}
		c.reportType(first, m)
		return c.skipValue()
	})
	c.path[at].index = -1
	return err
}

// checkSchemas checks an object of schemas.
func (c *itemChecker) checkSchemas(m *memberRule) error {
	return c.scanner.readObject(func(key []byte) error {
		first := c.peek()
		start := c.pos
		if err := c.skipValue(); err != nil {
			return err
		}
		switch first {
		case '{', '[':
		case 't':
			c.edits = append(c.edits, Edit{From: start, To: c.pos, Text: "{}"})
		case 'f':
			c.edits = append(c.edits, Edit{From: start, To: c.pos, Text: `{"not":{}}`})
		default:
			c.pushStep(strings.ToValidUTF8(string(key[:min(len(key), maxNameLength)]), ""))
			c.reportType(first, m)
			c.depthOfPath--
		}
		return nil
	})
}

// reportType reports a value of the wrong type. first is its first byte.
func (c *itemChecker) reportType(first byte, m *memberRule) {
	want := m.kind.typeName()
	if c.path[c.depthOfPath-1].index >= 0 {
		want = m.kind.elementTypeName()
	}
	c.reportDefect(func(at string) string {
		return fmt.Sprintf("%q has JSON type %s; MCP requires %s.", at, typeName(first), want)
	})
}

// reportDefect records the first defect. say receives the dotted path.
func (c *itemChecker) reportDefect(say func(at string) string) {
	if c.defect != "" {
		return
	}
	if c.depthOfPath == 1 && c.path[0].name == "inputSchema" {
		c.defect = "The inputSchema isn't an object."
		return
	}
	var at strings.Builder
	for i, s := range c.path[:c.depthOfPath] {
		if i > 0 {
			at.WriteByte('.')
		}
		at.WriteString(s.name)
		if s.index >= 0 {
			fmt.Fprintf(&at, "[%d]", s.index)
		}
	}
	c.defect = say(at.String())
}
