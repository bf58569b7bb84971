package shell

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// ApprovalOptions offers the approval modes.
func ApprovalOptions(ctx context.Context) []templates.Option {
	return []templates.Option{
		{Value: string(connectors.ApprovalAlwaysAsk), Label: i18n.T(ctx, "Ask every time")},
		{Value: string(connectors.ApprovalAskAll), Label: i18n.T(ctx, "Ask every time, including prompts and resources")},
		{Value: string(connectors.ApprovalTrustedOnly), Label: i18n.T(ctx, "Ask, except for trusted tools")},
		{Value: string(connectors.ApprovalAuto), Label: i18n.T(ctx, "Never ask")},
	}
}

// ToolListOptions are the choices of an agent's tool list.
func ToolListOptions(ctx context.Context) []templates.Option {
	return []templates.Option{
		{Value: string(connectors.ToolListFull), Label: i18n.T(ctx, "Full: all tools")},
		{Value: string(connectors.ToolListLean), Label: i18n.T(ctx, "Lean: pinned tools and search")},
		{Value: string(connectors.ToolListAuto), Label: i18n.T(ctx, "Automatic: lean if the full list is large")},
	}
}

// FormatTimes writes how often something happened.
func FormatTimes(ctx context.Context, n int) string {
	switch n {
	case 1:
		return i18n.T(ctx, "once")
	case 2:
		return i18n.T(ctx, "twice")
	default:
		return i18n.T(ctx, "%s times", i18n.Number(ctx, n))
	}
}

// WithChosen adds the chosen value if the options, which are bounded, do not have it.
func WithChosen(options []templates.Option, chosen string) []templates.Option {
	if slices.ContainsFunc(options, func(o templates.Option) bool { return o.Value == chosen }) {
		return options
	}
	return append(options, templates.Option{Value: chosen, Label: ShortenText(chosen, MaxName)})
}

// ConnectorBySlug returns the connector of that slug, from known if it is there.
func ConnectorBySlug(ctx context.Context, tenant store.Connectors, slug string, known []connectors.Connector) (connectors.Connector, error) {
	for _, c := range known {
		if c.Slug == slug {
			return c, nil
		}
	}
	return tenant.Get(ctx, connectors.Ref(slug))
}

// HostWithPort is the host of an address; empty if it is malformed.
func HostWithPort(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// HostWithUnicode is the host of an address, followed by its Unicode form if it has one.
func HostWithUnicode(address string) string {
	host, readable := HostWithPort(address), HostWithPort(connectors.UnicodeURL(address))
	if readable == "" {
		return host
	}
	return host + " (" + readable + ")"
}

// FormatCount is the number of rows: with a plus if more follow, and "here" if others came before.
func FormatCount(ctx context.Context, n int, p templates.Pager, one, other i18n.Key) string {
	if p.Next == "" {
		p.Total = p.To // the last page tells the number of rows
	}
	switch {
	case p.IsWhole():
		return i18n.N(ctx, n, one, other)
	case p.Total > 0:
		things := i18n.N(ctx, p.Total, one, other)
		if p.Least && p.Next != "" {
			things = i18n.T(ctx, other, p.TotalText(ctx))
		}
		return p.Of(ctx, things)
	case p.From == 1:
		return i18n.T(ctx, other, i18n.Number(ctx, n)+"+")
	}
	return i18n.T(ctx, other, p.Rows(ctx))
}

// InitialLetter is the letter in a thing's icon.
func InitialLetter(name string) string {
	for _, c := range name {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return string(unicode.ToUpper(c))
		}
	}
	return "?"
}

// CleanText makes remote text safe to show. Invalid UTF-8, bidirectional controls and invisible characters,
// which a model reads and a person does not see, are shown as JSON escapes.
func CleanText(s string) string {
	return connectors.Visible(strings.ToValidUTF8(s, "\uFFFD"), IsInvisible)
}

// IsInvisible reports whether a character cannot be seen, or changes the direction of text.
func IsInvisible(r rune) bool {
	return connectors.Hidden(r) || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
}

// TranslateAll translates sentences of other packages into the reader's language.
func TranslateAll(ctx context.Context, sentences []string) []string {
	said := make([]string, len(sentences))
	for i, s := range sentences {
		said[i] = i18n.TranslateKnown(ctx, s)
	}
	return said
}

