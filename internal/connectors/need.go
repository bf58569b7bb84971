package connectors

import (
	"maps"
	"time"
)

// NeedKind is a kind of task for a person.
type NeedKind string

// The kinds.
const (
	NeedApproval      NeedKind = "approval"      // a call waits for approval
	NeedAccess        NeedKind = "access"        // a request for access waits for a decision
	NeedAuthorization NeedKind = "authorization" // a connector's credential is missing, expired or refused
	NeedServer        NeedKind = "server"        // a connector's server fails
	NeedTools         NeedKind = "tools"         // all or most tools of a connector vanished
	NeedRenewal       NeedKind = "renewal"       // an account expires soon unless connected again
	NeedReview        NeedKind = "review"        // a definition is new or changed, and held
)

// NeedKinds are the kinds, most urgent first: waiting agents and people, failing servers, then the rest.
var NeedKinds = []NeedKind{NeedApproval, NeedAccess, NeedAuthorization, NeedServer, NeedTools, NeedRenewal, NeedReview}

// LapseWarning is how long before its end an account is reported.
const LapseWarning = lapseWarning

// Need is one task for a person.
type Need struct {
	Kind          NeedKind
	At            time.Time // since when; of a renewal: its end
	Connector     string
	ConnectorSlug string
	ConnectorURL  string
	ConnectorIcon *Hash  // as of Connector
	Agent         string // of an approval, of a request or of a renewal of one agent's account; else empty
	AgentSlug     string // of a renewal
	Account       string // of a renewal: its name among those of its owner
	Tool          string // of an approval or review: the server's name
	Call          ToolCallID
	Request       AccessRequestID
	Asker         string    // of a request
	Ends          time.Time // of an approval: its expiry
	Auth          AuthType  // of authorization
	Mode          CredentialMode
	Again         bool          // of authorization: it worked before; of review: an earlier definition is served
	Reason        string        // of authorization and server: a sentence; "": none
	Vanished      VanishedTools // of tools
	Risk          string        // of review, from package toolchange
}

// Needs are the tasks for people: the newest of each kind (of renewals the soonest), and the counts.
type Needs struct {
	List   []Need // in the order of NeedKinds
	Totals map[NeedKind]int
}

// Total returns the number of all tasks.
func (n Needs) Total() int {
	total := 0
	for _, of := range n.Totals {
		total += of
	}
	return total
}

// Without returns the tasks of the other kinds.
func (n Needs) Without(kind NeedKind) Needs {
	others := Needs{Totals: maps.Clone(n.Totals)}
	delete(others.Totals, kind)
	for _, one := range n.List {
		if one.Kind != kind {
			others.List = append(others.List, one)
		}
	}
	return others
}

// Of returns the tasks of a kind.
func (n Needs) Of(kind NeedKind) []Need {
	var list []Need
	for _, one := range n.List {
		if one.Kind == kind {
			list = append(list, one)
		}
	}
	return list
}
