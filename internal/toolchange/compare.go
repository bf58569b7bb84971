package toolchange

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Compare says what changed from one definition to the other. Both are the JSON that the server sent, or its instructions as
// {"instructions": "..."}; before nil: the tool is new; now nil: it was removed. names are the tools that it could be taken for;
// nil: there are none.
func Compare(before, now []byte, names *Names) Change {
	r := &report{kinds: map[Kind]bool{}}
	switch {
	case before == nil && now == nil:
		return r.sum()
	case now == nil:
		r.add(Difference{Kind: Removed, Sentence: "The server does not list the tool any more."})
		return r.sum()
	}
	is, readable := split(now)
	var was parts
	if before != nil && readable {
		was, readable = split(before)
	}
	if !readable {
		r.add(Difference{Kind: Other, Sentence: "The definition cannot be read: it is no object."})
		return r.sum()
	}
	c := comparison{report: r, names: names}
	if raw, named := is.value["name"]; named {
		c.self, _ = decode(raw).(string)
	}
	var twice bool
	if c.before, c.now, twice = differing(was, is); twice {
		r.add(Difference{Kind: Other, Sentence: "The definition names a member twice: programs read it in different ways."})
	}
	if before == nil {
		return c.fresh()
	}
	c.members()
	c.words()
	if len(r.kinds) == 0 && string(before) != string(now) {
		r.kinds[Cosmetic] = true
	}
	return r.sum()
}

// comparison is one that is under way.
type comparison struct {
	*report
	before, now map[string]any // the members that are not the same bytes
	self        string         // the tool's name
	names       *Names
}

// fresh judges a tool that was not there. One that says that it only reads, and no more than that, is of low risk.
func (c *comparison) fresh() Change {
	c.words()
	c.name()
	reads := hintsOf(c.now["annotations"]).readOnly
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
	change := c.sum()
	change.Risk = risk
	return change
}

// cosmetic are the members that instruct no model and move no data.
var cosmetic = map[string]bool{"title": true, "icons": true, "_meta": true}

// members compares the definition member by member, in the order of their names.
func (c *comparison) members() {
	for _, name := range memberNames(c.before, c.now) {
		before, was := c.before[name]
		now, is := c.now[name]
		if was == is && equal(before, now) { // written in another way
			continue
		}
		switch {
		case cosmetic[name]:
			c.add(Difference{Path: name, Kind: Cosmetic, Before: short(before, was), After: short(now, is),
				Sentence: fmt.Sprintf("%s changed, which no model acts on.", name)})
		case name == "description":
			c.prose("description", Text, before, now, was, is)
		case name == "instructions" && c.self == "":
			c.prose("instructions", Instructions, before, now, was, is)
		case name == "inputSchema":
			c.schemas("arguments", before, now)
		case name == "outputSchema":
			c.outputs(before, now)
		case name == "annotations":
			c.annotations(before, now)
		default:
			c.add(Difference{Path: name, Kind: Other, Before: short(before, was), After: short(now, is),
				Sentence: fmt.Sprintf("%s changed, and Patchbay does not know what it means.", name)})
		}
	}
}

// prose compares what a model reads.
func (c *comparison) prose(path string, kind Kind, before, now any, was, is bool) {
	a, aText := before.(string)
	b, bText := now.(string)
	if (aText || !was) && (bText || !is) && spaced(a) == spaced(b) {
		c.add(Difference{Path: path, Kind: Cosmetic, Sentence: "Only white space changed here."})
		return
	}
	sentence := "The text that agents read changed."
	switch {
	case !was:
		sentence = "There is text now for agents to read."
	case !is:
		sentence = "The text that agents read is gone."
	}
	c.add(Difference{Path: path, Kind: kind, Before: short(before, was), After: short(now, is), Sentence: sentence})
}

// outputs compares the output schema. It moves nothing towards the server, so that its structure is one kind of its own; its texts are
// read all the same.
func (c *comparison) outputs(before, now any) {
	c.sees = func(k Kind) Kind {
		if k == Text || k == Cosmetic {
			return k
		}
		return OutputSchema
	}
	c.schemas("result", before, now)
	c.sees = nil
}

// short is a value as JSON, cut where it is long.
func short(v any, there bool) string {
	if !there {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return cut(unescaped(text))
}
