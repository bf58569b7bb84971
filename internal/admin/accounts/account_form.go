package accounts

import (
	"errors"
	"net/http"
	"slices"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/store"
)

// The forms of an account.
const (
	secretPart = ""       // its secret
	renamePart = "rename" // its name
	addPart    = "add"    // another account of its owner
)

// accountPlace is the place of a form on the page of credentials.
type accountPlace struct {
	owner   string // as the credential rows' Owner
	account string // empty: any
	part    string
}

// readPostedAccount returns the account of a form, and its place on the page.
func readPostedAccount(r *http.Request, f shell.PostedForm) (manage.AccountRef, accountPlace) {
	agent, owner := readPathAgent(r)
	of := manage.AccountRef{Connector: shell.PathRef(r, "id"), Agent: agent, Name: f.Text("account")}
	place := accountPlace{owner: owner, account: of.Name}
	if f.Checked("add") {
		place = accountPlace{owner: owner, part: addPart}
	}
	return of, place
}

func (h *Handler) renameAccount(r *http.Request, of manage.AccountRef, name string) error {
	if name == "" {
		return fault.InvalidFields(fault.Field{Location: "name", Message: "Enter a name."})
	}
	return h.Registry.ChangeAccount(r.Context(), shell.Actor(r), of, manage.AccountChange{Name: name})
}

// prepareAdded checks the form of another account, and names the only one so far if it has no name. Other forms pass.
func (h *Handler) prepareAdded(r *http.Request, f shell.PostedForm, of manage.AccountRef) error {
	if !f.Checked("add") {
		return nil
	}
	if of.Name == "" {
		return fault.InvalidFields(fault.Field{Location: "account", Message: "Enter a name."})
	}
	names, err := h.accountNames(r, of)
	if err != nil {
		return err
	}
	former := f.Text("former")
	isNameless := slices.Contains(names, connectors.DefaultAccount)
	switch {
	case !connectors.ValidSlug(of.Name):
		return nil // the store says so
	case slices.Contains(names, of.Name) || isNameless && former == of.Name:
		return fault.InvalidFields(fault.Field{Location: "account", Message: "This account name is taken."})
	case !isNameless:
		return nil
	}
	return atField(h.renameAccount(r, manage.AccountRef{Connector: of.Connector, Agent: of.Agent, Name: connectors.DefaultAccount}, former), "name", "former")
}

// accountNames returns the names of an owner's accounts.
func (h *Handler) accountNames(r *http.Request, of manage.AccountRef) (names []string, err error) {
	err = h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(r.Context(), of.Connector)
		if err != nil {
			return err
		}
		var owner *connectors.AgentID
		if of.Agent != nil {
			a, err := tx.Agents().Get(r.Context(), *of.Agent)
			if err != nil {
				return err
			}
			owner = &a.ID
		}
		names, err = tx.Accounts().Names(r.Context(), c.ID, owner)
		return err
	})
	return names, err
}

// atField moves the errors of a field, and a conflict without a field, to another one.
func atField(err error, from, to string) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.Invalid && f.Kind != fault.Conflict {
		return err
	}
	moved := *f
	if len(f.Fields) == 0 {
		moved.Fields = []fault.Field{{Location: to, Message: f.Message}}
		return &moved
	}
	moved.Fields = slices.Clone(f.Fields)
	for i, field := range moved.Fields {
		if field.Location == from {
			moved.Fields[i].Location = to
		}
	}
	return &moved
}

// renderAccountError shows the form of an account again, with the error at a field if it names none.
func (h *Handler) renderAccountError(w http.ResponseWriter, r *http.Request, at accountPlace, f shell.PostedForm, field string, err error) error {
	problem, ok := shell.AsFormFault(r.Context(), atField(err, field, field))
	if !ok {
		return err
	}
	respond.SetRetryAfter(w.Header(), problem)
	return h.credentialsPage(w, r, credentialsPageState{status: respond.Status(problem.Kind), place: at, form: f, problem: problem})
}
