package templates

var registryFieldNames = []string{"name", "agents", "token_required"}

// RegistriesPage lists the published registries.
type RegistriesPage struct {
	Frame Frame
	Rows  []RegistryRow
	Count string
	Pager Pager
}

// RegistryRow is one registry.
type RegistryRow struct {
	Name     string
	Href     string
	Lists    string // "All connectors", "3 agents"
	Access   string // "URL", "URL and token"
	LastUsed When
}

// NewRegistryPage is the form for a registry. It sends name, lists (all or agents), agent (several) and token_required
// to /registries.
type NewRegistryPage struct {
	Frame  Frame
	Form   Form
	Agents []Choice
}

// RegistryPage shows one registry. Its forms post to Href and below it: rotate, delete.
type RegistryPage struct {
	Frame    Frame
	Registry RegistryRow
	Form     Form // name, lists, token_required
	Agents   []Choice
	Facts    []Fact
	URL      string // the new address; empty: none
}
