package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"patchbay/conformance/patchbay"
)

// maxOffers is how often somebody follows a page that says "connect again" before losing patience. The suite allows the
// client to ask for one account three times.
const maxOffers = 5

// colleague has an MCP server's address, and wants its tools in Patchbay.
type colleague struct {
	patchbay patchbay.Patchbay
	server   string
	scenario scenario
	revision string // the newest that the agent speaks; empty: all
	out      io.Writer

	connector string // its slug
}

// deadEnd is a page of Patchbay's that goes no further.
type deadEnd struct{ page }

// Error is what the page says.
func (d *deadEnd) Error() string {
	return fmt.Sprintf("connecting ended at %s with %d: %s", d.url.Path, d.status, d.text)
}

// play does what a person would, to the end that the scenario allows.
func (c *colleague) play(ctx context.Context) error {
	if c.scenario.hopeless != "" {
		return errors.New(c.scenario.hopeless)
	}
	c.connector = "c" + strings.ToLower(rand.Text()[:12])
	if _, err := c.patchbay.CreateConnector(ctx, c.draft()); err != nil {
		return fmt.Errorf("create the connector: %w", err)
	}
	defer c.tidyUp(ctx)
	if err := c.signIn(ctx); err != nil || c.scenario.ends == refusedAtConnect || c.scenario.ends == refusedAtCallback {
		return c.judgeSignIn(err)
	}
	if err := c.judgeSync(c.syncTwice(ctx)); err != nil {
		return err
	}
	if c.scenario.ends == syncRefused {
		return nil
	}
	return c.sendAgent(ctx)
}

// tidyUp takes the connector away, and so ends what Patchbay keeps open to the suite's server, which would wait for it.
func (c *colleague) tidyUp(ctx context.Context) {
	if err := c.patchbay.DeleteConnector(ctx, c.connector); err != nil {
		c.say("the connector stays: %v", err)
	}
}

// draft is a connector with a name of its own, which starts nothing by itself.
func (c *colleague) draft() map[string]any {
	name := strings.NewReplacer("/", " ", "_", " ").Replace(c.scenario.name)
	return map[string]any{
		"name": name + " " + c.connector, "slug": c.connector, "url": c.server, "auth": c.scenario.auth,
		"timeout_ms": 30_000, "retry_attempts": 1, "sync_interval_s": 0,
	}
}

// signIn connects the account, where a person has one.
func (c *colleague) signIn(ctx context.Context) error {
	if c.scenario.auth["type"] != "oauth2" {
		return nil
	}
	link, err := c.patchbay.Connect(ctx, c.connector)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return c.follow(ctx, link)
}

// follow opens a connect page and presses its button, in a browser that was never here before.
func (c *colleague) follow(ctx context.Context, link string) error {
	b, err := newBrowser()
	if err != nil {
		return err
	}
	invitation, err := b.open(ctx, link)
	if err != nil {
		return fmt.Errorf("open the connect page: %w", err)
	}
	if invitation.status != http.StatusOK || invitation.form == nil {
		return &deadEnd{invitation}
	}
	end, err := b.press(ctx, invitation)
	if err != nil {
		return fmt.Errorf("press the connect page's button: %w", err)
	}
	if end.status != http.StatusOK {
		return &deadEnd{end}
	}
	c.say("connected: %s", end.text)
	return nil
}

func (c *colleague) judgeSignIn(err error) error {
	if err == nil {
		return errors.New("the account was connected, and must not have been")
	}
	if where, ok := refusedAt(err); !ok || where != c.scenario.ends {
		return err
	}
	c.say("refused, as it should be: %v", err)
	return nil
}

// refusedAt tells where Patchbay refused, if that is what it did: a failure on its own side is no refusal.
func refusedAt(err error) (ending, bool) {
	if p, ok := errors.AsType[*patchbay.Problem](err); ok {
		return refusedAtConnect, p.Status != http.StatusInternalServerError
	}
	d, ok := errors.AsType[*deadEnd](err)
	if !ok || d.status == http.StatusInternalServerError {
		return 0, false
	}
	if strings.HasSuffix(d.url.Path, "/oauth/callback") {
		return refusedAtCallback, true
	}
	return refusedAtConnect, true
}

// syncTwice syncs, and once more: what a server grants for one request it may refuse for the next.
func (c *colleague) syncTwice(ctx context.Context) error {
	for range 2 {
		if err := c.sync(ctx); err != nil {
			return err
		}
	}
	return nil
}

// sync follows each page that a refusal offers, and tries again.
func (c *colleague) sync(ctx context.Context) error {
	for range maxOffers {
		total, err := c.patchbay.Sync(ctx, c.connector)
		if err == nil {
			c.say("synced %d tools", total)
			return nil
		}
		refused, ok := errors.AsType[*patchbay.Problem](err)
		if !ok || refused.Status != http.StatusConflict || refused.ConnectURL == "" {
			return fmt.Errorf("sync: %w", err)
		}
		c.say("sync: %v", err)
		if err := c.follow(ctx, refused.ConnectURL); err != nil {
			return err
		}
	}
	return fmt.Errorf("Patchbay still asks to connect the account after %d times", maxOffers)
}

func (c *colleague) judgeSync(err error) error {
	_, refused := refusedAt(err)
	switch {
	case c.scenario.ends == syncRefused && err == nil:
		return errors.New("the sync succeeded, and the server never allows it")
	case c.scenario.ends == syncRefused && refused:
		c.say("Patchbay stopped asking: %v", err)
		return nil
	}
	return err
}

// sendAgent lets an agent in at the gateway, and waits until it has done what the scenario is about.
func (c *colleague) sendAgent(ctx context.Context) error {
	door, err := c.patchbay.OpenDoor(ctx, c.connector, c.connector)
	if err != nil {
		return err
	}
	a, err := enter(ctx, door, c.revision)
	if err != nil {
		return err
	}
	defer a.session.Close()
	a.given = c.scenario.given
	c.say("the agent sees %d tools", len(a.tools))
	return c.supervise(ctx, a)
}

// supervise connects the account again where a call is refused for want of it, and lets the agent try once more.
func (c *colleague) supervise(ctx context.Context, a *agent) error {
	for range maxOffers {
		err := c.scenario.play(a, ctx)
		refused, ok := errors.AsType[*refusal](err)
		if !ok || refused.code != "needs_authorization" {
			return err
		}
		c.say("%v", err)
		if err := c.signIn(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("the gateway still asks to connect the account after %d times", maxOffers)
}

func (c *colleague) say(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }
