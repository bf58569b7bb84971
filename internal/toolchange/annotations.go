package toolchange

import "fmt"

// toolHints are a tool's annotations with the defaults of the specification (MCP 2025-11-25, ToolAnnotations).
type toolHints struct{ readOnly, destructive, idempotent, openWorld bool }

func newToolHints(annotations any) toolHints {
	a, _ := annotations.(map[string]any)
	hintValue := func(name string, otherwise bool) bool {
		if b, ok := a[name].(bool); ok {
			return b
		}
		return otherwise
	}
	h := toolHints{
		readOnly:    hintValue("readOnlyHint", false),
		destructive: hintValue("destructiveHint", true),
		idempotent:  hintValue("idempotentHint", false),
		openWorld:   hintValue("openWorldHint", true),
	}
	if h.readOnly { // the other hints are meaningless then
		h.destructive, h.idempotent = false, true
	}
	return h
}

func (c *comparison) compareAnnotations(before, now any) {
	old, next := newToolHints(before), newToolHints(now)
	found := len(c.change.Differences) + c.change.More
	c.compareHint("readOnlyHint", old.readOnly, next.readOnly, true)
	c.compareWriteHint("destructiveHint", before, now, [2]bool{old.destructive, next.destructive}, false)
	c.compareWriteHint("idempotentHint", before, now, [2]bool{old.idempotent, next.idempotent}, true)
	c.compareHint("openWorldHint", old.openWorld, next.openWorld, false)
	c.compareUnknownAnnotations(before, now)
	if found == len(c.change.Differences)+c.change.More {
		c.add(Difference{Path: "annotations", Kind: Cosmetic, Before: c.shortJSON(before, before != nil), After: c.shortJSON(now, now != nil),
			Sentence: "The annotations are reworded, not changed."})
	}
}

// compareWriteHint compares a hint that has a meaning only for tools that write. Where readOnlyHint decides it, it is a
// difference only if the server states another value.
func (c *comparison) compareWriteHint(name string, before, now any, effective [2]bool, safe bool) {
	a, _ := before.(map[string]any)
	b, _ := now.(map[string]any)
	old, wasStated := a[name].(bool)
	next, isStated := b[name].(bool)
	switch {
	case wasStated && isStated:
		c.compareHint(name, old, next, safe)
	case wasStated || isStated || newToolHints(before).readOnly == newToolHints(now).readOnly:
		c.compareHint(name, effective[0], effective[1], safe)
	}
}

// compareHint compares one hint; safe is its safer value.
func (c *comparison) compareHint(name string, old, next, safe bool) {
	if old == next {
		return
	}
	kind, turn := AnnotationRiskier, hintSentences[name][0]
	if next == safe {
		kind, turn = AnnotationSafer, hintSentences[name][1]
	}
	c.add(Difference{Path: "annotations." + name, Kind: kind, Before: fmt.Sprint(old), After: fmt.Sprint(next), Sentence: turn})
}

// hintSentences describe a hint that became riskier, and safer.
var hintSentences = map[string][2]string{
	"readOnlyHint":    {"The tool no longer says it's read-only.", "The tool now says it's read-only."},
	"destructiveHint": {"The tool may now be destructive.", "The tool now says it isn't destructive."},
	"idempotentHint":  {"The tool may no longer be idempotent.", "The tool now says it's idempotent."},
	"openWorldHint":   {"The tool may now reach other systems.", "The tool now says it reaches no other systems."},
}

// compareUnknownAnnotations reports unknown members, and hints that are not boolean. Programs interpret those
// differently.
func (c *comparison) compareUnknownAnnotations(before, now any) {
	a, _ := before.(map[string]any)
	b, isObject := now.(map[string]any)
	if !isObject && now != nil {
		c.add(Difference{Path: "annotations", Kind: Other, After: c.shortJSON(now, true), Sentence: "The annotations are no longer an object."})
		return
	}
	for _, name := range c.work.memberNames(a, b) {
		value, hasNow := b[name]
		if _, known := hintSentences[name]; known {
			if _, fits := value.(bool); fits || !hasNow {
				continue
			}
		}
		if name == "title" || c.work.equalValues(a[name], value) {
			continue
		}
		old, hadBefore := a[name]
		c.add(Difference{Path: "annotations." + truncateText(name), Kind: Other, Before: c.shortJSON(old, hadBefore), After: c.shortJSON(value, hasNow),
			Sentence: fmt.Sprintf("annotations.%s changed; its meaning is unknown.", truncateText(name))})
	}
}
