package admin

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// formatCount is the number of rows: with a plus if more follow, and "here" if others came before.
func formatCount(ctx context.Context, n int, p templates.Pager, one, other i18n.Key) string {
	switch {
	case p.First != "":
		return i18n.T(ctx, "%s on this page", i18n.N(ctx, n, one, other))
	case p.Next != "":
		return i18n.T(ctx, other, i18n.Number(ctx, n)+"+")
	}
	return i18n.N(ctx, n, one, other)
}

// initialLetter is the letter in a thing's icon.
func initialLetter(name string) string {
	for _, c := range name {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return string(unicode.ToUpper(c))
		}
	}
	return "?"
}

// cleanText makes remote text safe to show. Invalid UTF-8, bidirectional controls and invisible characters,
// which a model reads and a person does not see, are shown as JSON escapes.
func cleanText(s string) string {
	return connectors.Visible(strings.ToValidUTF8(s, "\uFFFD"), isInvisible)
}

func isInvisible(r rune) bool {
	return connectors.Hidden(r) || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
}

// translateAll translates sentences of other packages into the reader's language.
func translateAll(ctx context.Context, sentences []string) []string {
	said := make([]string, len(sentences))
	for i, s := range sentences {
		said[i] = i18n.TranslateKnown(ctx, s)
	}
	return said
}

func roleName(ctx context.Context, r connectors.Role) string {
	switch r {
	case connectors.RoleViewer:
		return i18n.T(ctx, "Viewer")
	case connectors.RoleMember:
		return i18n.T(ctx, "Member")
	case connectors.RoleAdmin:
		return i18n.T(ctx, "Admin")
	case connectors.RoleOwner:
		return i18n.T(ctx, "Owner")
	case connectors.RoleAuditor:
		return i18n.T(ctx, "Auditor")
	default:
		return string(r)
	}
}

// roleOptions offers the roles with their permissions, weakest first, and auditor last.
func roleOptions(ctx context.Context) []templates.Option {
	var options []templates.Option
	for _, r := range connectors.Roles {
		options = append(options, templates.Option{Value: string(r), Label: roleAbility(ctx, r)})
	}
	return options
}

// roleAbility is a role with what it adds to the one before.
func roleAbility(ctx context.Context, r connectors.Role) string {
	switch r {
	case connectors.RoleViewer:
		return i18n.T(ctx, "Viewer: reads")
	case connectors.RoleMember:
		return i18n.T(ctx, "Member: also syncs, runs tools and decides approvals")
	case connectors.RoleAdmin:
		return i18n.T(ctx, "Admin: also manages connectors, agents and credentials")
	case connectors.RoleOwner:
		return i18n.T(ctx, "Owner: also manages members, keys and settings")
	case connectors.RoleAuditor:
		return i18n.T(ctx, "Auditor: reads, the audit log included, and changes nothing")
	default:
		return string(r)
	}
}

// roleNames offers the roles by name only.
func roleNames(ctx context.Context) []templates.Option {
	var options []templates.Option
	for _, r := range connectors.Roles {
		options = append(options, templates.Option{Value: string(r), Label: roleName(ctx, r)})
	}
	return options
}

func authName(ctx context.Context, t connectors.AuthType) string {
	switch t {
	case connectors.AuthBearer:
		return "Bearer"
	case connectors.AuthAPIKey:
		return i18n.T(ctx, "API key")
	case connectors.AuthBasic:
		return "Basic"
	case connectors.AuthOAuth2:
		return "OAuth"
	case connectors.AuthClientCredentials:
		return i18n.T(ctx, "Client credentials")
	case connectors.AuthPrivateKeyJWT:
		return i18n.T(ctx, "Private key JWT")
	default:
		return i18n.T(ctx, "None")
	}
}

func modeName(ctx context.Context, m connectors.CredentialMode) string {
	if m == connectors.CredentialPerAgent {
		return i18n.T(ctx, "per agent")
	}
	return i18n.T(ctx, "shared")
}

