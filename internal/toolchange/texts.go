package toolchange

import "strings"

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

// Bounds of the search, beside its work. Texts beyond them are reported, not searched.
const (
	maxDepth         = 64
	maxSearchedBytes = 128 << 10 // of new texts
)

// textCollector collects the texts of a definition in a stable order.
type textCollector struct {
	work        *work
	all         []definitionText
	isTruncated bool // a bound was reached
}

func collectTexts(definition map[string]any, isSkill bool, w *work) textCollector {
	p := textCollector{work: w}
	for _, name := range w.memberNames(definition, nil) {
		if name == BindingMember || isSkill && skillFileMembers[name] {
			continue // neither models nor people are shown it
		}
		seen := forModels
		switch name {
		case "_meta":
			seen = forClients
		case "icons":
			seen = forPeople
		}
		path := memberTitle(name)
		p.addText(path, name, seen)
		p.collectFrom(path, definition[name], seen, 1)
	}
	return p
}

func (p *textCollector) addText(path, text string, seen audience) {
	if !p.work.spendUnits(textWork + len(path)) {
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
		for _, name := range p.work.memberNames(v, nil) {
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
	return path + "." + truncateText(name)
}

// compareTexts searches the new texts, until the work is exhausted.
func (c *comparison) compareTexts() {
	c.searchTexts()
	if c.isIncomplete || c.work.isExhausted() {
		c.addUncompared("", TypeChanged, "The definition is too large or deep to check fully.")
	}
}

func (c *comparison) searchTexts() {
	old, next := collectTexts(c.before, c.isSkill, c.work), collectTexts(c.now, c.isSkill, c.work)
	fresh := c.newTexts(old.all, next.all)
	c.compareHiddenText(old.all, next.all, fresh)
	fresh, over := limitTexts(fresh)
	c.isIncomplete = c.isIncomplete || over || next.isTruncated && !c.work.equalValues(c.before, c.now)
	oldTexts, _ := limitTexts(old.all)
	c.addFindings(NewLink, oldTexts, fresh, c.findLinks)
	c.addFindings(InstructionLike, oldTexts, fresh, c.findInstructions)
	c.compareMentions(oldTexts, fresh)
}

// newTexts returns the texts of next that old does not have.
func (c *comparison) newTexts(old, next []definitionText) []definitionText {
	known := make(map[string]bool, len(old))
	for _, p := range old {
		known[p.text] = true
	}
	var fresh []definitionText
	for _, p := range next {
		if !known[p.text] {
			fresh = append(fresh, p)
		}
	}
	return fresh
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
	in := c.countHidden(fresh)
	if len(in) == 0 {
		return
	}
	before, now := c.countHidden(old), c.countHidden(next)
	isNew := func(r rune) bool { return Hidden(r) && now[r] >= before[r] }
	for _, p := range fresh {
		if c.work.spendUnits(hiddenByteWork*len(p.text)) && strings.ContainsFunc(p.text, isNew) {
			c.add(Difference{Path: p.path, Kind: HiddenText, After: c.shortJSON(p.text, true),
				Sentence: "Some characters here are visible to models but not to people."})
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
			c.add(Difference{Path: p.path, Kind: kind, After: c.shortJSON(f.shown, true), Sentence: f.sentence})
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

// excerptAround returns a match with its context, in whole words where they are short.
func excerptAround(text string, from, to int) string {
	const before, after, maxWord = 30, 90, 20
	start, end := max(0, from-before), min(len(text), to+after)
	switch word := strings.LastIndexByte(text[max(0, start-maxWord):start], ' '); {
	case word >= 0:
		start = max(0, start-maxWord) + word + 1
	case start <= maxWord:
		start = 0 // in the first word
	}
	switch word := strings.IndexByte(text[end:min(len(text), end+maxWord)], ' '); {
	case word >= 0:
		end += word
	case len(text)-end <= maxWord:
		end = len(text) // in the last word
	}
	excerpt := strings.TrimSpace(strings.ToValidUTF8(text[start:end], ""))
	if start > 0 {
		excerpt = "…" + excerpt
	}
	if end < len(text) {
		excerpt += "…"
	}
	return excerpt
}
