package httpcall

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"patchbay/internal/jsonschema"
	"patchbay/internal/openapi"
)

// Pager reads an answer that has several pages, one request at a time. The caller sends.
//
//	for r, err := p.First(); r != nil; r, err = p.Add(send(r)) { … }
type Pager struct {
	binding *openapi.Binding
	args    *jsonschema.Node // nil after the first request, unless other pages need them
	request *Request
	left    int // bytes
	pages   int
	number  int             // of the next page, or of items
	seen    map[string]bool // addresses and cursors
	first   Response
	items   [][]byte
	more    bool // pages were left out
	failed  int  // HTTP status of the page that ended the pages; 0: none failed
}

// NewPager returns a pager for a call. maxBytes bounds the items of all pages.
func NewPager(b *openapi.Binding, text json.RawMessage, maxBytes int) (*Pager, error) {
	args, err := readArguments(text)
	if err != nil {
		return nil, err
	}
	return &Pager{binding: b, args: args.Node, left: maxBytes}, nil
}

// First returns the first request.
func (p *Pager) First() (*Request, error) {
	var err error
	p.request, err = buildRequest(p.binding, arguments{p.args})
	if err == nil && p.binding.Pages != nil {
		p.number = p.binding.Pages.First
		if given := p.args.Get(p.binding.Pages.Argument); given.Is(jsonschema.Number) {
			p.number = parseInt(given.Raw)
		}
	}
	if p.binding.Pages == nil {
		p.args = nil // they may be many times as large as the request
	}
	return p.request, err
}

// Add takes the answer of the last request, and returns the next one; nil: there is none. An answer that is no list of items ends the pages.
// An error ends them too: what was read before is the answer.
func (p *Pager) Add(r Response) (*Request, error) {
	p.pages++
	if p.pages == 1 {
		p.first = r
	}
	pages := p.binding.Pages
	if pages == nil || r.Status != 200 || r.Truncated {
		if p.more = p.pages > 1; p.more && r.Status != 200 {
			p.failed = r.Status
		}
		return nil, nil
	}
	root, whole := jsonschema.Decode(r.Body, jsonschema.Limits{Values: maxValues, Depth: maxLevels})
	if !whole {
		p.more = true
		return nil, nil
	}
	list := findPointer(root, pages.Items)
	if !list.Is(jsonschema.Array) {
		return nil, nil
	}
	for _, item := range list.Items {
		if p.left -= len(item.Raw) + 1; p.left < 0 {
			p.more = true
			return nil, nil
		}
		p.items = append(p.items, []byte(item.Raw))
	}
	next, err := p.nextRequest(r, root, len(list.Items))
	if next != nil && p.pages >= min(max(pages.Max, 1), openapi.MaxPages) {
		p.more = true
		return nil, nil
	}
	return next, err
}

// Response returns the first answer with the items of all pages in place of its own.
func (p *Pager) Response() Response {
	p.first.Note = p.describeMore()
	if p.pages < 2 {
		return p.first
	}
	root, _ := jsonschema.Decode(p.first.Body, jsonschema.Limits{Values: maxValues, Depth: maxLevels})
	list := findPointer(root, p.binding.Pages.Items)
	if list == nil {
		return p.first
	}
	all := append(append([]byte{'['}, bytes.Join(p.items, []byte{','})...), ']')
	out := p.first
	from := int(list.Offset)
	out.Body = append(append(bytes.Clone(p.first.Body[:from]), all...), p.first.Body[from+len(list.Raw):]...)
	return out
}

// describeMore says that pages were left out because of a bound or an error; empty: none were.
func (p *Pager) describeMore() string {
	switch {
	case p.failed != 0:
		return "There are more pages. Page " + strconv.Itoa(p.pages) + " failed with HTTP " + strconv.Itoa(p.failed) + "."
	case p.more:
		return "There are more pages."
	}
	return ""
}

