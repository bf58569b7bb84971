package htmlcheck

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Sound reports what no page of ours may have: see [Page.Faults].
func (p *Page) Sound(tb testing.TB) {
	tb.Helper()
	for _, f := range p.Faults() {
		tb.Error(f)
	}
}

// Faults lists what is wrong with a whole page. A sound page
//
//   - has a title, a language and one h1, and skips no level of headings
//   - has no inline style or script, which the content security policy forbids, and no value that htmx would evaluate
//   - has unique ids, and refers to none that is not there
//   - names every control, button and link, and gives every button a type
//   - never offers an empty choice that the browser refuses
//   - never fills in a password, and marks every time with the machine's form of it
func (p *Page) Faults() []string {
	var faults []string
	say := func(n *html.Node, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s: %s", outline(n), fmt.Sprintf(format, args...)))
	}
	p.checkDocument(say)
	p.checkReferences(say)
	for _, n := range p.all {
		checkInline(n, say)
		p.checkNames(n, say)
		checkForms(n, say)
	}
	return faults
}

type report func(n *html.Node, format string, args ...any)

func (p *Page) checkDocument(say report) {
	headings, level := 0, 0
	for _, n := range p.all {
		switch n.Data {
		case "html":
			if lang, _ := attr(n, "lang"); lang == "" {
				say(n, "the page names no language")
			}
		case "h1", "h2", "h3", "h4", "h5", "h6":
			at := int(n.Data[1] - '0')
			if n.Data == "h1" {
				headings++
			}
			// What comes before the h1 is the frame of the page, whose headings start at 2.
			if headings > 0 && at > level+1 && level > 0 {
				say(n, "a heading of level %d follows one of level %d", at, level)
			}
			level = at
			if text(n) == "" {
				say(n, "the heading is empty")
			}
		case "th":
			if scope, _ := attr(n, "scope"); scope == "" {
				say(n, "the table head says not what it is the head of")
			}
		case "time":
			if at, _ := attr(n, "datetime"); at == "" {
				say(n, "the time has no datetime")
			}
		}
	}
	if headings != 1 {
		say(p.root, "the page has %d h1, not one", headings)
	}
	if p.Text("title") == "" {
		say(p.root, "the page has no title")
	}
}

// references are the attributes that hold ids.
var references = []string{"for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-activedescendant", "popovertarget", "list", "form"}

func (p *Page) checkReferences(say report) {
	ids := map[string]bool{}
	for _, n := range p.all {
		id, ok := attr(n, "id")
		if !ok {
			continue
		}
		if ids[id] || id == "" || strings.ContainsAny(id, " \t\n") {
			say(n, "the id %q is empty, holds a space, or is there twice", id)
		}
		ids[id] = true
	}
	for _, n := range p.all {
		for _, name := range references {
			value, _ := attr(n, name)
			for id := range strings.FieldsSeq(value) {
				if !ids[id] {
					say(n, "%s refers to %q, which is not there", name, id)
				}
			}
		}
		if href, _ := attr(n, "href"); n.Data == "a" && len(href) > 1 && href[0] == '#' && !ids[href[1:]] {
			say(n, "the link leads to %s, which is not there", href)
		}
	}
}

func checkInline(n *html.Node, say report) {
	switch n.Data {
	case "style":
		if within(n, "svg") == nil {
			say(n, "there is inline style")
		}
	case "script":
		if src, _ := attr(n, "src"); src == "" {
			say(n, "there is inline script")
		}
	}
	for _, a := range n.Attr {
		value := strings.ToLower(strings.TrimSpace(a.Val))
		switch {
		case a.Key == "style":
			say(n, "there is inline style")
		case strings.HasPrefix(a.Key, "on"), strings.HasPrefix(a.Key, "hx-on"):
			say(n, "%s is inline script", a.Key)
		case strings.HasPrefix(value, "javascript:"):
			say(n, "%s is script", a.Key)
		case strings.HasPrefix(a.Key, "hx-") && (strings.HasPrefix(value, "js:") || a.Key == "hx-trigger" && strings.Contains(value, "[")):
			say(n, "%s would be evaluated", a.Key)
		}
	}
}

func (p *Page) checkNames(n *html.Node, say report) {
	switch n.Data {
	case "a", "button", "summary":
		if name(n) == "" {
			say(n, "nothing names it")
		}
		if kind, _ := attr(n, "type"); n.Data == "button" && kind == "" {
			say(n, "the button has no type")
		}
	case "input", "select", "textarea":
		kind, _ := attr(n, "type")
		if kind == "hidden" || kind == "submit" || p.labelled(n) {
			return
		}
		say(n, "nothing labels it")
	case "img":
		if _, ok := attr(n, "alt"); !ok {
			say(n, "the image has no alt")
		}
	case "dialog", "nav":
		if name, _ := attr(n, "aria-label"); name == "" {
			say(n, "nothing names it")
		}
	}
}

func (p *Page) labelled(n *html.Node) bool {
	for _, direct := range []string{"aria-label", "aria-labelledby"} {
		if v, _ := attr(n, direct); v != "" {
			return true
		}
	}
	if hidden, _ := attr(n, "aria-hidden"); hidden == "true" {
		return true
	}
	if label := within(n, "label"); label != nil && text(label) != "" {
		return true
	}
	id, _ := attr(n, "id")
	for _, l := range p.all {
		if v, ok := attr(l, "for"); l.Data == "label" && ok && v == id && text(l) != "" {
			return true
		}
	}
	return false
}

func checkForms(n *html.Node, say report) {
	switch n.Data {
	case "form":
		if action, _ := attr(n, "action"); action == "" {
			say(n, "the form goes nowhere")
		}
	case "input":
		kind, _ := attr(n, "type")
		if value, _ := attr(n, "value"); kind == "password" && value != "" {
			say(n, "the password is filled in")
		}
	case "select":
		_, required := attr(n, "required")
		for o := range n.Descendants() {
			if value, set := attr(o, "value"); required && o.Data == "option" && set && value == "" {
				say(n, "the browser refuses an empty choice where one is required")
			}
		}
	}
}

func name(n *html.Node) string {
	if label, _ := attr(n, "aria-label"); label != "" {
		return label
	}
	return text(n)
}

// outline is enough of an element to find it by.
func outline(n *html.Node) string {
	if n.Type != html.ElementNode {
		return "page"
	}
	var b strings.Builder
	b.WriteString("<" + n.Data)
	for _, a := range n.Attr {
		switch a.Key {
		case "id", "name", "class", "href", "action", "type":
			fmt.Fprintf(&b, " %s=%q", a.Key, a.Val)
		}
	}
	b.WriteString(">")
	if t := []rune(text(n)); len(t) > 0 {
		b.WriteString(string(t[:min(len(t), 40)]))
	}
	return b.String()
}
