package connectors

import (
	"bytes"
	"encoding/json"
	"unicode"
)

// What the policy hold_risky lets pass without a person. It is conservative: what it does not understand is risky.
//
//	a new tool        that says it only reads (annotations.readOnlyHint), without hidden text
//	a changed tool    where nothing changed but its title, its icons, _meta and white space, without new hidden text

// harmless are the members of a definition that instruct no model and move no data.
var harmless = []string{"title", "icons", "_meta"}

// riskyTool tells whether a new tool waits for a person.
func riskyTool(raw []byte) bool {
	annotations := members(members(raw)["annotations"])
	return string(annotations["readOnlyHint"]) != "true" || hidesText(raw)
}

// riskyChange tells whether a changed tool waits for a person.
func riskyChange(before, now []byte) bool {
	old, next := members(before), members(now)
	if old == nil || next == nil {
		return true
	}
	return !sameBut(old, next, harmless...) || hidesText(now) && !hidesText(before)
}

// sameBut tells whether two objects have equal members, those of except aside. annotations.title is a title, too.
func sameBut(a, b map[string]json.RawMessage, except ...string) bool {
	for _, name := range except {
		delete(a, name)
		delete(b, name)
	}
	if len(a) != len(b) {
		return false
	}
	for name, va := range a {
		vb, there := b[name]
		if !there {
			return false
		}
		if same(va, vb) {
			continue
		}
		ma, mb := members(va), members(vb)
		if name != "annotations" || ma == nil || mb == nil || !sameBut(ma, mb, "title") {
			return false
		}
	}
	return true
}

// same tells whether two values are spelled alike, white space aside.
func same(a, b []byte) bool {
	var ca, cb bytes.Buffer
	return json.Compact(&ca, a) == nil && json.Compact(&cb, b) == nil && bytes.Equal(ca.Bytes(), cb.Bytes())
}

// hidesText tells whether a string anywhere in raw, or a member's name, has characters that a model reads and a person does
// not see: zero-width and direction marks, tag characters, variation selectors past the common ones.
func hidesText(raw []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			return false
		}
		if s, ok := token.(string); ok {
			for _, r := range s {
				if Hidden(r) {
					return true
				}
			}
		}
	}
}

// Hidden tells whether a character is one that a model reads and a person does not see, or that turns text around.
func Hidden(r rune) bool {
	const zeroWidthJoiner = 0x200d // emoji are made with it
	switch {
	case r == zeroWidthJoiner:
		return false
	case r >= 0xe0100 && r <= 0xe01ef: // variation selectors supplement
		return true
	default: // the second are fillers, which look like a blank or like nothing
		return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
	}
}