func (p *Pager) nextRequest(r Response, root *jsonschema.Node, items int) (*Request, error) {
	pages := p.binding.Pages
	next := findPointer(root, pages.Next)
	switch pages.Kind {
	case openapi.PageLink:
		address := next.Text()
		if pages.Next == "" {
			address = nextLink(r.Header.Values("Link"))
		}
		return p.followLink(address), nil
	case openapi.PageCursor:
		if pages.Next == "" || next == nil || next.Is(jsonschema.Null) || scalarText(next) == "" || p.seen[scalarText(next)] {
			return nil, nil
		}
		p.markSeen(scalarText(next))
		return p.repeatWith(next)
	case openapi.PageNumber, openapi.PageOffset:
		if items == 0 {
			return nil, nil
		}
		p.number++
		if pages.Kind == openapi.PageOffset {
			p.number += items - 1
		}
		return p.repeatWith(&jsonschema.Node{Kind: jsonschema.Number, Raw: strconv.Itoa(p.number)})
	}
	return nil, nil
}

func (p *Pager) markSeen(page string) {
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[page] = true
}

// repeatWith returns the request with another value for the argument that pages.
func (p *Pager) repeatWith(v *jsonschema.Node) (*Request, error) {
	args := jsonschema.NewObject(slices.Clone(p.args.Members)...)
	args.Set(p.binding.Pages.Argument, v)
	return buildRequest(p.binding, arguments{args})
}

// followLink returns the request for an address of the same origin and below the server's path. Any other ends the pages.
func (p *Pager) followLink(address string) *Request {
	base, err := url.Parse(p.request.URL)
	if err != nil || address == "" || len(address) > maxURL {
		return nil
	}
	target, err := base.Parse(address)
	if err != nil || target.Scheme != base.Scheme || !strings.EqualFold(target.Host, base.Host) || target.User != nil || p.seen[target.String()] {
		return nil
	}
	server, err := url.Parse(p.binding.Server)
	if err != nil || !strings.HasPrefix(target.EscapedPath(), server.EscapedPath()) {
		return nil
	}
	for segment := range strings.SplitSeq(target.EscapedPath(), "/") {
		if isDotSegment(segment) {
			return nil
		}
	}
	target.Fragment, target.Host = "", base.Host
	next := *p.request
	next.URL, next.address = target.String(), target
	p.markSeen(next.URL)
	return &next
}

// nextLink returns the address with rel=next (RFC 8288).
func nextLink(values []string) string {
	for _, value := range values {
		for rest := value; rest != ""; {
			_, after, found := strings.Cut(rest, "<")
			address, parameters, closed := strings.Cut(after, ">")
			if !found || !closed {
				break
			}
			end := strings.Index(parameters, ",<")
			if spaced := strings.Index(parameters, ", <"); end < 0 || spaced >= 0 && spaced < end {
				end = spaced
			}
			if end < 0 {
				end = len(parameters)
			}
			for parameter := range strings.SplitSeq(parameters[:end], ";") {
				name, relation, _ := strings.Cut(strings.TrimSpace(parameter), "=")
				relation = strings.ToLower(strings.Trim(strings.TrimSpace(relation), `"`))
				if strings.EqualFold(strings.TrimSpace(name), "rel") && containsWord(relation, "next") {
					return address
				}
			}
			rest = parameters[end:]
		}
	}
	return ""
}

// parseInt returns a number that is not negative; -1: the text is none.
func parseInt(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

func containsWord(text, word string) bool {
	for field := range strings.FieldsSeq(text) {
		if field == word {
			return true
		}
	}
	return false
}

// findPointer returns the value at a JSON pointer; empty: the value itself. nil: there is none.
func findPointer(n *jsonschema.Node, text string) *jsonschema.Node {
	pointer, ok := jsonschema.NewPointer("#" + text)
	if !ok {
		return nil
	}
	for n != nil && pointer != "" {
		var name string
		name, pointer = pointer.Cut()
		switch n.Kind {
		case jsonschema.Object:
			n = n.Get(name)
		case jsonschema.Array:
			i := parseInt(name)
			if i < 0 || i >= len(n.Items) {
				return nil
			}
			n = n.Items[i]
		default:
			return nil
		}
	}
	return n
}
