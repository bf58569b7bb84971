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
)

// connectRequest says whose account is to be connected.
type connectRequest struct {
	Agent    *string `json:"agent,omitempty" nullable:"true" doc:"The agent, by id or slug, whose account it will be; null or absent: the one for all agents."`
	ReturnTo *string `json:"return_to,omitempty" nullable:"true" doc:"Where the browser goes when the account is connected: a path of Patchbay."`
}

// connectionJSON is how a person goes on.
type connectionJSON struct {
	AuthorizeURL *string   `json:"authorize_url" doc:"The authorization server's page, for the browser whose session asked; null for an API key."`
	ConnectURL   string    `json:"connect_url" doc:"A page of Patchbay for the person who owns the account. It needs no sign-in and works once; but see sign_in."`
	ExpiresAt    time.Time `json:"expires_at" doc:"Of connect_url. A page that asks for a sign-in stays longer."`
	SignIn       bool      `json:"sign_in" doc:"Whether connect_url asks for a sign-in: the agent belongs to a member, who alone connects their account there."`
}

type connectInput struct {
	ConnectorPath
	JSON optional[connectRequest]
}

func (h *Handler) mountConnect() {
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/connect", id: "connectAccount", tag: "Credentials",
		summary: "Begin to connect an account by OAuth", may: connectors.PermManage, own: connectors.PermOperate, status: http.StatusOK,
	}, h.connectAccount)
}

func (h *Handler) connectAccount(ctx context.Context, who auth.Actor, in *connectInput) (*answer[connectionJSON], error) {
	order, err := readOrder(in)
	if err != nil {
		return nil, h.unlessMissing(ctx, who, in.ref(), nil, err)
	}
	var out connectionJSON
	if who.Kind == auth.KindPerson && who.Session != (connectors.SessionID{}) { // a person's program has no browser to go on in
		order.Browser = connect.SessionBinding(h.auth.Sessions().Token(ctx))
		started, err := h.connect.Start(ctx, who, order)
		if err != nil {
			return nil, err
		}
		out.AuthorizeURL = &started.AuthorizeURL
	}
	link, err := h.connect.Way(ctx, who, order.Connector, order.Agent, order.ReturnTo)
	if err != nil {
		return nil, err
	}
	out.ConnectURL, out.ExpiresAt, out.SignIn = link.URL, link.ExpiresAt.UTC(), link.SignIn
	return &answer[connectionJSON]{Body: out}, nil
}

func readOrder(in *connectInput) (connect.Order, error) {
	req, err := in.JSON.read()
	if err != nil {
		return connect.Order{}, err
	}
	order := connect.Order{Connector: in.ref()}
	set(&order.ReturnTo, req.ReturnTo)
	if order.ReturnTo != "" && respond.OwnPath(order.ReturnTo, "") == "" {
		return connect.Order{}, fault.InvalidFields(fault.Field{
			Location: "return_to", Message: "This is no path of Patchbay. It begins with one slash, as /connectors.",
		})
	}
	if req.Agent != nil {
		agent := connectors.Ref(*req.Agent)
		order.Agent = &agent
	}
	return order, nil
}

// withConnectURL adds to a failure where a person can mend it, if it is a missing credential that is an account. Without the
// address the failure is still true. A server that was granted what it asked for, and asks on, is not mended there: whoever
// follows each address would connect for ever.
func (h *Handler) withConnectURL(ctx context.Context, who auth.Actor, c connectors.Ref, agent *connectors.Ref, err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Type != "credential-required" || f.ConnectURL != "" || errors.Is(err, credentials.ErrInsists) {
		return err
	}
	found, notFound := h.store.Tenant(who.Tenant.ID).Connector(ctx, c)
	if notFound != nil || found.Auth.Type != connectors.AuthOAuth2 {
		return err
	}
	perAgent := found.CredentialMode == connectors.CredentialPerAgent
	if perAgent && agent == nil {
		return err // nobody knows whose account it would be
	}
	if !perAgent {
		agent = nil
	}
	return h.connectable(ctx, who, c, agent, f)
}

// connectable is f with the address of a page: a fresh link, or what asks for a sign-in where that is not to be handed out so.
func (h *Handler) connectable(ctx context.Context, who auth.Actor, c connectors.Ref, agent *connectors.Ref, f *fault.Error) *fault.Error {
	mendable := *f
	link, err := h.connect.Way(ctx, who, c, agent, "")
	if err != nil {
		mendable.Err = errors.Join(f.Err, err) // for the log
		return &mendable
	}
	mendable.ConnectURL = link.URL
	return &mendable
}