// RoleName is a role in the person's language.
func RoleName(ctx context.Context, r connectors.Role) string {
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

// RoleOptions offers the roles with their permissions, weakest first, and auditor last.
func RoleOptions(ctx context.Context) []templates.Option {
	var options []templates.Option
	for _, r := range connectors.Roles {
		options = append(options, templates.Option{Value: string(r), Label: RoleAbility(ctx, r)})
	}
	return options
}

// RoleAbility is a role with what it adds to the one before.
func RoleAbility(ctx context.Context, r connectors.Role) string {
	switch r {
	case connectors.RoleViewer:
		return i18n.T(ctx, "Viewer: read-only")
	case connectors.RoleMember:
		return i18n.T(ctx, "Member: also syncs, runs tools, decides approvals")
	case connectors.RoleAdmin:
		return i18n.T(ctx, "Admin: also manages connectors, agents and credentials")
	case connectors.RoleOwner:
		return i18n.T(ctx, "Owner: also manages members, keys and settings")
	case connectors.RoleAuditor:
		return i18n.T(ctx, "Auditor: read-only, including the audit log")
	default:
		return string(r)
	}
}

// RoleNames offers the roles by name only.
func RoleNames(ctx context.Context) []templates.Option {
	var options []templates.Option
	for _, r := range connectors.Roles {
		options = append(options, templates.Option{Value: string(r), Label: RoleName(ctx, r)})
	}
	return options
}

// AuthName is a type of authentication in the person's language.
func AuthName(ctx context.Context, t connectors.AuthType) string {
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

// CredentialName words a connector's authentication: "Bearer · shared".
func CredentialName(ctx context.Context, c connectors.Connector) string {
	if c.Auth.Type == connectors.AuthNone {
		return AuthName(ctx, c.Auth.Type)
	}
	return AuthName(ctx, c.Auth.Type) + " · " + modeName(ctx, c.CredentialMode)
}

// TransportName is a transport in the person's language.
func TransportName(ctx context.Context, t connectors.Transport) string {
	switch t {
	case connectors.TransportStreamableHTTP:
		return "Streamable HTTP"
	case connectors.TransportSSE:
		return "HTTP + SSE"
	case connectors.TransportHTTP:
		return i18n.T(ctx, "HTTP, JSON only")
	case connectors.TransportStdio:
		return i18n.T(ctx, "Program (stdio)")
	case connectors.TransportAPI:
		return i18n.T(ctx, "HTTP API")
	default:
		return string(t)
	}
}

// TriggerName is the cause of a sync in the person's language.
func TriggerName(ctx context.Context, t connectors.SyncTrigger) string {
	switch t {
	case connectors.TriggerManual:
		return i18n.T(ctx, "Manual")
	case connectors.TriggerAPI:
		return "API"
	case connectors.TriggerOAuth:
		return i18n.T(ctx, "Account connected")
	case connectors.TriggerSchedule:
		return i18n.T(ctx, "Schedule")
	case connectors.TriggerListChanged:
		return i18n.T(ctx, "Server notification")
	default:
		return string(t)
	}
}

// StatusName is a connector's status in the person's language.
func StatusName(ctx context.Context, s connectors.ConnectorStatus) string {
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

// VanishedText counts vanished tools.
func VanishedText(ctx context.Context, v connectors.VanishedTools) string {
	return i18n.N(ctx, v.Of, "%[2]s of %[1]s tool gone", "%[2]s of %[1]s tools gone", i18n.Number(ctx, v.Tools))
}

// ConnectorState is a connector's status as a mark.
func ConnectorState(ctx context.Context, c connectors.Connector) templates.State {
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
	return templates.State{Kind: kind, Text: StatusName(ctx, c.Status)}
}

// RunState is the state of a sync as a mark.
func RunState(ctx context.Context, s connectors.SyncState) templates.State {
	switch s {
	case connectors.SyncOK:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Done")}
	case connectors.SyncFailed:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Failed")}
	case connectors.SyncCancelled:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Cancelled")}
	case connectors.SyncRunning:
		return templates.State{Kind: templates.StateBusy, Text: i18n.T(ctx, "Running")}
	default:
		return templates.State{Kind: templates.StateBusy, Text: i18n.T(ctx, "Queued")}
	}
}

// CredentialState words a credential's status; an empty status means that there is none.
func CredentialState(ctx context.Context, t connectors.AuthType, s connectors.CredentialStatus) templates.State {
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
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Refresh failed, retrying")}
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
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Refresh failed, retrying")}
	default:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Needs reconnecting")}
	}
}

// PhaseName says in which phase a connection to a server failed.
func PhaseName(ctx context.Context, phase string) string {
	switch phase {
	case "connect":
		return i18n.T(ctx, "while connecting")
	case "discover":
		return i18n.T(ctx, "during discovery")
	case "initialize":
		return i18n.T(ctx, "while initializing")
	case "initialized":
		return i18n.T(ctx, "while confirming initialization")
	case "list":
		return i18n.T(ctx, "while listing tools")
	case "auth":
		return i18n.T(ctx, "while authenticating")
	case "close":
		return i18n.T(ctx, "while disconnecting")
	case "document":
		return i18n.T(ctx, "while reading the document")
	default:
		return phase
	}
}

// StatusText is an HTTP status with its reason phrase.
func StatusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return strconv.Itoa(status) + " " + text
	}
	return strconv.Itoa(status)
}

