package connectors

// MaxCountedCalls bounds the count of calls where only the magnitude matters.
const MaxCountedCalls = 10_000

// Dependents are the users of a connector.
type Dependents struct {
	Agents    int      // with a grant
	Names     []string // of the first agents
	Calls     int      // in the last 30 days; MaxCountedCalls + 1: more
	Approvals int      // waiting calls
	Accounts  int      // stored credentials
}
