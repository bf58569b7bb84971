package manage

import (
	"context"
	"fmt"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// TypeConfirmationRequired is the problem type of a change that must be confirmed, because it drops credentials. The
// fault's fields list them.
const TypeConfirmationRequired = "confirmation-required"

// confirmField is the location of the fields of a [TypeConfirmationRequired] fault.
const confirmField = "confirm"

// requireMoveConfirmation returns a fault if a move to another origin drops credentials that the change does not
// replace, with a field for each kind. owners are of the credentials before the change.
func requireMoveConfirmation(old, now connectors.Connector, owners store.CredentialOwners, dropped deletedSecrets, entered connectors.Secret) error {
	if !originMoved(old, now) {
		return nil
	}
	var fields []fault.Field
	add := func(message string) { fields = append(fields, fault.Field{Location: confirmField, Message: message}) }
	oauth := old.Auth.Type == connectors.AuthOAuth2
	if dropped.credentials > 0 && owners.Agents > 0 {
		add(agentsLossText(oauth, owners))
	}
	// A secret in the change replaces the shared one, but not an OAuth grant.
	if dropped.credentials > 0 && owners.Shared && (entered.Empty() || oauth) {
		if oauth {
			add("Disconnects the account.")
		} else {
			add("Deletes the stored secret.")
		}
	}
	if dropped.clientSecret && entered.ClientSecret.Empty() {
		add("Deletes the client secret.")
	}
	if len(fields) == 0 {
		return nil
	}
	f := fault.Errorf(fault.Conflict, "Moving to another origin drops credentials. Confirm to continue.").WithType(TypeConfirmationRequired)
	f.Code, f.Fields = "confirmation_required", fields
	return f
}

// agentsLossText says how many agents lose a credential, and names the first of them.
func agentsLossText(oauth bool, owners store.CredentialOwners) string {
	names, named := "", len(owners.Names)
	for i, name := range owners.Names {
		if i > 0 {
			names += ", "
		}
		names += fmt.Sprintf("%q", name)
	}
	switch {
	case oauth && owners.Agents == 1:
		return fmt.Sprintf("Disconnects the account of agent %s.", names)
	case oauth && owners.Agents > named:
		return fmt.Sprintf("Disconnects accounts of %d agents: %s and others.", owners.Agents, names)
	case oauth:
		return fmt.Sprintf("Disconnects accounts of %d agents: %s.", owners.Agents, names)
	case owners.Agents == 1:
		return fmt.Sprintf("Deletes the secret of agent %s.", names)
	case owners.Agents > named:
		return fmt.Sprintf("Deletes secrets of %d agents: %s and others.", owners.Agents, names)
	default:
		return fmt.Sprintf("Deletes secrets of %d agents: %s.", owners.Agents, names)
	}
}

// readMoveLosses reads the owners of a connector's credentials if the change moves it to another origin.
func readMoveLosses(ctx context.Context, tx *store.Tenant, old, now connectors.Connector) (store.CredentialOwners, error) {
	if !originMoved(old, now) {
		return store.CredentialOwners{}, nil
	}
	return tx.Connectors().CredentialOwners(ctx, old.ID)
}