// KindName is a kind of notice in the person's language.
func KindName(ctx context.Context, k connectors.NoticeKind) string {
	names := map[connectors.NoticeKind]string{
		connectors.NoticeApproval: i18n.T(ctx, "Approval"), connectors.NoticeToolChange: i18n.T(ctx, "Changed tool"), connectors.NoticeNeedsAuth: i18n.T(ctx, "Needs authorization"),
		connectors.NoticeAccessRequest: i18n.T(ctx, "Access requested"), connectors.NoticeAccessDecision: i18n.T(ctx, "Access decided"),
		connectors.NoticeLapsing: i18n.T(ctx, "Access expires"), connectors.NoticeDown: i18n.T(ctx, "Connector down"), connectors.NoticeRecovered: i18n.T(ctx, "Connector recovered"),
		connectors.NoticeToolsVanished: i18n.T(ctx, "Tools missing"),
		connectors.EventListChanged:    i18n.T(ctx, "Server announces changes"), connectors.EventMessage: i18n.T(ctx, "Server error"),
		connectors.NoticeWebhookOff: i18n.T(ctx, "Webhook turned off"), connectors.NoticeStreamPaused: i18n.T(ctx, "Audit stream paused"),
		connectors.NoticeStreamFailing: i18n.T(ctx, "Audit stream failing"), connectors.NoticeStreamGap: i18n.T(ctx, "Audit stream has a gap"),
		connectors.NoticeStreamChanged: i18n.T(ctx, "Audit stream changed"), connectors.NoticeWebhookTest: i18n.T(ctx, "Test"),
	}
	if name, ok := names[k]; ok {
		return name
	}
	return string(k)
}

// FormatBytes formats a number of bytes: "14 bytes", "2.4 KiB".
func FormatBytes(ctx context.Context, n int64) string {
	switch {
	case n < 1<<10:
		return i18n.N(ctx, int(n), "%s byte", "%s bytes")
	case n < 1<<20:
		return i18n.T(ctx, "%.1f KiB", float64(n)/(1<<10))
	default:
		return i18n.T(ctx, "%.1f MiB", float64(n)/(1<<20))
	}
}

// HintBadges show a tool's annotations, and what could not be parsed.
func HintBadges(ctx context.Context, d connectors.ToolView) []templates.Badge {
	var list []templates.Badge
	isTrue := func(hint *bool) bool { return hint != nil && *hint }
	switch {
	case isTrue(d.Hints.ReadOnly):
		list = append(list, templates.Badge{Kind: templates.BadgeGood, Text: i18n.T(ctx, "read-only"), Title: i18n.T(ctx, "The server says it's read-only.")})
	case isTrue(d.Hints.Destructive):
		list = append(list, templates.Badge{Kind: templates.BadgeRisk, Text: i18n.T(ctx, "destructive"), Title: i18n.T(ctx, "The server says it may delete or overwrite data.")})
	}
	if isTrue(d.Hints.Idempotent) {
		list = append(list, templates.Badge{Text: i18n.T(ctx, "idempotent"), Title: i18n.T(ctx, "The server says repeating it has no extra effect.")})
	}
	if isTrue(d.Hints.OpenWorld) {
		list = append(list, templates.Badge{Text: i18n.T(ctx, "open world"), Title: i18n.T(ctx, "The server says it reaches external systems.")})
	}
	if len(d.Notes) > 0 {
		list = append(list, templates.Badge{Kind: templates.BadgeWarn, Text: i18n.N(ctx, len(d.Notes), "%s invalid field", "%s invalid fields"), Title: strings.Join(TranslateAll(ctx, d.Notes), " ")})
	}
	return list
}

// AllTools words all tools of a connector. Fewer than two are not counted, because of the plural.
func AllTools(ctx context.Context, n int) string {
	if n < 2 {
		return i18n.T(ctx, "All tools")
	}
	return i18n.N(ctx, n, "All %s tool", "All %s tools")
}
