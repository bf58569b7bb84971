package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

var errStub = errors.New("not there yet")

type Store struct{}
type Tenant struct{}
type Vault struct{}
type System struct{}
type Sessions struct{}

func Open(ctx context.Context, pool *pgxpool.Pool, kek secret.KEK) (*Store, error) {
	return nil, errStub
}
func (s *Store) Close()                                {}
func (s *Store) Tenant(id connectors.TenantID) *Tenant { return nil }
func (s *Store) Vault(id connectors.TenantID) *Vault   { return nil }
func (s *Store) System() *System                       { return nil }
func (s *Store) Keyring() *secret.Keyring              { return nil }
func (s *Store) SessionStore() *Sessions               { return nil }
func (s *Store) Ready(ctx context.Context) error       { return errStub }

func (s *Sessions) Find(token string) ([]byte, bool, error)               { return nil, false, errStub }
func (s *Sessions) Commit(token string, b []byte, expiry time.Time) error { return errStub }
func (s *Sessions) Delete(token string) error                             { return errStub }
func (s *Sessions) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	return nil, false, errStub
}
func (s *Sessions) CommitCtx(ctx context.Context, token string, b []byte, expiry time.Time) error {
	return errStub
}
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error { return errStub }

func (t *Tenant) Tx(ctx context.Context, fn func(tx *Tenant) error) error { return errStub }
func (t *Tenant) Self(ctx context.Context) (connectors.Tenant, error) {
	return connectors.Tenant{}, errStub
}
func (t *Tenant) Rename(ctx context.Context, name string) error { return errStub }
func (t *Tenant) Members(ctx context.Context, p Page) (List[connectors.Member], error) {
	return List[connectors.Member]{}, errStub
}
func (t *Tenant) Member(ctx context.Context, id connectors.UserID) (connectors.Member, error) {
	return connectors.Member{}, errStub
}
func (t *Tenant) AddMember(ctx context.Context, m NewMember) (connectors.Member, error) {
	return connectors.Member{}, errStub
}
func (t *Tenant) SetMemberRole(ctx context.Context, id connectors.UserID, role connectors.Role) error {
	return errStub
}
func (t *Tenant) RemoveMember(ctx context.Context, id connectors.UserID) error { return errStub }
func (t *Tenant) APIKeys(ctx context.Context, p Page) (List[connectors.APIKey], error) {
	return List[connectors.APIKey]{}, errStub
}
func (t *Tenant) CreateAPIKey(ctx context.Context, k NewAPIKey) (connectors.APIKey, error) {
	return connectors.APIKey{}, errStub
}
func (t *Tenant) RevokeAPIKey(ctx context.Context, id connectors.APIKeyID) error { return errStub }
func (t *Tenant) Agents(ctx context.Context, p Page) (List[connectors.Agent], error) {
	return List[connectors.Agent]{}, errStub
}
func (t *Tenant) Agent(ctx context.Context, ref connectors.Ref) (connectors.Agent, error) {
	return connectors.Agent{}, errStub
}
func (t *Tenant) CreateAgent(ctx context.Context, a connectors.Agent) (connectors.Agent, error) {
	return a, errStub
}
func (t *Tenant) UpdateAgent(ctx context.Context, a connectors.Agent) (connectors.Agent, error) {
	return a, errStub
}
func (t *Tenant) DeleteAgent(ctx context.Context, id connectors.AgentID) error { return errStub }
func (t *Tenant) Connectors(ctx context.Context, f ConnectorFilter) (List[connectors.Connector], error) {
	return List[connectors.Connector]{}, errStub
}
func (t *Tenant) ConnectorStats(ctx context.Context) (Stats, error) { return Stats{}, errStub }
func (t *Tenant) Connector(ctx context.Context, ref connectors.Ref) (connectors.Connector, error) {
	return connectors.Connector{}, errStub
}
func (t *Tenant) CreateConnector(ctx context.Context, d connectors.Draft) (connectors.Connector, error) {
	return connectors.Connector{}, errStub
}
func (t *Tenant) UpdateConnector(ctx context.Context, id connectors.ConnectorID, version int, d connectors.Draft) (connectors.Connector, error) {
	return connectors.Connector{}, errStub
}
func (t *Tenant) DeleteConnector(ctx context.Context, id connectors.ConnectorID) error {
	return errStub
}
func (t *Tenant) Credentials(ctx context.Context, id connectors.ConnectorID, p Page) (List[connectors.Credential], error) {
	return List[connectors.Credential]{}, errStub
}
func (t *Tenant) SetCredential(ctx context.Context, c NewCredential) error { return errStub }
func (t *Tenant) DeleteCredential(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID) error {
	return errStub
}
func (t *Tenant) DeleteCredentials(ctx context.Context, id connectors.ConnectorID) (int, error) {
	return 0, errStub
}
func (t *Tenant) QueueSync(ctx context.Context, r NewRun) (connectors.SyncRun, error) {
	return connectors.SyncRun{}, errStub
}
func (t *Tenant) QueueAllSyncs(ctx context.Context, trigger connectors.SyncTrigger) (int, error) {
	return 0, errStub
}
func (t *Tenant) StartSync(ctx context.Context, s StartSync) (connectors.SyncRun, error) {
	return connectors.SyncRun{}, errStub
}
func (t *Tenant) SyncBase(ctx context.Context, id connectors.ConnectorID) (*connectors.Hash, []connectors.ToolState, error) {
	return nil, nil, errStub
}
func (t *Tenant) FinishUnchanged(ctx context.Context, run connectors.SyncRunID, listHash connectors.Hash, seen Seen) (bool, connectors.SyncRun, error) {
	return false, connectors.SyncRun{}, errStub
}
func (t *Tenant) FinishSync(ctx context.Context, run connectors.SyncRunID, res SyncResult) (connectors.SyncRun, error) {
	return connectors.SyncRun{}, errStub
}
func (t *Tenant) FailSync(ctx context.Context, run connectors.SyncRunID, e connectors.SyncError, seen Seen) (connectors.SyncRun, error) {
	return connectors.SyncRun{}, errStub
}
func (t *Tenant) SyncRuns(ctx context.Context, id connectors.ConnectorID, p Page) (List[connectors.SyncRun], error) {
	return List[connectors.SyncRun]{}, errStub
}
func (t *Tenant) SyncRun(ctx context.Context, id connectors.SyncRunID) (connectors.SyncRun, error) {
	return connectors.SyncRun{}, errStub
}
func (t *Tenant) Tools(ctx context.Context, f ToolFilter) (List[connectors.Tool], error) {
	return List[connectors.Tool]{}, errStub
}
func (t *Tenant) Tool(ctx context.Context, id connectors.ConnectorID, name string) (connectors.Tool, error) {
	return connectors.Tool{}, errStub
}
func (t *Tenant) Quarantined(ctx context.Context, id connectors.ConnectorID, p Page) (List[connectors.Quarantined], error) {
	return List[connectors.Quarantined]{}, errStub
}
func (t *Tenant) Record(ctx context.Context, e Event) error { return errStub }

