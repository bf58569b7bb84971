package htmlcheck

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Page is a parsed document.
type Page struct {
	root *html.Node
	all  []*html.Node // the elements, in the order of the document
}

// Parse reads a document, or a piece of one.
func Parse(tb testing.TB, body string) *Page {
	tb.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		tb.Fatalf("parse page: %v", err)
	}
	p := &Page{root: root}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			p.all = append(p.all, n)
		}
	}
	return p
}

// Element is one element of a page.
type Element struct{ node *html.Node }

// Attr returns the attribute's value; empty where there is none.
func (e Element) Attr(name string) string {
	v, _ := attr(e.node, name)
	return v
}

// Has reports whether the element has the attribute, even an empty one.
func (e Element) Has(name string) bool {
	_, ok := attr(e.node, name)
	return ok
}

// Text is what the element says, with runs of white space as one space.
func (e Element) Text() string { return text(e.node) }

// All returns the elements of that tag name, in the order of the page.
func (p *Page) All(tag string) []Element {
	var found []Element
	for _, n := range p.all {
		if n.Data == tag {
			found = append(found, Element{n})
		}
	}
	return found
}

// ByID returns the element with that id; ok is false where there is none.
func (p *Page) ByID(id string) (e Element, ok bool) {
	n := p.byID(id)
	return Element{n}, n != nil
}

// Text is what the first element of that tag name says; empty where there is none.
func (p *Page) Text(tag string) string {
	for _, e := range p.All(tag) {
		return e.Text()
	}
	return ""
}

// Control returns the first input, select, textarea or button with that name; ok is false where there is none.
func (p *Page) Control(name string) (e Element, ok bool) {
	for _, n := range p.all {
		switch n.Data {
		case "input", "select", "textarea", "button":
			if v, _ := attr(n, "name"); v == name {
				return Element{n}, true
			}
		}
	}
	return Element{}, false
}

func (p *Page) byID(id string) *html.Node {
	for _, n := range p.all {
		if v, ok := attr(n, "id"); ok && v == id {
			return n
		}
	}
	return nil
}

func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func within(n *html.Node, tag string) *html.Node {
	for up := range n.Ancestors() {
		if up.Type == html.ElementNode && up.Data == tag {
			return up
		}
	}
	return nil
}
