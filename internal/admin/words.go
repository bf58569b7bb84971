package admin

import (
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// plural counts things: "1 tool", "23 tools", "1,204 tools".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return number(n) + " " + word + "s"
}

// countOf is the count of a list's page: with a plus where more follows, and as what is here where others came before.
func countOf(n int, p templates.Pager, word string) string {
	switch {
	case p.First != "":
		return plural(n, word) + " on this page"
	case p.Next != "":
		return number(n) + "+ " + word + "s"
	}
	return plural(n, word)
}

// number groups thousands.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// initial is the letter of a thing's picture.
func initial(name string) string {
	for _, c := range name {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return string(unicode.ToUpper(c))
		}
	}
	return "?"
}

// clean makes remote text fit for a page: it may hold bytes that are no UTF-8, and characters that turn the text around or
// that a model reads and a person does not see. Those are shown by their number, as JSON escapes them.
func clean(s string) string {
	return connectors.Visible(strings.ToValidUTF8(s, "\uFFFD"), unseen)
}

func unseen(r rune) bool {
	return connectors.Hidden(r) || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
}

func roleName(r connectors.Role) string {
	if r == "" {
		return ""
	}
	return strings.ToUpper(string(r[:1])) + string(r[1:])
}

// roleOptions offers the roles, weakest first.
func roleOptions() []templates.Option {
	var options []templates.Option
	for _, r := range connectors.Roles {
		options = append(options, templates.Option{Value: string(r), Label: roleAbility(r)})
	}
	return options
}

// roleAbility is a role with what it may do beyond the one before.
func roleAbility(r connectors.Role) string {
	switch r {
	case connectors.RoleViewer:
		return "Viewer: reads"
	case connectors.RoleMember:
		return "Member: also syncs, runs tools and decides approvals"
	case connectors.RoleAdmin:
		return "Admin: also manages connectors, agents and credentials"
	case connectors.RoleOwner:
		return "Owner: also manages members, keys and settings"
	default:
		return string(r)
	}
}

// roleNames offers the roles where there is room for a word.
func roleNames() []templates.Option {
	var options []templates.Option
	for _, r := range connectors.Roles {
		options = append(options, templates.Option{Value: string(r), Label: roleName(r)})
	}
	return options
}

func authName(t connectors.AuthType) string {
	switch t {
	case connectors.AuthBearer:
		return "Bearer"
	case connectors.AuthAPIKey:
		return "API key"
	case connectors.AuthBasic:
		return "Basic"
	case connectors.AuthOAuth2:
		return "OAuth"
	case connectors.AuthClientCredentials:
		return "Client credentials"
	case connectors.AuthPrivateKeyJWT:
		return "Private key JWT"
	default:
		return "None"
	}
}

func modeName(m connectors.CredentialMode) string {
	if m == connectors.CredentialPerAgent {
		return "per agent"
	}
	return "shared"
}

// credentialName says how a connector is authenticated: "Bearer · shared".
func credentialName(c connectors.Connector) string {
	if c.Auth.Type == connectors.AuthNone {
		return authName(c.Auth.Type)
	}
	return authName(c.Auth.Type) + " · " + modeName(c.CredentialMode)
}

func transportName(t connectors.Transport) string {
	switch t {
	case connectors.TransportStreamableHTTP:
		return "Streamable HTTP"
	case connectors.TransportSSE:
		return "HTTP + SSE"
	case connectors.TransportHTTP:
		return "HTTP, JSON only"
	case connectors.TransportStdio:
		return "Program (stdio)"
	default:
		return string(t)
	}
}

func triggerName(t connectors.SyncTrigger) string {
	switch t {
	case connectors.TriggerManual:
		return "Manual"
	case connectors.TriggerAPI:
		return "API"
	case connectors.TriggerOAuth:
		return "Sign-in at the server"
	case connectors.TriggerSchedule:
		return "Schedule"
	case connectors.TriggerListChanged:
		return "The server said so"
	default:
		return string(t)
	}
}

func statusName(s connectors.ConnectorStatus) string {
	switch s {
	case connectors.StatusOK:
		return "Connected"
	case connectors.StatusError:
		return "Sync failed"
	case connectors.StatusNeedsAuth:
		return "Needs authorization"
	case connectors.StatusDisabled:
		return "Disabled"
	default:
		return "Never synced"
	}
}

// connectorState is a connector's condition, as lists and its own page show it.
func connectorState(c connectors.Connector) templates.State {
	if c.Running != nil {
		return templates.State{Kind: templates.StateBusy, Text: "Syncing"}
	}
	kind := templates.StateOff
	switch c.Status {
	case connectors.StatusOK:
		kind = templates.StateOK
	case connectors.StatusError, connectors.StatusNeedsAuth:
		kind = templates.StateBad
	}
	return templates.State{Kind: kind, Text: statusName(c.Status)}
}

func runState(s connectors.SyncState) templates.State {
	switch s {
	case connectors.SyncOK:
		return templates.State{Kind: templates.StateOK, Text: "Done"}
	case connectors.SyncFailed:
		return templates.State{Kind: templates.StateBad, Text: "Failed"}
	case connectors.SyncRunning:
		return templates.State{Kind: templates.StateBusy, Text: "Running"}
	default:
		return templates.State{Kind: templates.StateBusy, Text: "Queued"}
	}
}

// credentialState is a credential's condition; no status: there is none.
func credentialState(t connectors.AuthType, s connectors.CredentialStatus) templates.State {
	if t == connectors.AuthOAuth2 {
		return accountState(s)
	}
	switch s {
	case "":
		return templates.State{Kind: templates.StateOff, Text: "Not set"}
	case connectors.CredentialActive:
		return templates.State{Kind: templates.StateOK, Text: "Stored"}
	case connectors.CredentialExpired:
		return templates.State{Kind: templates.StateBad, Text: "Expired"}
	case connectors.CredentialRefreshFailed:
		return templates.State{Kind: templates.StateWarn, Text: "Refresh failed, still trying"}
	default:
		return templates.State{Kind: templates.StateBad, Text: "Revoked"}
	}
}

// accountState is the condition of a connected account; no status: none is connected.
func accountState(s connectors.CredentialStatus) templates.State {
	switch s {
	case "":
		return templates.State{Kind: templates.StateOff, Text: "Not connected"}
	case connectors.CredentialActive:
		return templates.State{Kind: templates.StateOK, Text: "Connected"}
	case connectors.CredentialRefreshFailed:
		return templates.State{Kind: templates.StateWarn, Text: "Refresh failed, still trying"}
	default:
		return templates.State{Kind: templates.StateBad, Text: "Must be reconnected"}
	}
}

// phaseName says where a conversation with a server ended.
func phaseName(phase string) string {
	switch phase {
	case "connect":
		return "while connecting"
	case "discover":
		return "while looking for the server"
	case "initialize":
		return "while opening the session"
	case "initialized":
		return "while confirming the session"
	case "list":
		return "while reading the tools"
	case "auth":
		return "while authenticating"
	case "close":
		return "while closing the session"
	default:
		return phase
	}
}

func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return strconv.Itoa(status) + " " + text
	}
	return strconv.Itoa(status)
}
