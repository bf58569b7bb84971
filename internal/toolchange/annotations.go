package toolchange

import "fmt"

// hints are what annotations say, with the defaults of the specification for what they leave out (MCP 2025-11-25, ToolAnnotations).
type hints struct{ readOnly, destructive, idempotent, openWorld bool }

func hintsOf(annotations any) hints {
	a, _ := annotations.(map[string]any)
	says := func(name string, otherwise bool) bool {
		if b, ok := a[name].(bool); ok {
			return b
		}
		return otherwise
	}
	h := hints{
		readOnly:    says("readOnlyHint", false),
		destructive: says("destructiveHint", true),
		idempotent:  says("idempotentHint", false),
		openWorld:   says("openWorldHint", true),
	}
	if h.readOnly { // the others say nothing of a tool that changes nothing
		h.destructive, h.idempotent = false, true
	}
	return h
}

// annotations compares what a tool says of itself.
func (c *comparison) annotations(before, now any) {
	was, is := hintsOf(before), hintsOf(now)
	found := len(c.change.Differences) + c.change.More
	c.hint("readOnlyHint", was.readOnly, is.readOnly, true)
	if was.readOnly == is.readOnly {
		c.hint("destructiveHint", was.destructive, is.destructive, false)
		c.hint("idempotentHint", was.idempotent, is.idempotent, true)
	}
	c.hint("openWorldHint", was.openWorld, is.openWorld, false)
	c.oddAnnotations(before, now)
	if found == len(c.change.Differences)+c.change.More {
		c.add(Difference{Path: "annotations", Kind: Cosmetic, Before: short(before, before != nil), After: short(now, now != nil),
			Sentence: "The annotations say the same in other words."})
	}
}

// hint compares one hint; safe is the value that promises more.
func (c *comparison) hint(name string, was, is, safe bool) {
	if was == is {
		return
	}
	kind, turn := AnnotationRiskier, hintSentences[name][0]
	if is == safe {
		kind, turn = AnnotationSafer, hintSentences[name][1]
	}
	c.add(Difference{Path: "annotations." + name, Kind: kind, Before: fmt.Sprint(was), After: fmt.Sprint(is), Sentence: turn})
}

// hintSentences say what it means that a hint became riskier, and safer.
var hintSentences = map[string][2]string{
	"readOnlyHint":    {"The tool no longer says that it only reads.", "The tool says now that it only reads."},
	"destructiveHint": {"The tool may now destroy what is there.", "The tool says now that it destroys nothing."},
	"idempotentHint":  {"The same call, made twice, may now do more than once.", "The same call, made twice, is now said to do no more than once."},
	"openWorldHint":   {"The tool may now reach other systems.", "The tool says now that it reaches no other systems."},
}

// oddAnnotations reports what no hint says: a member that is not known, or a hint that is neither true nor false, which programs read
// in different ways.
func (c *comparison) oddAnnotations(before, now any) {
	a, _ := before.(map[string]any)
	b, isObject := now.(map[string]any)
	if !isObject && now != nil {
		c.add(Difference{Path: "annotations", Kind: Other, After: short(now, true), Sentence: "The annotations are no object any more."})
		return
	}
	for _, name := range memberNames(a, b) {
		value, is := b[name]
		if _, known := hintSentences[name]; known {
			if _, fits := value.(bool); fits || !is {
				continue
			}
		}
		if name == "title" || equal(a[name], value) {
			continue
		}
		old, was := a[name]
		c.add(Difference{Path: "annotations." + name, Kind: Other, Before: short(old, was), After: short(value, is),
			Sentence: fmt.Sprintf("annotations.%s changed, and Patchbay does not know what it means.", name)})
	}
}
