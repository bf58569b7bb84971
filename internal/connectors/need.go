package connectors

import "time"

// NeedKind is what kind of thing waits for a person.
type NeedKind string

// The kinds.
const (
	NeedApproval      NeedKind = "approval"      // an agent's call waits
	NeedAuthorization NeedKind = "authorization" // a connector's credential is missing, has ended, or was refused
	NeedServer        NeedKind = "server"        // a connector's server does not answer as it should
	NeedRenewal       NeedKind = "renewal"       // an account ends soon unless a person connects it again
	NeedReview        NeedKind = "review"        // a tool's definition is new or changed, and held
)

// NeedKinds are the kinds, the most urgent first: an agent that waits now before a server that fails, and that before what may wait.
var NeedKinds = []NeedKind{NeedApproval, NeedAuthorization, NeedServer, NeedRenewal, NeedReview}

// Foresight is how far ahead the end of an account is foretold.
const Foresight = lapsesWithin

// Need is one thing that waits for a person.
type Need struct {
	Kind          NeedKind
	At            time.Time // since when; of a renewal: when it ends
	Connector     string
	ConnectorSlug string
	Agent         string // of an approval, and of a renewal of one agent's account; else empty
	AgentSlug     string // of a renewal
	Tool          string // of approval and review: the server's name of it
	Call          ToolCallID
	Ends          time.Time // of an approval: when it lapses
	Auth          AuthType  // of authorization
	Mode          CredentialMode
	Again         bool   // of authorization: it worked before. Of review: agents are served an earlier definition
	Reason        string // of authorization and server: a sentence of ours; empty: none
	Risk          string // of review, as package toolchange has it
}

// Needs is what waits for a person: of each kind the newest, of renewals the soonest; and how many there are of it.
type Needs struct {
	List   []Need // in the order of NeedKinds
	Totals map[NeedKind]int
}

// Total is how many things wait in all.
func (n Needs) Total() int {
	total := 0
	for _, of := range n.Totals {
		total += of
	}
	return total
}

// Of are those of a kind.
func (n Needs) Of(kind NeedKind) []Need {
	var list []Need
	for _, one := range n.List {
		if one.Kind == kind {
			list = append(list, one)
		}
	}
	return list
}
