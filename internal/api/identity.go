package api

import "patchbay/internal/connectors"

// identityJSON is the account as its authorization server states it.
type identityJSON struct {
	Issuer         string `json:"issuer" doc:"The authorization server."`
	Subject        string `json:"subject" doc:"Its id of the account, which never changes. Empty if unknown."`
	Name           string `json:"name" doc:"Email, else user name, else full name. Empty if unknown."`
	Email          string `json:"email"`
	OrganisationID string `json:"organisation_id" doc:"Empty if unknown."`
	Organisation   string `json:"organisation" doc:"The organisation's name, else its id."`
}

// viewIdentity returns null for an unknown account.
func viewIdentity(i connectors.Identity) *identityJSON {
	if i == (connectors.Identity{}) {
		return nil
	}
	view := identityJSON(i)
	return &view
}
