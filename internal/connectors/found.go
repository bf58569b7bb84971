package connectors

// FoundKind is the kind of a search result.
type FoundKind string

// What can be found by its name.
const (
	FoundConnector FoundKind = "connector"
	FoundAgent     FoundKind = "agent"
	FoundTool      FoundKind = "tool"
)

// MaxFound is how many results of a kind are shown at once.
const MaxFound = 6

// Found is a search result.
type Found struct {
	Kind FoundKind
	Slug string // a tool's name
	Name string
	Rank int // 0: the name begins with the query; 1: a word of it; 2: it contains it; 3: something else matches

	OfSlug, OfName string // a tool's connector

	URL      string // of the connector, or the tool's
	IconHash *Hash  // likewise; nil: no icon
}
