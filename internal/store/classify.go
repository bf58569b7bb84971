package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"patchbay/internal/fault"
)

// TypeSyncRunning is the problem type of a sync that is refused because another one runs.
const TypeSyncRunning = "sync-running"

// errRetiredKey means that the database refused a value sealed by a retired key.
var errRetiredKey = errors.New("sealed by a retired key")

// constraintFault is the fault for a violated constraint.
type constraintFault struct {
	kind    fault.Kind
	typ     string
	field   string
	message string
}

// constraintFaults has the constraints that a caller can violate. Violations of others are bugs.
var constraintFaults = map[string]constraintFault{
	"agent_workloads_subject_key":  {fault.Conflict, "", "subject", "This agent already has a workload with this issuer and subject."},
	"connectors_slug_key":          {fault.Conflict, "", "slug", "This connector slug is taken."},
	"connectors_name_key":          {fault.Conflict, "", "name", "This connector name is taken."},
	"agents_slug_key":              {fault.Conflict, "", "slug", "This agent slug is taken."},
	"tenants_slug_key":             {fault.Conflict, "", "slug", "This tenant slug is taken."},
	"tools_alias_key":              {fault.Conflict, "", "alias", "Another tool of this connector already uses this name."},
	"invitations_open_key":         {fault.Conflict, "", "email", "Already invited. Resend the invitation for a new link."},
	"users_email_key":              {fault.Conflict, "", "email", "Already a member."},
	"memberships_pkey":             {fault.Conflict, "", "email", "Already a member."},
	"sso_domains_verified_key":     {fault.Conflict, "", "domain", "Another organisation has verified this domain. Ask the operator."},
	"scim_users_user_name_key":     {fault.Conflict, "", "userName", "This userName is taken."},
	"scim_users_email_key":         {fault.Conflict, "", "emails", "Another active user has this email address."},
	"scim_users_member_key":        {fault.Conflict, "", "emails", "Another user is this member."},
	"scim_groups_display_name_key": {fault.Conflict, "", "displayName", "This displayName is taken."},
	"sync_runs_one_running_key":    {fault.Conflict, TypeSyncRunning, "", "A sync is already running."},

	"credentials_owner_key":     {fault.Conflict, "", "name", "This account name is taken."},
	"credentials_default_alone": {fault.Conflict, TypeAccountRequired, "account", "Rename the account named default first: with several accounts, each has a name."},
	"credentials_name_given":    {fault.Conflict, TypeAccountRequired, "account", "Other accounts have names. Give this one a name too."},

	"credentials_agent_fkey":          {fault.NotFound, "", "", "No such agent."},
	"oauth_flows_agent_fkey":          {fault.NotFound, "", "", "No such agent."},
	"connect_links_agent_fkey":        {fault.NotFound, "", "", "No such agent."},
	"sync_runs_agent_fkey":            {fault.NotFound, "", "", "No such agent."},
	"approvals_agent_fkey":            {fault.NotFound, "", "", "No such agent."},
	"tool_allowances_agent_fkey":      {fault.NotFound, "", "", "No such agent."},
	"tool_allowances_grant_fkey":      {fault.NotFound, "", "", "No such grant."},
	"tool_calls_agent_fkey":           {fault.NotFound, "", "", "No such agent."},
	"gateway_mail_agent_fkey":         {fault.NotFound, "", "", "No such agent."},
	"gateway_mail_grant_fkey":         {fault.NotFound, "", "", "No such grant."},
	"sso_tokens_member_fkey":          {fault.NotFound, "", "", "No such member."},
	"agent_clients_agent_fkey":        {fault.NotFound, "", "", "No such agent."},
	"agent_clients_member_fkey":       {fault.NotFound, "", "", "No such member."},
	"account_requests_agent_fkey":     {fault.NotFound, "", "", "No such agent."},
	"personal_agents_agent_fkey":      {fault.NotFound, "", "", "No such agent."},
	"personal_agents_member_fkey":     {fault.NotFound, "", "", "No such member."},
	"member_tokens_agent_client_fkey": {fault.NotFound, "", "", "No such client."},
	"agent_tokens_agent_client_fkey":  {fault.NotFound, "", "", "No such client."},
	"agent_workloads_agent_fkey":      {fault.NotFound, "", "", "No such agent."},
	"agent_tokens_agent_fkey":         {fault.NotFound, "", "", "No such agent."},
	"access_requests_agent_fkey":      {fault.NotFound, "", "", "No such agent."},
	"access_requests_open_key":        {fault.Conflict, "", "", "You already asked for this agent's access to the connector. Withdraw that request first."},
	"agent_grants_agent_fkey":         {fault.NotFound, "", "", "No such agent."},
	"sso_identities_member_fkey":      {fault.NotFound, "", "", "No such member."},
	"memberships_user_id_fkey":        {fault.NotFound, "", "", "No such person."},

	"tenants_slug_form":                {fault.Invalid, "", "slug", slugRule},
	"tenants_name_length":              {fault.Invalid, "", "name", nameRule},
	"users_email_form":                 {fault.Invalid, "", "email", "Enter an email address."},
	"sso_domains_form":                 {fault.Invalid, "", "domain", "Enter a domain like acme.example."},
	"sso_groups_name_length":           {fault.Invalid, "", "groups", "A group name has 1 to 200 characters."},
	"sso_groups_role_known":            {fault.Invalid, "", "groups", roleRule},
	"sso_settings_default_role_known":  {fault.Invalid, "", "default_role", "Choose viewer, member or admin."},
	"invitations_email_form":           {fault.Invalid, "", "email", "Enter an email address."},
	"invitations_role_known":           {fault.Invalid, "", "role", roleRule},
	"memberships_role_known":           {fault.Invalid, "", "role", roleRule},
	"api_keys_role_known":              {fault.Invalid, "", "role", roleRule},
	"api_keys_name_length":             {fault.Invalid, "", "name", nameRule},
	"registries_name_length":           {fault.Invalid, "", "name", nameRule},
	"scim_users_lengths":               {fault.Invalid, "", "userName", "An attribute is too long."},
	"scim_groups_lengths":              {fault.Invalid, "", "displayName", "An attribute is too long."},
	"agents_slug_form":                 {fault.Invalid, "", "slug", slugRule},
	"agents_name_length":               {fault.Invalid, "", "name", nameRule},
	"agents_approval_known":            {fault.Invalid, "", "approval", "Choose auto, always_ask, trusted_only or always_ask_all."},
	"connectors_slug_form":             {fault.Invalid, "", "slug", slugRule},
	"connectors_name_length":           {fault.Invalid, "", "name", nameRule},
	"connectors_url_length":            {fault.Invalid, "", "url", "The URL is longer than 2048 characters."},
	"connectors_timeout_range":         {fault.Invalid, "", "timeout_ms", "Use 1 second to 5 minutes."},
	"connectors_retry_range":           {fault.Invalid, "", "retry_attempts", "Use 0 to 5 retries."},
	"connectors_definition_age_bounds": {fault.Invalid, "", "max_definition_age_s", "Use 0 (any), or 1 minute to 1 day."},
	"connectors_interval_range":        {fault.Invalid, "", "sync_interval_s", "Use 0 (never), or at least 1 minute."},
	"credentials_name_form":            {fault.Invalid, "", "account", slugRule},
	"credentials_type_known":           {fault.Invalid, "", "auth.type", "This authentication takes no credential."},
	"connectors_transport_known":       {fault.Invalid, "", "transport", "Unknown transport."},
}

