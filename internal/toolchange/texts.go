package toolchange

import (
	"slices"
	"strings"
)

// definitionText is a string or a member name of a definition.
type definitionText struct {
	path     string
	text     string
	audience audience
}

// audience is the reader of a text.
type audience int

const (
	forModels  audience = iota // descriptions, names, values
	forClients                 // _meta: for programs, so its links are no finding
	forPeople                  // icons
)

// Bounds of the search. Texts beyond them are reported, not searched.
const (
	maxTexts         = 20_000
	maxDepth         = 64
	maxSearchedBytes = 128 << 10 // of new texts
)

// textCollector collects the texts of a definition in a stable order.
type textCollector struct {
	all         []definitionText
	isTruncated bool // a bound was reached
}

func collectTexts(definition map[string]any) textCollector {
	var p textCollector
	for _, name := range memberNames(definition, nil) {
		seen := forModels
		switch name {
		case "_meta":
			seen = forClients
		case "icons":
			seen = forPeople
		}
		path := name
		switch name {
		case "inputSchema":
			path = "arguments"
		case "outputSchema":
			path = "result"
		}
		p.addText(path, name, seen)
		p.collectFrom(path, definition[name], seen, 1)
	}
	return p
}

func (p *textCollector) addText(path, text string, seen audience) {
	if len(p.all) == maxTexts {
		p.isTruncated = true
		return
	}
	p.all = append(p.all, definitionText{path: path, text: text, audience: seen})
}

func (p *textCollector) collectFrom(path string, v any, seen audience, depth int) {
	if depth > maxDepth || p.isTruncated {
		p.isTruncated = true
		return
	}
	switch v := v.(type) {
	case string:
		p.addText(path, v, seen)
	case []any:
		for _, item := range v {
			p.collectFrom(path, item, seen, depth+1)
		}
	case map[string]any:
		for _, name := range memberNames(v, nil) {
			inner := childPath(path, name)
			p.addText(inner, name, seen)
			if memberAudience := seen; v[name] != nil {
				if addressKeywords[name] {
					memberAudience = max(memberAudience, forClients)
				}
				p.collectFrom(inner, v[name], memberAudience, depth+1)
			}
		}
	}
}

// addressKeywords are schema keywords with URLs that are not requested.
var addressKeywords = map[string]bool{"$schema": true, "$id": true, "$ref": true}

// structuralKeywords are omitted from readable paths.
var structuralKeywords = map[string]bool{"properties": true, "description": true, "title": true, "enum": true, "const": true}

func childPath(path, name string) string {
	switch {
	case structuralKeywords[name]:
		return path
	case name == "items":
		return path + "[]"
	case len(path) > maxShownBytes:
		return path
	}
	return path + "." + name
}

// compareTexts searches the new texts.
func (c *comparison) compareTexts() {
	old, next := collectTexts(c.before), collectTexts(c.now)
	known := make(map[string]bool, len(old.all))
	for _, p := range old.all {
		known[p.text] = true
	}
	var fresh []definitionText
	for _, p := range next.all {
		if !known[p.text] {
			fresh = append(fresh, p)
		}
	}
	c.compareHiddenText(old.all, next.all, fresh)
	fresh, over := limitTexts(fresh)
	if over || next.isTruncated && !equalValues(c.before, c.now) {
		c.add(Difference{Kind: TypeChanged, Sentence: "The definition is too large or too deep to be looked through whole."})
	}
	oldTexts, _ := limitTexts(old.all)
	c.addFindings(NewLink, oldTexts, fresh, findLinks)
	c.addFindings(InstructionLike, oldTexts, fresh, findInstructions)
	c.compareMentions(oldTexts, fresh)
}

// limitTexts returns texts of at most maxSearchedBytes; over: some were cut.
func limitTexts(fresh []definitionText) (some []definitionText, over bool) {
	remaining := maxSearchedBytes
	for i, p := range fresh {
		if len(p.text) > remaining {
			fresh[i].text = strings.ToValidUTF8(p.text[:remaining], "")
			return fresh[:i+1], true
		}
		remaining -= len(p.text)
	}
	return fresh, false
}

// compareHiddenText reports new texts with hidden characters, unless their number fell.
func (c *comparison) compareHiddenText(old, next, fresh []definitionText) {
	in := countHidden(fresh)
	if len(in) == 0 {
		return
	}
	before, now := countHidden(old), countHidden(next)
	for _, p := range fresh {
		if slices.ContainsFunc([]rune(p.text), func(r rune) bool { return Hidden(r) && now[r] >= before[r] }) {
			c.add(Difference{Path: p.path, Kind: HiddenText, After: shortJSON(p.text, true),
				Sentence: "There are characters here that a model reads and a person does not see."})
		}
	}
}

// finding is one match of a search.
type finding struct {
	key      string // equal for equal matches
	shown    string
	sentence string
}

// addFindings reports matches in new texts that the old texts do not have.
func (c *comparison) addFindings(kind Kind, old, fresh []definitionText, search func(definitionText) []finding) {
	var known map[string]bool
	for _, p := range fresh {
		for _, f := range search(p) {
			if known == nil { // searched on the first match only
				known = map[string]bool{}
				for _, old := range old {
					for _, f := range search(old) {
						known[f.key] = true
					}
				}
			}
			if known[f.key] {
				continue
			}
			known[f.key] = true
			c.add(Difference{Path: p.path, Kind: kind, After: shortJSON(f.shown, true), Sentence: f.sentence})
		}
	}
}

// normalizeText prepares a text for a search: lower case, single spaces, no hidden characters, and Latin
// letters for look-alikes.
func normalizeText(s string) string {
	if lower := strings.ToLower(s); isASCII(lower) {
		return collapseSpace(lower)
	}
	return collapseSpace(strings.Map(func(r rune) rune {
		if Hidden(r) {
			return -1
		}
		return latinLookalike(r)
	}, strings.ToLower(s)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// excerptAround returns a match with its context.
func excerptAround(text string, from, to int) string {
	const before, after = 30, 90
	from, to = max(0, from-before), min(len(text), to+after)
	return strings.ToValidUTF8(text[from:to], "")
}
