package api

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/store"
)

// answer is the output of an operation that answers with a T.
type answer[T any] struct{ Body T }

// nothing is the output of an operation that answers 204.
type nothing struct{}

// list is a page of a list. Items is never null.
type list[T any] struct {
	Items      []T     `json:"items" nullable:"false"`
	NextCursor *string `json:"next_cursor" doc:"Hand it back as cursor for the next page; null at the end."`
}

// listOf makes the answer of a page, each item seen through view.
func listOf[S, T any](page store.List[S], view func(S) T) *answer[list[T]] {
	out := list[T]{Items: make([]T, 0, len(page.Items))}
	for _, item := range page.Items {
		out.Items = append(out.Items, view(item))
	}
	if page.Next != "" {
		out.NextCursor = &page.Next
	}
	return &answer[list[T]]{Body: out}
}

// Paging is the query of every list.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many items at most."`
	Cursor string `query:"cursor" doc:"next_cursor of the page before."`
}

func (p Paging) page() store.Page { return store.Page{Limit: p.Limit, Cursor: p.Cursor} }

// jsonFormat writes JSON without HTML escapes: what an upstream sent must come out as it was spelled.
var jsonFormat = huma.Format{Marshal: writeJSON, Unmarshal: json.Unmarshal}

// writeJSON encodes first, so that a failure is not half an answer. A failing write means that the caller has gone, which
// is no failure of ours.
func writeJSON(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, _ = w.Write(buf.Bytes())
	return nil
}

// orNull says in the document that a property of object type may be null; huma says so of scalars only.
func orNull(s *huma.Schema, properties ...string) *huma.Schema {
	for _, name := range properties {
		s.Properties[name] = &huma.Schema{
			Description: s.Properties[name].Description,
			OneOf:       []*huma.Schema{{Ref: s.Properties[name].Ref}, {Type: "null"}},
		}
	}
	return s
}

// utc is t in UTC, the only zone that answers speak.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// idText is an id as text; nil for none.
func idText[ID interface{ String() string }](id *ID) *string {
	if id == nil {
		return nil
	}
	s := (*id).String()
	return &s
}
