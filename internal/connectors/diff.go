package connectors

// ToolDiff is how a new tool list differs from what is remembered; it is what has to be written, and nothing more.
type ToolDiff struct {
	Added     []ToolWrite // not there before: new, or returned after a removal
	Changed   []ToolWrite // there before, with another definition or review
	Removed   []string    // names that the new list lacks
	Unchanged int
}

// ToolWrite is the new state of one tool.
type ToolWrite struct {
	Name     string
	Current  Hash
	Accepted *Hash // nil: nothing accepted yet
	Review   Review
	Returned bool // it was removed, and is there again
}
