package toolchange

import (
	"slices"
	"strings"
)

// passage is one text of a definition: a string, or a member's name.
type passage struct {
	path string
	text string
	seen sight
}

// sight says who reads a passage.
type sight int

const (
	toModels  sight = iota // descriptions, names, values
	toClients              // _meta: programs act on it, and its addresses are no news
	toEyes                 // icons: pictures of the server
)

// How much of a definition is looked through. Longer ones are judged by their beginning, and said to be too long.
const (
	mostPassages = 20_000
	mostDepth    = 64
	mostSearched = 128 << 10 // bytes of new texts
)

// passages collects all texts of a definition, in a stable order.
type passages struct {
	all  []passage
	over bool // there was more
}

func passagesOf(definition map[string]any) passages {
	var p passages
	for _, name := range memberNames(definition, nil) {
		seen := toModels
		switch name {
		case "_meta":
			seen = toClients
		case "icons":
			seen = toEyes
		}
		path := name
		switch name {
		case "inputSchema":
			path = "arguments"
		case "outputSchema":
			path = "result"
		}
		p.take(path, name, seen)
		p.walk(path, definition[name], seen, 1)
	}
	return p
}

func (p *passages) take(path, text string, seen sight) {
	if len(p.all) == mostPassages {
		p.over = true
		return
	}
	p.all = append(p.all, passage{path: path, text: text, seen: seen})
}

func (p *passages) walk(path string, v any, seen sight, depth int) {
	if depth > mostDepth || p.over {
		p.over = true
		return
	}
	switch v := v.(type) {
	case string:
		p.take(path, v, seen)
	case []any:
		for _, item := range v {
			p.walk(path, item, seen, depth+1)
		}
	case map[string]any:
		for _, name := range memberNames(v, nil) {
			inner := within(path, name)
			p.take(inner, name, seen)
			if at := seen; v[name] != nil {
				if addresses[name] {
					at = max(at, toClients)
				}
				p.walk(inner, v[name], at, depth+1)
			}
		}
	}
}

// addresses are the keywords of a schema whose values are addresses that nobody visits.
var addresses = map[string]bool{"$schema": true, "$id": true, "$ref": true}

// structural are the keywords of a schema that a path for people leaves out.
var structural = map[string]bool{"properties": true, "description": true, "title": true, "enum": true, "const": true}

func within(path, name string) string {
	switch {
	case structural[name]:
		return path
	case name == "items":
		return path + "[]"
	case len(path) > mostShown:
		return path
	}
	return path + "." + name
}

// words looks through the texts that are new.
func (c *comparison) words() {
	was, is := passagesOf(c.before), passagesOf(c.now)
	known := make(map[string]bool, len(was.all))
	for _, p := range was.all {
		known[p.text] = true
	}
	var fresh []passage
	for _, p := range is.all {
		if !known[p.text] {
			fresh = append(fresh, p)
		}
	}
	c.hiddenText(was.all, is.all, fresh)
	fresh, over := searchable(fresh)
	if over || is.over && !equal(c.before, c.now) {
		c.add(Difference{Kind: TypeChanged, Sentence: "The definition is too large or too deep to be looked through whole."})
	}
	old, _ := searchable(was.all)
	c.news(NewLink, old, fresh, linksOf)
	c.news(InstructionLike, old, fresh, orders)
	c.mentions(old, fresh)
}

// searchable are the texts in which something is looked for: as many as a person waits for. over: there are more.
func searchable(fresh []passage) (some []passage, over bool) {
	left := mostSearched
	for i, p := range fresh {
		if len(p.text) > left {
			fresh[i].text = strings.ToValidUTF8(p.text[:left], "")
			return fresh[:i+1], true
		}
		left -= len(p.text)
	}
	return fresh, false
}

// hiddenText reports new texts with hidden characters, unless there are fewer of these than before.
func (c *comparison) hiddenText(was, is, fresh []passage) {
	in := hidden(fresh)
	if len(in) == 0 {
		return
	}
	before, now := hidden(was), hidden(is)
	for _, p := range fresh {
		if slices.ContainsFunc([]rune(p.text), func(r rune) bool { return Hidden(r) && now[r] >= before[r] }) {
			c.add(Difference{Path: p.path, Kind: HiddenText, After: short(p.text, true),
				Sentence: "There are characters here that a model reads and a person does not see."})
		}
	}
}

// finding is what a search finds in a passage.
type finding struct {
	key      string // equal for what is the same
	shown    string
	sentence string
}

// news reports what a search finds in new passages and did not find in the old ones.
func (c *comparison) news(kind Kind, was, fresh []passage, search func(passage) []finding) {
	var known map[string]bool
	for _, p := range fresh {
		for _, f := range search(p) {
			if known == nil { // the old ones are looked through only where there is something
				known = map[string]bool{}
				for _, old := range was {
					for _, f := range search(old) {
						known[f.key] = true
					}
				}
			}
			if known[f.key] {
				continue
			}
			known[f.key] = true
			c.add(Difference{Path: p.path, Kind: kind, After: short(f.shown, true), Sentence: f.sentence})
		}
	}
}

// plain is a text as its words are looked for: lower case, one blank where there is white space, without hidden characters, and with
// the letter for what looks like one.
func plain(s string) string {
	if lower := strings.ToLower(s); isASCII(lower) {
		return spaced(lower)
	}
	return spaced(strings.Map(func(r rune) rune {
		if Hidden(r) {
			return -1
		}
		return lookalike(r)
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

// around is the part of a text in which something was found.
func around(text string, from, to int) string {
	const before, after = 30, 90
	from, to = max(0, from-before), min(len(text), to+after)
	return strings.ToValidUTF8(text[from:to], "")
}
