package connect

import (
	"context"
	"errors"

	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
)

// explainFailure is toFault with what the authorization server said, for admins. The visitor of a link gets none of it. used
// are secrets of the request that are not stored.
func (b *Broker) explainFailure(ctx context.Context, p target, startedBy string, err error, used ...secret.Text) *fault.Error {
	f := b.toFault(err)
	e, ok := errors.AsType[*oauth.Error](err)
	if !ok || e.Response == "" || startedBy == typeLink {
		return f
	}
	said := b.redactor.Excerpt(ctx, p.tenant, p.connector, credentials.NewResponseSource(e), credentials.UsedSecrets{Texts: used})
	if f.Remote == nil {
		f.Remote = &fault.Remote{Phase: phaseAuth, HTTPStatus: e.HTTPStatus}
	}
	f.Remote.Said = said
	return f
}

// explainExchange is explainFailure for a failed exchange of a code.
func (b *Broker) explainExchange(ctx context.Context, back callbackFlow, peer oauth.Peer, code oauth.Secret, err error) *fault.Error {
	used := []secret.Text{secret.Text(code.Reveal()), secret.Text(peer.Client.ClientSecret.Reveal())}
	if verifier, err := b.store.Vault(back.tenant).Verifier(back.flow); err == nil {
		used = append(used, verifier)
	}
	return b.explainFailure(ctx, back.target, back.flow.StartedBy.Type, err, used...)
}