const (
	slugRule = "Use 1 to 48 lowercase letters, digits and hyphens, with no hyphen at either end."
	nameRule = "Must be 1–100 characters."
	roleRule = "Choose viewer, member, admin, owner or auditor."
)

// classifyError converts a database error into a fault. pgx.ErrNoRows, the caller's cancellation and bugs of
// ours pass unchanged.
func classifyError(err error) error {
	switch {
	case err == nil, errors.Is(err, pgx.ErrNoRows), errors.Is(err, context.Canceled):
		return err
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok { // also if the server gives its own reason
		return newUnavailable(err, "The database isn't responding.")
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return classifyState(pg, err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return newUnavailable(err, "The database didn't answer in time.")
	}
	if isDisconnected(err) {
		return newUnavailable(err, "The database isn't responding.")
	}
	return err
}

// newUnavailable returns the fault of a database that does not answer, or refuses writes for now.
func newUnavailable(err error, message string) *fault.Error {
	f := fault.Wrap(fault.Unavailable, unavailableError{err}, message)
	f.RetryAfter = databaseRetryAfter
	return f
}

// classifyState classifies by SQLSTATE (PostgreSQL documentation, appendix A).
func classifyState(pg *pgconn.PgError, err error) error {
	switch pg.Code {
	case "23505", "23503", "23514": // unique, foreign key, check
		return toConstraintFault(pg.ConstraintName, err)
	case "22021", "22P05": // character not in repertoire, untranslatable character
		return fault.Wrap(fault.Invalid, err, "Text must be valid UTF-8 without NUL characters.")
	case "2201B": // invalid regular expression
		return fault.Wrap(fault.Invalid, err, "This regular expression isn't supported.")
	case "54000": // program limit: an indexed value of several KiB
		return fault.Wrap(fault.Invalid, err, "A value is too long.")
	case "40001", "40P01", "55P03": // serialization, deadlock, lock not available
		return fault.Wrap(fault.Unavailable, err, "The database is busy. Try again.")
	case "PB001": // refuse_retired_key
		return fault.Wrap(fault.Unavailable, fmt.Errorf("%w: %w", errRetiredKey, err), "The keys just changed. Try again.")
	case "25006": // read-only: a standby, or a primary during failover
		return newUnavailable(err, "The database is read-only right now.")
	case "57014": // statement timeout
		return fault.Wrap(fault.Unavailable, err, "The database didn't answer in time.")
	}
	switch pg.Code[:2] {
	case "08", "57": // connection; operator intervention: shutdown, startup, terminated session
		return newUnavailable(err, "The database isn't responding.")
	case "53", "58": // resources, system
		return fault.Wrap(fault.Unavailable, err, "The database isn't responding.")
	}
	return err
}

func toConstraintFault(constraint string, err error) error {
	v, ok := constraintFaults[constraint]
	switch {
	case ok:
	case strings.HasSuffix(constraint, "_tenant_id_fkey"):
		v, ok = constraintFault{kind: fault.NotFound, message: "No such organisation."}, true
	case strings.HasSuffix(constraint, "_connector_fkey"):
		v, ok = constraintFault{kind: fault.NotFound, message: "No such connector."}, true
	}
	if !ok {
		return err
	}
	f := fault.Wrap(v.kind, err, v.message).WithType(v.typ)
	if v.field != "" {
		f.Fields = []fault.Field{{Location: v.field, Message: v.message}}
	}
	return f
}

func isDisconnected(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	for _, closed := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, puddle.ErrClosedPool} {
		if errors.Is(err, closed) {
			return true
		}
	}
	return pgconn.SafeToRetry(err)
}

// rowError converts pgx.ErrNoRows into NotFound for the object named what.
func rowError(err error, what string) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return newNotFound(what)
	}
	return err
}

// affectedError is [rowError] for statements that affect rows: zero rows is NotFound.
func affectedError(rows int64, err error, what string) error {
	if err == nil && rows == 0 {
		return newNotFound(what)
	}
	return err
}

func newNotFound(what string) error {
	return fault.Errorf(fault.NotFound, "No such %s.", what)
}
