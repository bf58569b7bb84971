package store_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// Both lock the connector before its shared credential: the second waits at the first lock and holds nothing.
func TestAGrantIsRefusedWhileAnotherIsStored(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	if err := w.Door().Accounts().SaveGrant(t.Context(), newGrant(c)); err != nil {
		t.Fatal(err)
	}
	vault := w.St.Vault(w.Tenant)
	old, err := vault.Grant(t.Context(), c.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	type ended struct {
		ok  bool
		err error
	}
	refused := make(chan ended, 1)
	err = w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		if err := tx.Connectors().Lock(t.Context(), c.ID); err != nil {
			return err
		}
		go func() {
			ok, err := vault.RefuseGrant(t.Context(), old.ID, old.Version, store.GrantMeta{}, "The server refuses it.", nil)
			refused <- ended{ok, err}
		}()
		waiting(t, w, 1)
		return tx.Accounts().SaveGrant(t.Context(), newGrant(c))
	})
	if err != nil {
		t.Errorf("stored: %v", err)
	}
	if e := <-refused; e.ok || e.err != nil {
		t.Errorf("refused: %v, %v", e.ok, e.err)
	}
	if now, err := vault.Grant(t.Context(), c.ID, nil); err != nil || now.Status != connectors.CredentialActive || now.Version == old.Version {
		t.Errorf("%s, version %d, %v", now.Status, now.Version, err)
	}
}

// Storing a credential locks its agent, and then the tenant, which the credential refers to.
func TestDeleteTenant_WaitsForAction(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, agent := w.Connector(t), w.Agent(t)
	deleted := make(chan error, 1)
	err := w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(t.Context(), store.OfAgent(agent.ID))
		if err != nil {
			return err
		}
		if err := tx.Agents().Lock(t.Context(), agent.ID); err != nil {
			return err
		}
		go func() { deleted <- w.St.System().DeleteTenant(t.Context(), w.Tenant) }()
		waiting(t, w, 1)
		err = tx.Connectors().SetCredential(t.Context(), store.NewCredential{
			ConnectorID: c.ID, AgentID: &agent.ID, Type: connectors.AuthBearer, Origin: connectors.Origin(c.URL), Secret: "s",
		})
		if err != nil {
			return err
		}
		return tx.RecordChange(t.Context(), store.Event{ActorType: "system", Action: "credential.set"}, was, store.OfAgent(agent.ID))
	})
	if err != nil {
		t.Errorf("stored: %v", err)
	}
	if err := <-deleted; err != nil {
		t.Errorf("deleted: %v", err)
	}
}
