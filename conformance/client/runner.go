package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"patchbay/conformance/patchbay"
)

// maxConnects bounds how often the account is connected again. The suite allows three requests for one account.
const maxConnects = 5

// scenarioRunner runs a scenario for one MCP server.
type scenarioRunner struct {
	patchbay patchbay.Patchbay
	server   string
	scenario testScenario
	revision string // newest MCP revision of the agent; empty: all
	out      io.Writer

	owner owner
	// workloadFile is the operator's file with the token "conformance".
	workloadFile string
	connector    string // slug
}

// failedPage is a page of Patchbay that reports a failure.
type failedPage struct{ webPage }

// Error returns the page's text.
func (d *failedPage) Error() string {
	return fmt.Sprintf("connecting ended at %s with %d: %s", d.url.Path, d.status, d.text)
}

// runScenario performs the scenario up to its expected end.
func (c *scenarioRunner) runScenario(ctx context.Context) error {
	if c.scenario.workloadJWT != "" {
		if err := os.WriteFile(c.workloadFile, []byte(c.scenario.workloadJWT), 0o600); err != nil {
			return err
		}
	}
	c.connector = "c" + strings.ToLower(rand.Text()[:12])
	if _, err := c.patchbay.CreateConnector(ctx, c.newConnector()); err != nil {
		return fmt.Errorf("create the connector: %w", err)
	}
	defer c.deleteConnector(ctx)
	if c.scenario.identity.TokenEndpoint != "" {
		return c.runEnterprise(ctx)
	}
	if err := c.signIn(ctx); err != nil || c.scenario.expected == refusedAtConnect || c.scenario.expected == refusedAtCallback {
		return c.checkSignIn(err)
	}
	if err := c.checkSync(c.syncTwice(ctx)); err != nil {
		return err
	}
	if c.scenario.expected == syncRefused {
		return nil
	}
	return c.startAgent(ctx)
}

// deleteConnector deletes the connector and so closes connections to the suite's server, which waits for that.
func (c *scenarioRunner) deleteConnector(ctx context.Context) {
	if err := c.patchbay.DeleteConnector(ctx, c.connector); err != nil {
		c.printLine("the connector stays: %v", err)
	}
}

// newConnector returns a connector with a unique name and without scheduled syncs.
func (c *scenarioRunner) newConnector() map[string]any {
	name := strings.NewReplacer("/", " ", "_", " ").Replace(c.scenario.name)
	connector := map[string]any{
		"name": name + " " + c.connector, "slug": c.connector, "url": c.server, "auth": c.scenario.auth,
		"timeout_ms": 30_000, "retry_attempts": 1, "sync_interval_s": 0, "tool_changes": "auto", // skills wait for review otherwise
	}
	if c.scenario.identity.TokenEndpoint != "" {
		connector["credential_mode"] = "per_agent"
	}
	return connector
}

// signIn connects the account, if the connector uses OAuth.
func (c *scenarioRunner) signIn(ctx context.Context) error {
	if c.scenario.auth["type"] != "oauth2" {
		return nil
	}
	link, err := c.patchbay.Connect(ctx, c.connector)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return c.followConnectLink(ctx, link)
}

// followConnectLink opens a connect page in a new browser and submits its form.
func (c *scenarioRunner) followConnectLink(ctx context.Context, link string) error {
	b, err := newBrowser()
	if err != nil {
		return err
	}
	invitation, err := b.openPage(ctx, link)
	if err != nil {
		return fmt.Errorf("open the connect page: %w", err)
	}
	if invitation.status != http.StatusOK || invitation.form == nil {
		return &failedPage{invitation}
	}
	end, err := b.submitForm(ctx, invitation)
	if err != nil {
		return fmt.Errorf("press the connect page's button: %w", err)
	}
	if end.status != http.StatusOK {
		return &failedPage{end}
	}
	c.printLine("connected: %s", end.text)
	return nil
}

func (c *scenarioRunner) checkSignIn(err error) error {
	if err == nil {
		return errors.New("the account was connected, and must not have been")
	}
	if where, ok := refusedAt(err); !ok || where != c.scenario.expected {
		return err
	}
	c.printLine("refused, as it should be: %v", err)
	return nil
}

// refusedAt reports where Patchbay refused. An internal error is no refusal.
func refusedAt(err error) (expectedEnd, bool) {
	if p, ok := errors.AsType[*patchbay.Problem](err); ok {
		return refusedAtConnect, p.Status != http.StatusInternalServerError
	}
	d, ok := errors.AsType[*failedPage](err)
	if !ok || d.status == http.StatusInternalServerError {
		return 0, false
	}
	if strings.HasSuffix(d.url.Path, "/oauth/callback") {
		return refusedAtCallback, true
	}
	return refusedAtConnect, true
}

// syncTwice syncs twice, because a server may refuse a token after one request.
func (c *scenarioRunner) syncTwice(ctx context.Context) error {
	for range 2 {
		if err := c.syncOnce(ctx); err != nil {
			return err
		}
	}
	return nil
}

// syncOnce syncs, and connects the account again while a refusal asks for it.
func (c *scenarioRunner) syncOnce(ctx context.Context) error {
	for range maxConnects {
		total, err := c.patchbay.Sync(ctx, c.connector)
		if err == nil {
			c.printLine("synced %d tools", total)
			return nil
		}
		refused, ok := errors.AsType[*patchbay.Problem](err)
		if !ok || refused.Status != http.StatusConflict || refused.ConnectURL == "" {
			return fmt.Errorf("sync: %w", err)
		}
		c.printLine("sync: %v", err)
		if err := c.followConnectLink(ctx, refused.ConnectURL); err != nil {
			return err
		}
	}
	return fmt.Errorf("Patchbay still asks to connect the account after %d times", maxConnects)
}

func (c *scenarioRunner) checkSync(err error) error {
	_, refused := refusedAt(err)
	switch {
	case c.scenario.expected == syncRefused && err == nil:
		return errors.New("the sync succeeded, and the server never allows it")
	case c.scenario.expected == syncRefused && refused:
		c.printLine("Patchbay stopped asking: %v", err)
		return nil
	}
	return err
}

// startAgent connects an agent and runs the scenario's steps.
func (c *scenarioRunner) startAgent(ctx context.Context) error {
	endpoint, err := c.patchbay.CreateAgent(ctx, c.connector, c.connector)
	if err != nil {
		return err
	}
	a, err := connectAgent(ctx, endpoint, c.revision)
	if err != nil {
		return err
	}
	defer a.session.Close()
	a.context = c.scenario.context
	c.printLine("the agent sees %d tools", len(a.tools))
	return c.runAgent(ctx, a)
}

// runAgent runs the steps again after connecting the account, if a call was refused for it.
func (c *scenarioRunner) runAgent(ctx context.Context, a *gatewayAgent) error {
	for range maxConnects {
		err := c.scenario.steps(a, ctx)
		refused, ok := errors.AsType[*refusedCall](err)
		if !ok || refused.code != "needs_authorization" {
			return err
		}
		c.printLine("%v", err)
		if err := c.signIn(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("the gateway still asks to connect the account after %d times", maxConnects)
}

func (c *scenarioRunner) printLine(format string, args ...any) {
	fmt.Fprintf(c.out, format+"\n", args...)
}
