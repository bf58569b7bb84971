package registry

import (
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// Registry carries out orders.
type Registry struct {
	store  *store.Store
	egress *safehttp.Policy
}

// New makes a Registry.
func New(st *store.Store, egress *safehttp.Policy) *Registry {
	return &Registry{store: st, egress: egress}
}

// checkEgress tells whether the egress rules forbid a URL that is well formed.
func (r *Registry) checkEgress(url string) []fault.Field {
	if _, err := r.egress.CheckURL(url); err != nil {
		return []fault.Field{{Location: "url", Message: egressSentence(err)}}
	}
	return nil
}

func newCredential(c connectors.Connector, agent *connectors.AgentID, s connectors.Secret) (store.NewCredential, error) {
	sealed, err := s.Encode()
	if err != nil {
		return store.NewCredential{}, err
	}
	return store.NewCredential{
		ConnectorID: c.ID, AgentID: agent, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Account: s.Account(), Secret: sealed,
	}, nil
}
