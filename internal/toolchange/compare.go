package toolchange

import (
	"bytes"
	"fmt"
	"slices"
)

// Compare returns what changed between two definitions. Both are JSON from the server, or its instructions as
// {"instructions": "..."}. A nil before means a new tool, a nil now a removed one. names are the tools that it
// could imitate; nil: none. What the budget leaves out is reported as too large, with high risk.
func (b *Budget) Compare(before, now []byte, names *Names) Change {
	r := &changeBuilder{kinds: map[Kind]bool{}, work: b.newWork()}
	defer b.chargeWork(r.work)
	switch {
	case bytes.Equal(before, now) && (before == nil) == (now == nil):
		return r.buildChange()
	case now == nil && IsSkill(before):
		r.add(Difference{Kind: Removed, Sentence: "The server no longer lists this skill."})
		return r.buildChange()
	case now == nil:
		r.add(Difference{Kind: Removed, Sentence: "The server no longer lists this tool."})
		return r.buildChange()
	}
	c := comparison{changeBuilder: r, names: names, isNew: before == nil, isForeign: b.IsForeign, rawBefore: before, rawNow: now, isSkill: IsSkill(now)}
	if size := len(before) + len(now); size > maxComparedBytes || !r.work.spendUnits(rawByteWork*size) {
		c.isIncomplete = true
	} else if !c.readDefinitions(before, now) {
		r.addUncompared("", Other, "The definition isn't an object.")
		return r.buildChange()
	}
	if c.isNew {
		c.checkName()
		c.checkServer()
	} else {
		c.compareMembers()
	}
	r.work.releaseReserve()
	c.compareTexts()
	switch {
	case c.isNew && c.isSkill:
		return c.buildNewSkill()
	case c.isNew:
		return c.buildNewTool()
	}
	if len(r.kinds) == 0 {
		r.kinds[Cosmetic] = true
	}
	return r.buildChange()
}

// comparison is a comparison in progress.
type comparison struct {
	*changeBuilder
	isNew        bool
	isSkill      bool
	before, now  map[string]any // members with different bytes
	tooLarge     []string       // names of such members that are not decoded
	isIncomplete bool           // a part is missing in before or now
	toolName     string
	names        *Names
	isForeign    func(server string) bool // nil: no server is

	rawBefore, rawNow []byte
}

// readDefinitions decodes what differs; false: a definition is no object.
func (c *comparison) readDefinitions(before, now []byte) bool {
	var old definitionMembers
	next, ok := splitMembers(now, c.work)
	if ok && !c.isNew {
		old, ok = splitMembers(before, c.work)
	}
	if !ok {
		return false
	}
	if c.work.isExhausted() {
		c.isIncomplete = true
		return true
	}
	if raw := next.values["name"]; len(raw) > 0 && raw[0] == '"' {
		c.toolName, _ = decodeValue(raw).(string)
	}
	d := decodeDifferences(old, next, c.work)
	c.before, c.now, c.tooLarge, c.isIncomplete = d.before, d.now, d.tooLarge, len(d.tooLarge) > 0
	if d.hasDuplicates {
		c.add(Difference{Kind: Other, Sentence: "The definition has a duplicate member, which programs interpret differently."})
	}
	return true
}

// buildNewTool rates a new tool. It has low risk if it claims to be read-only and nothing else is found.
func (c *comparison) buildNewTool() Change {
	reads := newToolHints(c.now["annotations"]).readOnly
	risk, sentence := High, "The tool is new and doesn't say it's read-only."
	if reads {
		sentence = "The tool is new and says it's read-only."
		if len(c.kinds) == 0 {
			risk = Low
		}
	}
	if !c.isIncomplete || reads { // an incomplete definition may say so
		c.change.Differences = slices.Insert(c.change.Differences, 0, Difference{Kind: NewTool, Sentence: sentence})
	}
	c.kinds[NewTool] = true
	change := c.buildChange()
	change.Risk = risk
	return change
}

// cosmeticMembers neither instruct a model nor move data.
var cosmeticMembers = map[string]bool{"title": true, "icons": true, "_meta": true}

// compareMembers compares the changed members in order of their names, until the work is exhausted.
func (c *comparison) compareMembers() {
	for _, name := range c.tooLarge {
		c.addTooLarge(name)
	}
	for _, name := range c.work.memberNames(c.before, c.now) {
		c.compareMember(name)
		if c.work.isExhausted() {
			c.addTooLarge(name)
			return
		}
	}
}

func (c *comparison) addTooLarge(member string) {
	title := memberTitle(member)
	c.addUncompared(title, TypeChanged, title+" is too large to compare fully.")
}

// memberTitle returns the readable path of a member.
func memberTitle(name string) string {
	switch name {
	case "inputSchema":
		return "arguments"
	case "outputSchema":
		return "result"
	case BindingMember:
		return "request"
	}
	return truncateText(name)
}

func (c *comparison) compareMember(name string) {
	before, hadBefore := c.before[name]
	now, hasNow := c.now[name]
	if hadBefore == hasNow && c.work.equalValues(before, now) { // equal but spelled differently
		return
	}
	switch {
	case cosmeticMembers[name]:
		c.add(Difference{Path: name, Kind: Cosmetic, Before: c.shortJSON(before, hadBefore), After: c.shortJSON(now, hasNow),
			Sentence: fmt.Sprintf("%s changed, which models ignore.", name)})
	case name == "description":
		c.compareText("description", Text, before, now, hadBefore, hasNow)
	case name == "instructions" && c.toolName == "":
		c.compareText("instructions", Instructions, before, now, hadBefore, hasNow)
	case name == "frontmatter" && c.isSkill:
		c.compareFrontmatter(before, now)
	case name == "resources" && c.isSkill:
		c.compareSkillFiles(before, now)
	case name == "inputSchema":
		c.compareSchemas(memberTitle(name), before, now)
	case name == "outputSchema":
		c.compareOutputSchema(before, now)
	case name == "annotations":
		c.compareAnnotations(before, now)
	case name == BindingMember:
		c.compareBindings(before, now)
	default:
		c.add(Difference{Path: truncateText(name), Kind: Other, Before: c.shortJSON(before, hadBefore), After: c.shortJSON(now, hasNow),
			Sentence: fmt.Sprintf("%s changed; its meaning is unknown.", truncateText(name))})
	}
}

// compareText compares text for models.
func (c *comparison) compareText(path string, kind Kind, before, now any, hadBefore, hasNow bool) {
	a, aText := before.(string)
	b, bText := now.(string)
	if !c.work.spendUnits(2 * (len(a) + len(b))) {
		return
	}
	if (aText || !hadBefore) && (bText || !hasNow) && collapseSpace(a) == collapseSpace(b) {
		c.add(Difference{Path: path, Kind: Cosmetic, Sentence: "Only white space changed."})
		return
	}
	sentence := "The text for agents changed."
	switch {
	case !hadBefore:
		sentence = "A text for agents was added."
	case !hasNow:
		sentence = "The text for agents was removed."
	}
	c.add(Difference{Path: path, Kind: kind, Before: c.shortJSON(before, hadBefore), After: c.shortJSON(now, hasNow), Sentence: sentence})
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
	c.compareSchemas(memberTitle("outputSchema"), before, now)
	c.mapKind = nil
}
