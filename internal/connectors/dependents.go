package connectors

// MaxCountedCalls is how far calls are counted where it only matters that there are many.
const MaxCountedCalls = 10_000

// Dependents is what a connector is used for.
type Dependents struct {
	Agents    int      // that it is granted to
	Names     []string // of the first few of them
	Calls     int      // in the last 30 days; MaxCountedCalls + 1: there were more
	Approvals int      // calls that wait for a person
	Accounts  int      // credentials that are stored
}
