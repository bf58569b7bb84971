package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/store"
)

// connectRequest names the owner of the account to connect.
type connectRequest struct {
	Agent    *string `json:"agent,omitempty" nullable:"true" doc:"The agent's id or slug. Null or absent: the account for all agents."`
	Account  *string `json:"account,omitempty" maxLength:"48" doc:"The account's name, to connect one of several. Empty or absent: the owner's only one."`
	Replace  *bool   `json:"replace,omitempty" nullable:"true" doc:"Whether authorize_url may connect another account than the stored one. Otherwise that is refused, as it always is by connect_url."`
	ReturnTo *string `json:"return_to,omitempty" nullable:"true" doc:"Patchbay path to return to after connecting."`
}

// connectionJSON is the address where a person goes on.
type connectionJSON struct {
	AuthorizeURL *string   `json:"authorize_url" doc:"The authorization server's page, for the calling browser session. Null for an API key."`
	ConnectURL   string    `json:"connect_url" doc:"Single-use page for the account's owner. No sign-in unless sign_in is true."`
	ExpiresAt    time.Time `json:"expires_at" doc:"When connect_url expires. A page that requires sign-in is valid longer."`
	SignIn       bool      `json:"sign_in" doc:"Whether connect_url requires sign-in: only the agent's owner can connect its account."`
}

type connectInput struct {
	ConnectorPath
	JSON optionalBody[connectRequest]
}

func (h *Handler) mountConnect() {
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/connect", id: "connectAccount", tag: "Credentials",
		summary: "Start an OAuth connection", permission: connectors.PermManage, ownerPermission: connectors.PermOperate, status: http.StatusOK,
	}, h.connectAccount)
}

func (h *Handler) connectAccount(ctx context.Context, actor auth.Actor, in *connectInput) (*response[connectionJSON], error) {
	request, err := readOrder(in)
	if err != nil {
		return nil, h.orNotFound(ctx, actor, in.ref(), nil, err)
	}
	var out connectionJSON
	if actor.Kind == auth.KindPerson && actor.Session != (connectors.SessionID{}) { // a person's program has no browser to redirect
		request.Browser = connect.SessionBinding(h.auth.Sessions().Token(ctx))
		started, err := h.connect.Start(ctx, actor, request)
		if err != nil {
			return nil, err
		}
		out.AuthorizeURL = &started.AuthorizeURL
	}
	link, err := h.connect.LinkOrPageFor(ctx, actor, request)
	if err != nil {
		return nil, err
	}
	out.ConnectURL, out.ExpiresAt, out.SignIn = link.URL, link.ExpiresAt.UTC(), link.SignIn
	return &response[connectionJSON]{Body: out}, nil
}

func readOrder(in *connectInput) (connect.StartRequest, error) {
	req, err := in.JSON.readJSON()
	if err != nil {
		return connect.StartRequest{}, err
	}
	request := connect.StartRequest{Connector: in.ref()}
	setIfPresent(&request.ReturnTo, req.ReturnTo)
	setIfPresent(&request.Replaces, req.Replace)
	setIfPresent(&request.Account, req.Account)
	if request.ReturnTo != "" && respond.OwnPath(request.ReturnTo, "") == "" {
		return connect.StartRequest{}, fault.InvalidFields(fault.Field{
			Location: "return_to", Message: "Must be a Patchbay path that begins with one slash, such as /connectors.",
		})
	}
	if req.Agent != nil {
		agent := connectors.Ref(*req.Agent)
		request.Agent = &agent
	}
	return request, nil
}

// withConnectURL adds the page to connect an account to an error about a missing one. If that fails, the error
// stays as it is. A server that keeps asking for more scopes gets no page, or its user would connect again and
// again.
func (h *Handler) withConnectURL(ctx context.Context, actor auth.Actor, c connectors.Ref, agent *connectors.Ref, err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Type != "credential-required" || f.ConnectURL != "" || errors.Is(err, credentials.ErrTooManyStepUps) {
		return err
	}
	found, notFound := h.store.Tenant(actor.Tenant.ID).Connectors().Get(ctx, c)
	if notFound != nil || found.Auth.Type != connectors.AuthOAuth2 {
		return err
	}
	request := connect.StartRequest{Connector: c}
	if agent != nil {
		if request.Account, notFound = grantedAccount(ctx, h.store.Tenant(actor.Tenant.ID).Agents(), *agent, found.ID); notFound != nil {
			return err
		}
	}
	if found.CredentialMode == connectors.CredentialPerAgent {
		if agent == nil {
			return err // the owner of the account is not known
		}
		request.Agent = agent
	}
	return h.withConnectPage(ctx, actor, request, f)
}

// grantedAccount returns the name of the account that an agent's grant binds; empty: the owner's only one, or there is no grant. It fails
// if there are several.
func grantedAccount(ctx context.Context, agents store.Agents, agent connectors.Ref, c connectors.ConnectorID) (string, error) {
	of, err := agents.Get(ctx, agent)
	if err != nil {
		return "", err
	}
	granted, err := agents.Grant(ctx, of.ID, c)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	if len(granted.Accounts) > 1 {
		return "", fault.Errorf(fault.Conflict, "The grant binds several accounts.")
	}
	return granted.Account(), err
}

// withConnectPage adds the address of a page to f: a new link, or a page behind the sign-in if the caller may
// not have one.
func (h *Handler) withConnectPage(ctx context.Context, actor auth.Actor, request connect.StartRequest, f *fault.Error) *fault.Error {
	linked := *f
	link, err := h.connect.LinkOrPageFor(ctx, actor, request)
	if err != nil {
		linked.Err = errors.Join(f.Err, err) // for the log
		return &linked
	}
	linked.ConnectURL = link.URL
	return &linked
}
