package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ItemKind says on which list an entry stands.
type ItemKind uint8

// The kinds of entries.
const (
	ToolItem ItemKind = iota
	PromptItem
	ResourceItem
	TemplateItem
)

// Shape is how an entry of a list compares with what MCP's schema says, in the reading of the official SDKs. Their clients refuse a
// whole list for one entry that is not as they expect it.
type Shape struct {
	Defect string // why the entry cannot be listed, a sentence; empty: it can
	Edits  []Edit // how the entry is written so that every SDK reads it, in the order of their places; none: as it came
}

// Edit replaces the bytes from From to To of an entry.
type Edit struct {
	From, To int
	Text     string
}

// Apply returns the entry as every SDK reads it. Without edits that is raw itself.
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

// CheckItem compares one entry, a JSON text, with the schema of its kind. Members whose names are in without are edited out.
//
// Edits keep the meaning: an optional member that is null is left out, a schema without a type gets the type "object", which MCP
// demands, and the schemas true and false become {} and {"not":{}}.
func CheckItem(kind ItemKind, raw []byte, without ...string) Shape {
	s := &scanner{data: raw}
	c := checker{scanner: s, without: without}
	err := c.item(kind)
	if err == nil && s.peek() != 0 {
		err = ErrSyntax
	}
	if err != nil {
		return Shape{Defect: brokenReason(err)}
	}
	slices.SortStableFunc(c.edits, func(a, b Edit) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	if kind == ToolItem {
		c.defect = c.toolEntry().Defect
	}
	return Shape{Defect: c.defect, Edits: c.edits}
}

const notAnObject = "The entry is not an object."

// checker compares the values that a scanner reads with what they must be.
type checker struct {
	*scanner
	without []string       // members of the entry that are edited out
	path    [maxSteps]step // to the member that is being read
	steps   int            // of path
	defect  string         // the first one
	edits   []Edit
	name    []byte // the value of the entry's name as it stands there; of several the first that is no string, else the last
}

// maxSteps is how deep the tables of members go, and one for a schema's property.
const maxSteps = 4

// step is one part of a path.
type step struct {
	name  string
	index int // in a list; -1: the member is none
}

// item reads one entry.
func (c *checker) item(kind ItemKind) error {
	c.overflow = ""
	if c.peek() != '{' {
		c.defect = notAnObject
		return c.value()
	}
	if err := c.object(items[kind]); err != nil {
		return err
	}
	if c.overflow != "" && c.defect == "" {
		c.defect = "The entry holds the number " + c.overflow + ", which is too large for most programs."
	}
	return nil
}

// object reads an object, whose members must be as described. Others may be anything.
func (c *checker) object(members []member) error {
	if err := c.enter(); err != nil {
		return err
	}
	var seen uint32 // by the index of the member
	kept, comma := 0, 0
	for more := c.peek() != '}'; more; {
		start := c.pos
		key, err := c.key()
		if err != nil {
			return err
		}
		i := find(members, key)
		drop := false
		if i < 0 {
			err = c.value()
		} else {
			drop, err = c.member(&members[i])
			if !drop {
				seen |= 1 << i
			}
		}
		if err != nil {
			return err
		}
		end := c.pos
		if more, err = c.next('}'); err != nil {
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
	c.absent(members, seen, kept)
	return c.leave()
}

// find returns the index of the member of that name; -1: there is none.
func find(members []member, key []byte) int {
	for i := range members {
		if members[i].name == string(key) {
			return i
		}
	}
	return -1
}

// key reads the name of a member and the colon after it.
func (c *checker) key() ([]byte, error) {
	if c.peek() != '"' {
		return nil, ErrSyntax
	}
	key, err := c.str()
	if err != nil {
		return nil, err
	}
	if c.escaped {
		key = keyOf(key)
	} else {
		key = key[1 : len(key)-1]
	}
	if c.peek() != ':' {
		return nil, ErrSyntax
	}
	c.pos++
	return key, nil
}

// next reports whether another element follows, and reads the comma before it. Else the scanner stands at the end.
func (c *checker) next(end byte) (bool, error) {
	switch c.peek() {
	case ',':
		c.pos++
		return true, nil
	case end:
		return false, nil
	}
	return false, ErrSyntax
}

// absent adds what has to be there and is not, or notes that it is missing.
func (c *checker) absent(members []member, seen uint32, kept int) {
	for i := range members {
		switch m := &members[i]; {
		case seen&(1<<i) != 0:
		case m.missing != "":
			text := m.missing
			if kept++; kept > 1 {
				text = "," + text
			}
			c.edits = append(c.edits, Edit{From: c.pos, To: c.pos, Text: text})
		case m.required:
			c.into(m.name)
			c.wrong(func(at string) string { return fmt.Sprintf("The member %q is missing; MCP requires it.", at) })
			c.steps--
		}
	}
}

// member reads a value, and reports whether the member is to be left out.
func (c *checker) member(m *member) (drop bool, err error) {
	if m.kind == nameText {
		return false, c.readName()
	}
	c.into(m.name)
	first := c.peek()
	drop = first == 'n' && !m.required || c.steps == 1 && slices.Contains(c.without, m.name)
	if drop {
		err = c.value()
	} else {
		err = c.check(m, first)
	}
	c.steps--
	return drop, err
}

// into goes one step down the path.
func (c *checker) into(name string) {
	c.path[c.steps] = step{name, -1}
	c.steps++
}

// readName keeps the name of the entry, which is judged when all is read.
func (c *checker) readName() error {
	c.peek()
	start := c.pos
	err := c.value()
	if len(c.name) == 0 || c.name[0] == '"' {
		c.name = c.data[start:c.pos]
	}
	return err
}

// check reads a value, which must be as m says.
func (c *checker) check(m *member, first byte) error {
	if !m.kind.begins(first) {
		c.mistyped(first, m)
		return c.value()
	}
	switch m.kind {
	case object:
		return c.object(m.members)
	case texts, objects:
		return c.list(m)
	case schemas:
		return c.schemas(m)
	}
	start := c.pos
	if err := c.value(); err != nil {
		return err
	}
	c.judge(m, c.data[start:c.pos])
	return nil
}

// list reads an array of strings or objects.
func (c *checker) list(m *member) error {
	at := c.steps - 1
	i := 0
	err := c.array(func() error {
		c.path[at].index = i
		i++
		first := c.peek()
		switch {
		case m.kind == objects && first == '{':
			return c.object(m.members)
		case m.kind == texts && first == '"':
			start := c.pos
			err := c.value()
			if err == nil {
				c.judge(m, c.data[start:c.pos])
			}
			return err
		}
		c.mistyped(first, m)
		return c.value()
	})
	c.path[at].index = -1
	return err
}

// schemas reads an object whose members are schemas.
func (c *checker) schemas(m *member) error {
	return c.scanner.object(func(key []byte) error {
		first := c.peek()
		start := c.pos
		if err := c.value(); err != nil {
			return err
		}
		switch first {
		case '{', '[':
		case 't':
			c.edits = append(c.edits, Edit{From: start, To: c.pos, Text: "{}"})
		case 'f':
			c.edits = append(c.edits, Edit{From: start, To: c.pos, Text: `{"not":{}}`})
		default:
			c.into(strings.ToValidUTF8(string(key[:min(len(key), maxNameLength)]), ""))
			c.mistyped(first, m)
			c.steps--
		}
		return nil
	})
}

// mistyped notes that the value of the member at the path is of a wrong type. first is the value's first byte.
func (c *checker) mistyped(first byte, m *member) {
	want := m.kind.typeName()
	if c.path[c.steps-1].index >= 0 {
		want = m.kind.elementTypeName()
	}
	c.wrong(func(at string) string {
		return fmt.Sprintf("The member %q is of the JSON type %s; MCP requires %s.", at, typeName(first), want)
	})
}

// wrong notes the first defect. say gets the path, with a dot between names.
func (c *checker) wrong(say func(at string) string) {
	if c.defect != "" {
		return
	}
	if c.steps == 1 && c.path[0].name == "inputSchema" {
		c.defect = "The tool's inputSchema is not an object."
		return
	}
	var at strings.Builder
	for i, s := range c.path[:c.steps] {
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
