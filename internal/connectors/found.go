package connectors

// FoundKind says what was found.
type FoundKind string

// What can be found by its name.
const (
	FoundConnector FoundKind = "connector"
	FoundAgent     FoundKind = "agent"
	FoundTool      FoundKind = "tool"
)

// Found is something that was found by its name.
type Found struct {
	Kind FoundKind
	Slug string // a tool's is its name
	Name string

	OfSlug, OfName string // a tool's connector
}