func (v *Vault) Secret(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID) (connectors.Credential, secret.Text, error) {
	return connectors.Credential{}, "", errStub
}
func (v *Vault) LastUsed(ctx context.Context, id connectors.ConnectorID) (connectors.Credential, secret.Text, error) {
	return connectors.Credential{}, "", errStub
}
func (v *Vault) MarkUsed(ctx context.Context, id connectors.CredentialID) error { return errStub }

func (s *System) UserByEmail(ctx context.Context, email string) (User, error) { return User{}, errStub }
func (s *System) SetPasswordHash(ctx context.Context, id connectors.UserID, hash string) error {
	return errStub
}
func (s *System) SignedIn(ctx context.Context, id connectors.UserID) error { return errStub }
func (s *System) Memberships(ctx context.Context, id connectors.UserID) ([]Membership, error) {
	return nil, errStub
}
func (s *System) Membership(ctx context.Context, id connectors.UserID, tenant connectors.TenantID) (Membership, error) {
	return Membership{}, errStub
}
func (s *System) APIKey(ctx context.Context, id connectors.APIKeyID) (StoredKey, error) {
	return StoredKey{}, errStub
}
func (s *System) TouchAPIKey(ctx context.Context, id connectors.APIKeyID) error { return errStub }
func (s *System) CreateTenant(ctx context.Context, name, slug string) (connectors.Tenant, error) {
	return connectors.Tenant{}, errStub
}
func (s *System) Tenants(ctx context.Context) ([]connectors.Tenant, error) { return nil, errStub }
func (s *System) TenantByRef(ctx context.Context, ref string) (connectors.Tenant, error) {
	return connectors.Tenant{}, errStub
}
func (s *System) SignInFailures(ctx context.Context, account, address string, since time.Time) (byAccount, byAddress int, err error) {
	return 0, 0, errStub
}
func (s *System) RecordSignInFailure(ctx context.Context, account, address string) error {
	return errStub
}
func (s *System) ClearSignInFailures(ctx context.Context, account string) error { return errStub }
func (s *System) HasOwner(ctx context.Context, id connectors.TenantID) (bool, error) {
	return false, errStub
}
func (s *System) SaveSetupLink(ctx context.Context, id connectors.TenantID, hash []byte) error {
	return errStub
}
func (s *System) SetupLink(ctx context.Context, hash []byte) (connectors.TenantID, error) {
	return connectors.TenantID{}, errStub
}
func (s *System) TakeSetupLink(ctx context.Context, hash []byte, m NewMember) (connectors.TenantID, connectors.Member, error) {
	return connectors.TenantID{}, connectors.Member{}, errStub
}
func (s *System) Beat(ctx context.Context, id connectors.InstanceID) error        { return errStub }
func (s *System) EndInstance(ctx context.Context, id connectors.InstanceID) error { return errStub }
func (s *System) ForgetInstances(ctx context.Context) error                       { return errStub }
