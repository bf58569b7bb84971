package store

// Page asks for a part of a list.
type Page struct {
	Limit  int    // 1–200; 0: 50
	Cursor string // List.Next of the part before; empty: the first part
}

// List is a part of a list.
type List[T any] struct {
	Items []T
	Next  string // the next part's cursor; empty: this is the end
}
