package connect

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/oauth"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// actBegin is the audit log's name for sending somebody to an authorization server.
const actBegin = "credential.begin"

// flowLife is how long a person has at the authorization server. The store ends flows by its own clock.
const flowLife = 10 * time.Minute

// Order asks for a connection to be started.
type Order struct {
	Connector connectors.Ref
	Agent     *connectors.Ref // per agent: whose account it will be; shared: nil
	ReturnTo  string          // a path of ours; anything else counts as none
	Browser   secret.Text     // what binds the browser: [SessionBinding]
}

// Started is a connection that a person has to go on with.
type Started struct {
	AuthorizeURL string // for the bound browser alone
	Issuer       string
	ExpiresAt    time.Time
}

// Start begins a connection for an admin, or for a member whose agent it is: Denied for others, a Conflict where no account can be connected there, where the
// authorization server wants a client that an admin makes, or where an entered client secret belongs to another server; Upstream
// where a server fails us. A *[Failed] is in the chain as soon as servers were asked.
func (b *Broker) Start(ctx context.Context, a auth.Actor, o Order) (Started, error) {
	p, err := b.mine(ctx, a, o.Connector, o.Agent)
	if err != nil {
		return Started{}, err
	}
	d, err := b.prepare(ctx, p, departing{by: starter(a), began: new(a.Event(actBegin, "")), browserHash: browserHash(o.Browser), returnTo: o.ReturnTo})
	if err != nil {
		return Started{}, err
	}
	return b.depart(ctx, d)
}

// departing is who is about to be sent away, and where from.
type departing struct {
	by          store.Starter
	began       *store.Event // for the audit log; nil: it is begun anew, by nobody
	browserHash []byte       // empty: nothing binds it
	returnTo    string
	try         int // how often this connection was begun anew already
}

// departure is a flow that is ready to be stored, and the address that begins it.
type departure struct {
	survey
	flow  store.NewFlow
	url   string
	began *store.Event // as of departing
}

// prepare asks everybody who has to be asked, and makes everything but the flow's row.
func (b *Broker) prepare(ctx context.Context, p place, who departing) (departure, error) {
	ctx, cancel := context.WithTimeout(ctx, prepareTime)
	defer cancel()
	look := b.survey
	if who.by.Type == typeLink {
		look = b.surveyOnce
	}
	s, err := look(ctx, p)
	if learned := b.learn(ctx, s); learned != nil {
		return departure{}, learned
	}
	if err != nil {
		return departure{}, b.failed(s, err)
	}
	return b.draw(ctx, s, who)
}

// draw makes the flow and its address, for a client that is found or registered on the way.
func (b *Broker) draw(ctx context.Context, s survey, who departing) (departure, error) {
	if len(who.browserHash) == 0 {
		return departure{}, errors.New("start a connection: there is no browser to bind it to")
	}
	client, err := b.client(ctx, s)
	if err != nil {
		return departure{}, b.failed(s, err)
	}
	state, pkce := newState(who.try), oauth.NewPKCE()
	address, err := b.authorizeURL(s, client, state, pkce)
	if err != nil {
		return departure{}, b.failed(s, err)
	}
	return departure{survey: s, url: address, began: who.began, flow: store.NewFlow{
		StateHash: oauth.HashState(state), BrowserHash: who.browserHash, ConnectorID: s.connector.ID, AgentID: s.agentID(),
		StartedBy: who.by, Origin: connectors.Origin(s.connector.URL), Server: s.discovery.Server, ClientID: client.ClientID,
		Resource: s.discovery.Resource, Scopes: s.scopes, RedirectURI: b.RedirectURI(),
		ReturnTo: respond.OwnPath(who.returnTo, ""), Verifier: secret.Text(pkce.Verifier.Reveal()),
	}}, nil
}

func (b *Broker) authorizeURL(s survey, client oauth.Registration, state oauth.Secret, pkce oauth.PKCE) (string, error) {
	return b.oauth.AuthorizationURL(oauth.AuthorizationRequest{
		Peer:        oauth.Peer{Server: s.discovery.Server, Client: client, Resource: s.discovery.Resource},
		RedirectURI: b.RedirectURI(), State: state, Challenge: pkce.Challenge, Scopes: s.scopes,
	})
}

// depart stores the flow: from here on its address works, once.
func (b *Broker) depart(ctx context.Context, d departure) (Started, error) {
	err := b.tenant(d.tenant).Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.SaveFlow(ctx, d.flow); err != nil || d.began == nil {
			return err
		}
		e := d.about(*d.began)
		e.Detail["issuer"], e.Detail["scopes"] = d.flow.Server.Issuer, d.flow.Scopes
		return tx.Record(ctx, e)
	})
	if err != nil {
		return Started{}, err
	}
	b.log.InfoContext(ctx, "connection started", append(d.attrs(), slog.String("issuer", d.flow.Server.Issuer))...)
	return Started{AuthorizeURL: d.url, Issuer: d.flow.Server.Issuer, ExpiresAt: b.now().Add(flowLife)}, nil
}

// browserHash is what is stored of a binding; of none nothing.
func browserHash(binding secret.Text) []byte {
	if binding.Empty() {
		return nil
	}
	sum := sha256.Sum256([]byte(binding.Reveal()))
	return sum[:]
}

// newState makes a state whose end tells how often the connection was begun anew. Nobody can change that: the hash of the whole is
// what finds the flow.
func newState(try int) oauth.Secret {
	state := oauth.NewState()
	if try == 0 {
		return state
	}
	return oauth.Secret(state.Reveal() + "." + strconv.Itoa(try))
}

func tryOf(state string) int {
	_, number, _ := strings.Cut(state, ".")
	try, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return try
}
