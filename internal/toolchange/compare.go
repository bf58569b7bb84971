package toolchange

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Compare returns what changed between two definitions. Both are JSON from the server, or its instructions as
// {"instructions": "..."}. A nil before means a new tool, a nil now a removed one. names are the tools that it
// could imitate; nil: none.
func Compare(before, now []byte, names *Names) Change {
	r := &changeBuilder{kinds: map[Kind]bool{}}
	switch {
	case before == nil && now == nil:
		return r.buildChange()
	case now == nil:
		r.add(Difference{Kind: Removed, Sentence: "The server does not list the tool any more."})
		return r.buildChange()
	}
	next, readable := splitMembers(now)
	var old definitionMembers
	if before != nil && readable {
		old, readable = splitMembers(before)
	}
	if !readable {
		r.add(Difference{Kind: Other, Sentence: "The definition cannot be read: it is no object."})
		return r.buildChange()
	}
	c := comparison{changeBuilder: r, names: names}
	if raw, named := next.values["name"]; named {
		c.toolName, _ = decodeValue(raw).(string)
	}
	var twice bool
	if c.before, c.now, twice = decodeDifferences(old, next); twice {
		r.add(Difference{Kind: Other, Sentence: "The definition names a member twice: programs read it in different ways."})
	}
	if before == nil {
		return c.compareNewTool()
	}
	c.compareMembers()
	c.compareTexts()
	if len(r.kinds) == 0 && string(before) != string(now) {
		r.kinds[Cosmetic] = true
	}
	return r.buildChange()
}

// comparison is a comparison in progress.
type comparison struct {
	*changeBuilder
	before, now map[string]any // members with different bytes
	toolName    string
	names       *Names
}

// compareNewTool rates a new tool. It has low risk if it claims to be read-only and nothing else is found.
func (c *comparison) compareNewTool() Change {
	c.compareTexts()
	c.checkName()
	reads := newToolHints(c.now["annotations"]).readOnly
	if reads && len(c.kinds) == 0 {
		c.change.Risk = Low
	} else {
		c.change.Risk = High
	}
	risk := c.change.Risk
	sentence := "The tool is new, and does not say that it only reads."
	if reads {
		sentence = "The tool is new, and says that it only reads."
	}
	c.change.Differences = slices.Insert(c.change.Differences, 0, Difference{Kind: NewTool, Sentence: sentence})
	c.kinds[NewTool] = true
	change := c.buildChange()
	change.Risk = risk
	return change
}

// cosmeticMembers neither instruct a model nor move data.
var cosmeticMembers = map[string]bool{"title": true, "icons": true, "_meta": true}

// compareMembers compares the changed members in order of their names.
func (c *comparison) compareMembers() {
	for _, name := range memberNames(c.before, c.now) {
		before, hadBefore := c.before[name]
		now, hasNow := c.now[name]
		if hadBefore == hasNow && equalValues(before, now) { // equal but spelled differently
			continue
		}
		switch {
		case cosmeticMembers[name]:
			c.add(Difference{Path: name, Kind: Cosmetic, Before: shortJSON(before, hadBefore), After: shortJSON(now, hasNow),
				Sentence: fmt.Sprintf("%s changed, which no model acts on.", name)})
		case name == "description":
			c.compareText("description", Text, before, now, hadBefore, hasNow)
		case name == "instructions" && c.toolName == "":
			c.compareText("instructions", Instructions, before, now, hadBefore, hasNow)
		case name == "inputSchema":
			c.compareSchemas("arguments", before, now)
		case name == "outputSchema":
			c.compareOutputSchema(before, now)
		case name == "annotations":
			c.compareAnnotations(before, now)
		default:
			c.add(Difference{Path: name, Kind: Other, Before: shortJSON(before, hadBefore), After: shortJSON(now, hasNow),
				Sentence: fmt.Sprintf("%s changed, and Patchbay does not know what it means.", name)})
		}
	}
}

// compareText compares text for models.
func (c *comparison) compareText(path string, kind Kind, before, now any, hadBefore, hasNow bool) {
	a, aText := before.(string)
	b, bText := now.(string)
	if (aText || !hadBefore) && (bText || !hasNow) && collapseSpace(a) == collapseSpace(b) {
		c.add(Difference{Path: path, Kind: Cosmetic, Sentence: "Only white space changed here."})
		return
	}
	sentence := "The text that agents read changed."
	switch {
	case !hadBefore:
		sentence = "There is text now for agents to read."
	case !hasNow:
		sentence = "The text that agents read is gone."
	}
	c.add(Difference{Path: path, Kind: kind, Before: shortJSON(before, hadBefore), After: shortJSON(now, hasNow), Sentence: sentence})
}

// compareOutputSchema reports every structural change as OutputSchema, because no data flows to the server.
// Texts are compared as usual.
func (c *comparison) compareOutputSchema(before, now any) {
	c.mapKind = func(k Kind) Kind {
		if k == Text || k == Cosmetic {
			return k
		}
		return OutputSchema
	}
	c.compareSchemas("result", before, now)
	c.mapKind = nil
}

// shortJSON returns a value as shortened JSON.
func shortJSON(v any, ok bool) string {
	if !ok {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return truncateText(unescapeHTML(text))
}
