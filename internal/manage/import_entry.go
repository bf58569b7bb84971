package manage

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// createFromEntry creates a connector. A placeholder in the entry means that its secret comes later.
func (im *documentImport) createFromEntry(ctx context.Context, e clientconfig.Entry, done *ImportedEntry) error {
	d, s := e.Over(im.actor.Tenant.Defaults.Draft()).Normalized(), e.Secret.Normalized()
	im.resolveProgram(&d, done)
	if im.createdNames[d.Name] {
		return fault.InvalidFields(fault.Field{Location: "name", Message: fmt.Sprintf("Another entry has the name %q too.", d.Name)})
	}
	if e.API != nil {
		return im.createAPIFromEntry(ctx, e, d, s, done)
	}
	if err := im.registry.checkDraft(d, s, false); err != nil {
		return err
	}
	key := normalizeURL(d.URL)
	if e.Listed && im.listedURLs[key] {
		return fault.InvalidFields(fault.Field{Location: "url", Message: "Another server here has the same URL."})
	}
	c, err := im.registry.insertWithFreeSlug(ctx, im.actor, d, s, !e.Listed && !e.Unnamed)
	if err != nil {
		return err
	}
	im.listedURLs[key] = e.Listed
	im.recordCreated(c, d, s, e, done)
	return nil
}

func (im *documentImport) recordCreated(c connectors.Connector, d connectors.Draft, s connectors.Secret, e clientconfig.Entry, done *ImportedEntry) {
	im.createdNames[d.Name] = true
	done.Outcome = Created
	if !im.registry.isDryRun {
		done.Connector = &c
	}
	done.Missing = newMissing(d, s, e.Placeholder)
}

// updateFromEntry applies an entry to an existing connector.
func (im *documentImport) updateFromEntry(ctx context.Context, e clientconfig.Entry, old connectors.Connector, done *ImportedEntry) error {
	apply := func(d *connectors.Draft) {
		e.Apply(d)
		im.resolveProgram(d, done)
	}
	d, s := applyChange(old, Change{Draft: apply, Secret: &e.Secret})
	done.Notices = slices.Clone(e.Notices) // told once
	done.Outcome, done.Connector = Unchanged, &old
	done.Changed = d.ChangedFrom(old.Settings)
	if !s.Empty() {
		done.Changed = append(done.Changed, "credential")
	}
	if d.Env != nil {
		done.Changed = append(done.Changed, "env")
	}
	if d.Tags != nil && !slices.Equal(d.Tags, old.Tags) {
		done.Changed = append(done.Changed, "tags")
	}
	document, err := im.changedDocument(ctx, e, old)
	if err != nil {
		return err
	}
	if document != nil {
		done.Changed = append(done.Changed, "document")
	}
	keeps, err := im.keepsCredential(ctx, old, d)
	if err != nil {
		return err
	}
	if !keeps {
		done.Missing = newMissing(d, s, e.Placeholder)
	}
	if len(done.Changed) == 0 {
		return im.updateToolsFromEntry(ctx, e, old, done)
	}
	ref := connectors.Ref(old.ID.String())
	c, notices, err := im.registry.UpdateConnector(ctx, im.actor, ref, Change{Draft: apply, Secret: &e.Secret, SecretLater: true, ConfirmMove: im.confirmMoves, Document: document})
	if err != nil {
		return err
	}
	done.Outcome, done.Connector = Updated, &c
	done.Notices = append(done.Notices, notices...)
	if document != nil && im.registry.isDryRun {
		return nil // its operations are picked of the new document
	}
	return im.updateToolsFromEntry(ctx, e, old, done)
}

// resolveProgram finds a program without a directory, as npx, among those that the operator allows.
func (im *documentImport) resolveProgram(d *connectors.Draft, done *ImportedEntry) {
	name := d.Command.Path
	if path, ok := im.registry.stdio.Resolve(d.Command, d.Env.Names()); ok && d.Transport == connectors.TransportStdio {
		d.Command.Path = path
		done.Notices = append(done.Notices, fmt.Sprintf("%s is %s on this installation.", name, path))
	}
}

// keepsCredential reports whether a stored credential survives the change to d.
func (im *documentImport) keepsCredential(ctx context.Context, old connectors.Connector, d connectors.Draft) (bool, error) {
	now := d.Connector()
	if old.Auth.Type != now.Auth.Type || old.CredentialMode != now.CredentialMode || originMoved(old, now) || clientChanged(old, now) || serverChanged(old, now) {
		return false, nil
	}
	list, err := im.registry.store.Tenant(im.actor.Tenant.ID).Connectors().Credentials(ctx, old.ID, store.Page{Limit: 1})
	return len(list.Items) > 0, err
}

// Missing is what a connector needs before use.
type Missing struct {
	What     string // token, key, password, client_secret, private_key, account or agents; empty: nothing
	Sentence string
}

// newMissing returns what a connector with no credential but s needs.
func newMissing(d connectors.Draft, s connectors.Secret, placeholder string) Missing {
	if d.Auth.Type == connectors.AuthNone || !s.Empty() && d.Auth.Type != connectors.AuthOAuth2 {
		return Missing{}
	}
	if d.CredentialMode == connectors.CredentialPerAgent {
		return Missing{What: "agents", Sentence: "Set a credential for each agent."}
	}
	label := map[connectors.AuthType][2]string{
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
		return Missing{What: label[0], Sentence: fmt.Sprintf("%s is missing; the document has %s. Set it.", label[1], placeholder)}
	default:
		return Missing{What: label[0], Sentence: label[1] + " isn't in the document. Set it."}
	}
}

// normalizeURL returns the same text for URLs of one server, with or without a trailing slash; "" for an
// invalid one.
func normalizeURL(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	origin := connectors.Origin(raw)
	if err != nil || origin == "" {
		return ""
	}
	return origin + strings.TrimRight(u.EscapedPath(), "/") + "?" + u.RawQuery
}