// credentialName words a connector's authentication: "Bearer · shared".
func credentialName(ctx context.Context, c connectors.Connector) string {
	if c.Auth.Type == connectors.AuthNone {
		return authName(ctx, c.Auth.Type)
	}
	return authName(ctx, c.Auth.Type) + " · " + modeName(ctx, c.CredentialMode)
}

func transportName(ctx context.Context, t connectors.Transport) string {
	switch t {
	case connectors.TransportStreamableHTTP:
		return "Streamable HTTP"
	case connectors.TransportSSE:
		return "HTTP + SSE"
	case connectors.TransportHTTP:
		return i18n.T(ctx, "HTTP, JSON only")
	case connectors.TransportStdio:
		return i18n.T(ctx, "Program (stdio)")
	default:
		return string(t)
	}
}

func triggerName(ctx context.Context, t connectors.SyncTrigger) string {
	switch t {
	case connectors.TriggerManual:
		return i18n.T(ctx, "Manual")
	case connectors.TriggerAPI:
		return "API"
	case connectors.TriggerOAuth:
		return i18n.T(ctx, "Sign-in at the server")
	case connectors.TriggerSchedule:
		return i18n.T(ctx, "Schedule")
	case connectors.TriggerListChanged:
		return i18n.T(ctx, "The server said so")
	default:
		return string(t)
	}
}

func statusName(ctx context.Context, s connectors.ConnectorStatus) string {
	switch s {
	case connectors.StatusOK:
		return i18n.T(ctx, "Connected")
	case connectors.StatusError:
		return i18n.T(ctx, "Sync failed")
	case connectors.StatusNeedsAuth:
		return i18n.T(ctx, "Needs authorization")
	case connectors.StatusDisabled:
		return i18n.T(ctx, "Disabled")
	default:
		return i18n.T(ctx, "Never synced")
	}
}

func connectorState(ctx context.Context, c connectors.Connector) templates.State {
	if c.Running != nil {
		return templates.State{Kind: templates.StateBusy, Text: i18n.T(ctx, "Syncing")}
	}
	kind := templates.StateOff
	switch c.Status {
	case connectors.StatusOK:
		kind = templates.StateOK
	case connectors.StatusError, connectors.StatusNeedsAuth:
		kind = templates.StateBad
	}
	return templates.State{Kind: kind, Text: statusName(ctx, c.Status)}
}

func runState(ctx context.Context, s connectors.SyncState) templates.State {
	switch s {
	case connectors.SyncOK:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Done")}
	case connectors.SyncFailed:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Failed")}
	case connectors.SyncRunning:
		return templates.State{Kind: templates.StateBusy, Text: i18n.T(ctx, "Running")}
	default:
		return templates.State{Kind: templates.StateBusy, Text: i18n.T(ctx, "Queued")}
	}
}

// credentialState words a credential's status; an empty status means that there is none.
func credentialState(ctx context.Context, t connectors.AuthType, s connectors.CredentialStatus) templates.State {
	if t == connectors.AuthOAuth2 {
		return accountState(ctx, s)
	}
	switch s {
	case "":
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Not set")}
	case connectors.CredentialActive:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Stored")}
	case connectors.CredentialExpired:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Expired")}
	case connectors.CredentialRefreshFailed:
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Refresh failed, still trying")}
	default:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Revoked")}
	}
}

// accountState words an account's status; an empty status means that none is connected.
func accountState(ctx context.Context, s connectors.CredentialStatus) templates.State {
	switch s {
	case "":
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Not connected")}
	case connectors.CredentialActive:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Connected")}
	case connectors.CredentialRefreshFailed:
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Refresh failed, still trying")}
	default:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Must be reconnected")}
	}
}

// phaseName says in which phase a connection to a server failed.
func phaseName(ctx context.Context, phase string) string {
	switch phase {
	case "connect":
		return i18n.T(ctx, "while connecting")
	case "discover":
		return i18n.T(ctx, "while looking for the server")
	case "initialize":
		return i18n.T(ctx, "while opening the session")
	case "initialized":
		return i18n.T(ctx, "while confirming the session")
	case "list":
		return i18n.T(ctx, "while reading the tools")
	case "auth":
		return i18n.T(ctx, "while authenticating")
	case "close":
		return i18n.T(ctx, "while closing the session")
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
