package store

// Connectors is the part of a [Tenant] for connectors, their stored credentials and items.
type Connectors struct{ *tenant }

// APIs is the part of a [Tenant] for connectors that are HTTP APIs: their documents, and what of these is a tool.
type APIs struct{ *tenant }

// Accounts is the part of a [Tenant] for accounts connected by OAuth, their flows and their requests.
type Accounts struct{ *tenant }

// Tools is the part of a [Tenant] for tools, their definitions, curation and changes.
type Tools struct{ *tenant }

// Skills is the part of a [Tenant] for skills of connectors. Their changes are those of [Tools].
type Skills struct{ *tenant }

// Agents is the part of a [Tenant] for agents, their tokens, grants, programs and access.
type Agents struct{ *tenant }

// Workloads is the part of a [Tenant] for workloads that get an agent's tokens for a JWT, and for keys and proofs of clients.
type Workloads struct{ *tenant }

// Calls is the part of a [Tenant] for tool calls, approvals, mail and quotas.
type Calls struct{ *tenant }

// People is the part of a [Tenant] for members, invitations, sessions, API keys and notices.
type People struct{ *tenant }

// SSO is the part of a [Tenant] for single sign-on.
type SSO struct{ *tenant }

// SCIM is the part of a [Tenant] for the users and groups of its identity provider.
type SCIM struct{ *tenant }

// Webhooks is the part of a [Tenant] for webhooks and their deliveries.
type Webhooks struct{ *tenant }

// Registries is the part of a [Tenant] for the lists of connectors that it publishes.
type Registries struct{ *tenant }

// Audit is the part of a [Tenant] for the audit log and the outcomes of calls.
type Audit struct{ *tenant }

// AuditStreams is the part of a [Tenant] for streams of the audit log and of call outcomes.
type AuditStreams struct{ *tenant }

// Syncs is the part of a [Tenant] for syncs, their schedule and streams.
type Syncs struct{ *tenant }

// Lists is the part of a [Tenant] for the rows of pages, with figures from several tables, and for its first steps.
type Lists struct{ *tenant }

// Lists returns the part for the rows of pages.
func (t *Tenant) Lists() Lists { return Lists{t.tenant} }

// Connectors returns the part for connectors, their stored credentials and items.
func (t *Tenant) Connectors() Connectors { return Connectors{t.tenant} }

// APIs returns the part for connectors that are HTTP APIs.
func (t *Tenant) APIs() APIs { return APIs{t.tenant} }

// Accounts returns the part for accounts connected by OAuth, their flows and their requests.
func (t *Tenant) Accounts() Accounts { return Accounts{t.tenant} }

// Tools returns the part for tools, their definitions, curation and changes.
func (t *Tenant) Tools() Tools { return Tools{t.tenant} }

// Skills returns the part for skills of connectors.
func (t *Tenant) Skills() Skills { return Skills{t.tenant} }

// Agents returns the part for agents, their tokens, grants, programs and access.
func (t *Tenant) Agents() Agents { return Agents{t.tenant} }

// Workloads returns the part for workloads that get an agent's tokens for a JWT.
func (t *Tenant) Workloads() Workloads { return Workloads{t.tenant} }

// Calls returns the part for tool calls, approvals, mail and quotas.
func (t *Tenant) Calls() Calls { return Calls{t.tenant} }

// People returns the part for members, invitations, sessions, API keys and notices.
func (t *Tenant) People() People { return People{t.tenant} }

// SSO returns the part for single sign-on.
func (t *Tenant) SSO() SSO { return SSO{t.tenant} }

// SCIM returns the part for the users and groups of the tenant's identity provider.
func (t *Tenant) SCIM() SCIM { return SCIM{t.tenant} }

// Webhooks returns the part for webhooks and their deliveries.
func (t *Tenant) Webhooks() Webhooks { return Webhooks{t.tenant} }

// Registries returns the part for the lists of connectors that the tenant publishes.
func (t *Tenant) Registries() Registries { return Registries{t.tenant} }

// Audit returns the part for the audit log and the outcomes of calls.
func (t *Tenant) Audit() Audit { return Audit{t.tenant} }

// AuditStreams returns the part for streams of the audit log and of call outcomes.
func (t *Tenant) AuditStreams() AuditStreams { return AuditStreams{t.tenant} }

// Syncs returns the part for syncs, their schedule and streams.
func (t *Tenant) Syncs() Syncs { return Syncs{t.tenant} }

// asTenant is the entry point to all parts.
func (t *tenant) asTenant() *Tenant { return &Tenant{t} }
