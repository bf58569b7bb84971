package openapi

import (
	"slices"
	"strings"

	"patchbay/internal/jsonschema"
)

// pageArguments are names of query parameters that page, by their kind.
var pageArguments = []struct {
	kind  PageKind
	names []string
}{
	{PageCursor, []string{"cursor", "page_token", "pageToken", "next_token", "nextToken", "start_cursor", "continue", "marker", "after", "next"}},
	{PageNumber, []string{"page", "page_number", "pageNumber", "Page"}},
	{PageOffset, []string{"offset", "startAt", "start_at", "skip", "start"}},
}

// cursorMembers are names of members of an answer that have the cursor of the next page.
var cursorMembers = []string{
	"next_cursor", "nextCursor", "next_page_token", "nextPageToken", "next_token", "nextToken", "continue", "cursor", "next_marker", "marker", "after",
}

// ProposePages returns how further pages of an operation could be read, if its document shows it; else nil. An admin decides.
func (d *Document) ProposePages(o *Operation, b *Binding) *Pages {
	if o.Method != "GET" {
		return nil
	}
	schema, hasLink := d.listAnswer(o)
	items, ok := d.findItems(schema)
	if !ok {
		return nil
	}
	if hasLink {
		return &Pages{Kind: PageLink, Items: items, Max: 5}
	}
	for _, p := range pageArguments {
		at := slices.IndexFunc(b.Parameters, func(q Parameter) bool { return q.In == "query" && slices.Contains(p.names, q.Name) })
		if at < 0 {
			continue
		}
		pages := &Pages{Kind: p.kind, Argument: b.Parameters[at].Argument, Items: items, Max: 5}
		switch p.kind {
		case PageNumber:
			pages.First = 1
		case PageCursor:
			if pages.Next = d.findCursor(schema, "", 0); pages.Next == "" {
				continue
			}
		}
		return pages
	}
	return nil
}

// listAnswer returns the schema of the answer with status 200, and whether the document gives it a Link header.
func (d *Document) listAnswer(o *Operation) (schema value, hasLink bool) {
	response, _ := d.followRef(o.node.Get("responses").Get("200"))
	for _, h := range response.Get("headers").Fields() {
		hasLink = hasLink || strings.EqualFold(h.Name, "Link")
	}
	for _, c := range d.listContent(o, response) {
		if IsJSON(c.media) {
			schema, _ = d.followRef(c.schema)
			break
		}
	}
	return schema, hasLink
}

// findItems returns the JSON pointer to the list of an answer: the answer itself, or its only member that is a list.
func (d *Document) findItems(schema value) (pointer string, ok bool) {
	if slices.Contains(readTypes(schema), "array") {
		return "", true
	}
	fields, _ := d.listFields(schema)
	for _, f := range fields {
		target, _ := d.followRef(f.schema)
		if !slices.Contains(readTypes(target), "array") {
			continue
		}
		if ok {
			return "", false
		}
		pointer, ok = "/"+escapePointer(f.name), true
	}
	return pointer, ok
}

// findCursor returns the JSON pointer to the cursor of an answer; empty: none is known.
func (d *Document) findCursor(schema value, at string, level int) string {
	fields, _ := d.listFields(schema)
	for _, f := range fields {
		if slices.Contains(cursorMembers, f.name) {
			return at + "/" + escapePointer(f.name)
		}
	}
	for _, f := range fields {
		target, _ := d.followRef(f.schema)
		if level < 2 && target.Get("properties").Is(jsonschema.Object) && f.name != "data" {
			if found := d.findCursor(target, at+"/"+escapePointer(f.name), level+1); found != "" {
				return found
			}
		}
	}
	return ""
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
