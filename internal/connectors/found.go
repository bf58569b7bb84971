package connectors

// FoundKind is the kind of a search result.
type FoundKind string

// What can be found by its name.
const (
	FoundConnector FoundKind = "connector"
	FoundAgent     FoundKind = "agent"
	FoundTool      FoundKind = "tool"
)

// Found is a search result.
type Found struct {
	Kind FoundKind
	Slug string // a tool's name
	Name string

	OfSlug, OfName string // a tool's connector
}
