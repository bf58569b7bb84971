package registry

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcpjson"
	"patchbay/internal/store"
)

// create makes a connector of an entry. Its secret may come later: a placeholder stands where it belongs.
func (im *importing) create(ctx context.Context, e mcpjson.Entry, done *ImportedEntry) error {
	d, s := e.Over(im.actor.Tenant.Defaults.Draft()).Normalized(), e.Secret.Normalized()
	if im.made[d.Name] {
		return fault.InvalidFields(fault.Field{Location: "name", Message: fmt.Sprintf("Another entry of this document has the name %q, too.", d.Name)})
	}
	if err := im.registry.check(d, s, false); err != nil {
		return err
	}
	at := placeOf(d.URL)
	if e.Listed && im.listed[at] {
		return fault.InvalidFields(fault.Field{Location: "url", Message: "Another server of this document has the same address."})
	}
	c, err := im.registry.insertNumbered(ctx, im.actor, d, s, !e.Listed)
	if err != nil {
		return err
	}
	im.listed[at] = e.Listed
	im.made[d.Name] = true
	done.Outcome = Created
	if !im.registry.rehearsal {
		done.Connector = &c
	}
	done.Missing = missingOf(d, s, e.Placeholder)
	return nil
}

// update changes the connector that an entry is about, where they differ.
func (im *importing) update(ctx context.Context, e mcpjson.Entry, old connectors.Connector, done *ImportedEntry) error {
	d, s := apply(old, Change{Draft: e.Apply, Secret: &e.Secret})
	done.Outcome, done.Connector = Unchanged, &old
	done.Changed = changed(old, d.Connector())
	if !s.Empty() {
		done.Changed = append(done.Changed, "credential")
	}
	if d.Env != nil {
		done.Changed = append(done.Changed, "env")
	}
	held, err := im.held(ctx, old, d)
	if err != nil {
		return err
	}
	if !held {
		done.Missing = missingOf(d, s, e.Placeholder)
	}
	if len(done.Changed) == 0 {
		return nil
	}
	ref := connectors.Ref(old.ID.String())
	c, notices, err := im.registry.UpdateConnector(ctx, im.actor, ref, Change{Draft: e.Apply, Secret: &e.Secret, SecretLater: true})
	if err != nil {
		return err
	}
	done.Outcome, done.Connector = Updated, &c
	done.Notices = append(done.Notices, notices...)
	return nil
}

// held tells whether a credential is stored that the connector keeps when it becomes d.
func (im *importing) held(ctx context.Context, old connectors.Connector, d connectors.Draft) (bool, error) {
	now := d.Connector()
	if old.Auth.Type != now.Auth.Type || old.CredentialMode != now.CredentialMode || originMoved(old, now) || clientChanged(old, now) || serverChanged(old, now) {
		return false, nil
	}
	list, err := im.registry.store.Tenant(im.actor.Tenant.ID).Credentials(ctx, old.ID, store.Page{Limit: 1})
	return len(list.Items) > 0, err
}

// Missing is what a connector needs before it can be used.
type Missing struct {
	What     string // token, key, password, client_secret, private_key, account or agents; empty: nothing
	Sentence string
}

// missingOf tells what a connector lacks that has no credential but s.
func missingOf(d connectors.Draft, s connectors.Secret, placeholder string) Missing {
	if d.Auth.Type == connectors.AuthNone || !s.Empty() && d.Auth.Type != connectors.AuthOAuth2 {
		return Missing{}
	}
	if d.CredentialMode == connectors.CredentialPerAgent {
		return Missing{What: "agents", Sentence: "Each agent needs a credential of its own. Set them."}
	}
	what := map[connectors.AuthType][2]string{
		connectors.AuthBearer:            {"token", "The token"},
		connectors.AuthAPIKey:            {"key", "The key"},
		connectors.AuthBasic:             {"password", "The user name and password"},
		connectors.AuthClientCredentials: {"client_secret", "The client secret"},
		connectors.AuthPrivateKeyJWT:     {"private_key", "The private key"},
	}[d.Auth.Type]
	switch {
	case d.Auth.Type == connectors.AuthOAuth2:
		return Missing{What: "account", Sentence: "Connect the account."}
	case placeholder != "":
		return Missing{What: what[0], Sentence: fmt.Sprintf("%s is not in the document: %s stands there. Set it.", what[1], placeholder)}
	default:
		return Missing{What: what[0], Sentence: what[1] + " is not in the document. Set it."}
	}
}

// placeOf is one and the same text for URLs that lead to one server, with a slash at the end or without; empty: there is no such place.
func placeOf(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	origin := connectors.Origin(raw)
	if err != nil || origin == "" {
		return ""
	}
	return origin + strings.TrimRight(u.EscapedPath(), "/") + "?" + u.RawQuery
}
