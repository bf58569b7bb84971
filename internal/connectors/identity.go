package connectors

import "cmp"

// Identity is the account of a credential, as the authorization server stated it. All of it is remote text, plain and bounded; empty:
// unknown. Its JSON names are stored: they never change.
type Identity struct {
	Issuer         string `json:"issuer,omitempty"`
	Subject        string `json:"subject,omitempty"`
	Name           string `json:"name,omitempty"` // e-mail address, else user name, else full name
	Email          string `json:"email,omitempty"`
	OrganisationID string `json:"organisation_id,omitempty"`
	Organisation   string `json:"organisation,omitempty"` // name of the organisation, else its id
}

// AccountName names the account of a credential for people that may know it.
type AccountName struct {
	Owner *AgentID // nil: all agents
	Label string   // empty: unknown
}

// IsKnown reports whether the account can be compared with another.
func (i Identity) IsKnown() bool { return i.Subject != "" }

// IsOther reports whether two known identities are of different accounts. A person can have one account in several organisations:
// each counts as an account of its own. E-mail addresses and names change, and do not count.
func (i Identity) IsOther(than Identity) bool {
	if !i.IsKnown() || !than.IsKnown() {
		return false
	}
	return i.Issuer != than.Issuer || i.Subject != than.Subject ||
		i.OrganisationID != "" && than.OrganisationID != "" && i.OrganisationID != than.OrganisationID
}

// Label is the account for people: its name, else its subject, with the organisation.
func (i Identity) Label() string {
	label := cmp.Or(i.Name, i.Subject)
	if i.Organisation == "" || label == "" {
		return label
	}
	return label + " (" + i.Organisation + ")"
}
