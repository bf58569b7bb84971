package api

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/store"
)

// response is the output of an operation that responds with a T.
type response[T any] struct{ Body T }

// noContent is the output of an operation that responds with 204.
type noContent struct{}

// list is a page of a list. Items is never null.
type list[T any] struct {
	Items      []T     `json:"items" nullable:"false"`
	NextCursor *string `json:"next_cursor" doc:"Pass it as cursor for the next page. Null on the last page."`
}

// newListResponse converts a page with view.
func newListResponse[S, T any](page store.List[S], view func(S) T) *response[list[T]] {
	out := list[T]{Items: make([]T, 0, len(page.Items))}
	for _, item := range page.Items {
		out.Items = append(out.Items, view(item))
	}
	if page.Next != "" {
		out.NextCursor = &page.Next
	}
	return &response[list[T]]{Body: out}
}

// Paging is the query of every list.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Maximum number of items."`
	Cursor string `query:"cursor" doc:"next_cursor of the previous page."`
}

func (p Paging) toPage() store.Page { return store.Page{Limit: p.Limit, Cursor: p.Cursor} }

// jsonFormat writes JSON without HTML escapes, so that upstream text keeps its spelling.
var jsonFormat = huma.Format{Marshal: writeJSON, Unmarshal: json.Unmarshal}

// writeJSON encodes first, so that a failure leaves no partial response. A write error means that the caller is
// gone, and is ignored.
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

// setNullable marks object properties as nullable in the document; huma does so for scalars only.
func setNullable(s *huma.Schema, properties ...string) *huma.Schema {
	for _, name := range properties {
		s.Properties[name] = &huma.Schema{
			Description: s.Properties[name].Description,
			OneOf:       []*huma.Schema{{Ref: s.Properties[name].Ref}, {Type: "null"}},
		}
	}
	return s
}

// toUTC converts t to UTC, the only zone in responses.
func toUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

func idText[ID interface{ String() string }](id *ID) *string {
	if id == nil {
		return nil
	}
	s := (*id).String()
	return &s
}
