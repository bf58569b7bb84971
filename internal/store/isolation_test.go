package store_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// outsider is a tenant (w.Other) that knows every id of another tenant's (w.Tenant) rows, and tries them.
type outsider struct {
	*fixture.World
	door  *store.Tenant
	vault *store.Vault

	connector  connectors.Connector
	agent      connectors.Agent
	member     connectors.Member
	key        connectors.APIKey
	credential connectors.Credential
	grant      store.Grant // of another connector
	lease      store.Lease
	flow       store.Flow
	withClient connectors.Connector
	token      connectors.AgentToken
	t          *testing.T
	program    connectors.Connector // of stdio
	done       connectors.SyncRun   // a finished run
	queued     connectors.SyncRun
	running    connectors.SyncRun   // of another connector
	changed    connectors.Connector // with a change that waits
	approvalsOf
	noticesOf
	streamOf
	invitationTo
	sessionOf
	toSSO
	clientOf
}

// attempt is one case: what the outsider finds. A list or a count is found when it is not empty.
type attempt func(ctx context.Context, o outsider) (found bool, err error)

// tenantAttempts has a case for each method of Tenant. A method without a row id returns the outsider's own
// rows: its case reports whether the victim's are among them.
var tenantAttempts = map[string]attempt{
	"Tx": func(ctx context.Context, o outsider) (bool, error) {
		return false, o.door.Tx(ctx, func(tx *store.Tenant) error {
			_, err := tx.Connector(ctx, connectors.Ref(o.connector.Slug))
			return err
		})
	},
	"Self": func(ctx context.Context, o outsider) (bool, error) {
		self, err := o.door.Self(ctx)
		return self.ID == o.Tenant, err
	},
	"Rename": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Rename(ctx, "Mine"); err != nil {
			return false, err
		}
		theirs, err := o.Door().Self(ctx)
		return theirs.Name == "Mine", err
	},
	"SetCallSettings": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.SetCallSettings(ctx, connectors.HistoryFull, connectors.ReadersAuditors, time.Hour); err != nil {
			return false, err
		}
		theirs, err := o.Door().Self(ctx)
		return theirs.CallHistory == connectors.HistoryFull || theirs.ApprovalTimeout == time.Hour, err
	},
	"Members": func(ctx context.Context, o outsider) (bool, error) { return some(o.door.Members(ctx, store.Page{})) },
	"Member":  func(ctx context.Context, o outsider) (bool, error) { return one(o.door.Member(ctx, o.member.UserID)) },
	"IssueAccount": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.IssueAccount(ctx, store.NewMember{Email: o.member.Email, Role: connectors.RoleViewer})
		if err != nil {
			return true, err // a Conflict would tell that the address has an account
		}
		theirs, err := o.Door().Member(ctx, o.member.UserID)
		_, removed := o.door.RemoveMember(ctx, mine.UserID)
		return mine.UserID == o.member.UserID || theirs.Role != o.member.Role || theirs.Name != o.member.Name, errors.Join(err, removed)
	},
	"SetMemberRole": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SetMemberRole(ctx, o.member.UserID, connectors.RoleViewer)
	},
	"RemoveMember": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.RemoveMember(ctx, o.member.UserID))
	},
	"APIKeys": func(ctx context.Context, o outsider) (bool, error) { return some(o.door.APIKeys(ctx, store.Page{})) },
	"CreateAPIKey": func(ctx context.Context, o outsider) (bool, error) {
		_, err := o.door.CreateAPIKey(ctx, store.NewAPIKey{ID: o.key.ID, Name: "Mine", Role: connectors.RoleOwner, SecretMAC: []byte("m")})
		if err == nil {
			return true, nil // an id that stands in another tenant's key
		}
		stored, keyErr := o.St.System().APIKey(ctx, o.key.ID)
		return stored.Tenant.ID != o.Tenant || stored.Key.Name == "Mine", keyErr
	},
	"RevokeAPIKey": func(ctx context.Context, o outsider) (bool, error) { return true, o.door.RevokeAPIKey(ctx, o.key.ID) },
	"Agents":       func(ctx context.Context, o outsider) (bool, error) { return some(o.door.Agents(ctx, store.Page{})) },
	"Agent": func(ctx context.Context, o outsider) (bool, error) {
		if _, err := o.door.Agent(ctx, connectors.Ref(o.agent.Slug)); !fault.Is(err, fault.NotFound) {
			return true, err
		}
		return one(o.door.Agent(ctx, connectors.Ref(o.agent.ID.String())))
	},
	"CreateAgent": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.CreateAgent(ctx, o.agent) // with the victim's id and slug
		if err != nil {
			return false, err
		}
		return mine.ID == o.agent.ID, o.door.DeleteAgent(ctx, mine.ID)
	},
	"LockAgent": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Tx(ctx, func(tx *store.Tenant) error { return tx.LockAgent(ctx, o.agent.ID) })
	},
	"LockMember": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.LockMember(ctx, o.member.UserID))
	},
	"UpdateAgent": func(ctx context.Context, o outsider) (bool, error) { return one(o.door.UpdateAgent(ctx, o.agent)) },
	"DeleteAgent": func(ctx context.Context, o outsider) (bool, error) { return true, o.door.DeleteAgent(ctx, o.agent.ID) },
	"Connectors": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Connectors(ctx, store.ConnectorFilter{}))
	},
	"ConnectorStats": func(ctx context.Context, o outsider) (bool, error) {
		stats, err := o.door.ConnectorStats(ctx)
		return stats.Connectors != 0 || stats.Tools != 0, err
	},
	"ConnectorsAt": func(ctx context.Context, o outsider) (bool, error) {
		found, err := o.door.ConnectorsAt(ctx, []string{o.connector.URL})
		return len(found) > 0, err
	},
	"Connector": func(ctx context.Context, o outsider) (bool, error) {
		if _, err := o.door.Connector(ctx, connectors.Ref(o.connector.Slug)); !fault.Is(err, fault.NotFound) {
			return true, err
		}
		return one(o.door.Connector(ctx, connectors.Ref(o.connector.ID.String())))
	},
	"CreateConnector": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.CreateConnector(ctx, fixture.Draft(func(d *connectors.Draft) { d.Slug, d.Name = o.connector.Slug, o.connector.Name }))
		if err != nil {
			return true, err // a Conflict would tell that the name exists
		}
		return mine.ID == o.connector.ID, o.door.DeleteConnector(ctx, mine.ID)
	},
	"UpdateConnector": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.UpdateConnector(ctx, o.connector.ID, 0, fixture.Draft()))
	},
	"Items": func(ctx context.Context, o outsider) (bool, error) {
		items, err := o.door.Items(ctx, o.connector.ID)
		return len(items) > 0, err
	},
	"SaveItems": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SaveItems(ctx, o.connector.ID, nil, []connectors.Item{{Kind: connectors.ItemPrompt, Key: "mine", Raw: []byte(`{}`)}})
	},
	"DeleteConnector": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.DeleteConnector(ctx, o.connector.ID)
	},
	"Credentials": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Credentials(ctx, o.connector.ID, store.Page{}))
	},
	"AgentCredentials": func(ctx context.Context, o outsider) (bool, error) {
		all, err := o.door.AgentCredentials(ctx, o.agent.ID)
		return len(all) > 0, err
	},
	"SetCredential": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SetCredential(ctx, store.NewCredential{
			ConnectorID: o.connector.ID, Type: connectors.AuthBearer, Origin: "https://example.com:443", Secret: "mine",
		})
	},
	"DeleteCredential": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.DeleteCredential(ctx, o.connector.ID, &o.agent.ID)
	},
	"DeleteCredentials": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.DeleteCredentials(ctx, o.connector.ID)
		return n > 0, err
	},
	"LockConnector": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Tx(ctx, func(tx *store.Tenant) error {
			if err := tx.LockConnector(ctx, o.connector.ID); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			return o.Door().SetAuthBehaviour(ctx, o.connector.ID, o.connector.AuthBehaviour) // waits where it is held
		}); err != nil {
			return true, err
		}
		return false, nil
	},
	"SaveGrant": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SaveGrant(ctx, store.NewGrant{ConnectorID: o.grant.ConnectorID, Origin: o.grant.Origin})
	},
	"SaveFlow": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SaveFlow(ctx, newFlow(o.connector, 3))
	},
	"DeleteFlows": func(ctx context.Context, o outsider) (bool, error) {
		kept := newFlow(o.connector, 4)
		if err := o.Door().SaveFlow(ctx, kept); err != nil {
			return false, err
		}
		if err := o.door.DeleteFlows(ctx, o.connector.ID); err != nil {
			return false, err
		}
		_, err := o.St.System().TakeFlow(ctx, kept.StateHash)
		return err != nil, err
	},
	"SaveConnectLink": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SaveConnectLink(ctx, newLink(o.connector, 3))
	},
	"SaveRegistration": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.SaveRegistration(ctx, redirectURI, oauth.Registration{Issuer: issuer, ClientID: "mine", Source: oauth.SourceDynamic}); err != nil {
			return false, err
		}
		theirs, err := o.St.Vault(o.Tenant).Registration(ctx, issuer, redirectURI)
		return theirs.ClientID != "client", errors.Join(err, o.door.DeleteRegistration(ctx, issuer, redirectURI, "mine"))
	},
	"SetEnvironment": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SetEnvironment(ctx, o.program, connectors.Environment{"MINE": "x"})
	},
	"DeleteEnvironment": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.DeleteEnvironment(ctx, o.program.ID)
	},
	"SetClientSecret": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SetClientSecret(ctx, o.withClient, "mine")
	},
	"DeleteClientSecret": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.DeleteClientSecret(ctx, o.withClient.ID)
	},
	"ExpiringCredentials": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.ExpiringCredentials(ctx, 1000*time.Hour, 20)
		return len(list) > 0, err
	},
	"RenewMachineTokens": func(ctx context.Context, o outsider) (bool, error) {
		err := o.Door().SetCredential(ctx, store.NewCredential{
			ConnectorID: o.withClient.ID, Type: connectors.AuthClientCredentials, Origin: connectors.Origin(o.withClient.URL), Secret: "{}",
		})
		if err != nil {
			return false, err
		}
		before, err := o.St.Vault(o.Tenant).Grant(ctx, o.withClient.ID, nil)
		if err != nil {
			return false, err
		}
		if err := o.door.RenewMachineTokens(ctx, o.withClient.ID); err != nil {
			return false, err
		}
		after, err := o.St.Vault(o.Tenant).Grant(ctx, o.withClient.ID, nil)
		return after.Version != before.Version, err
	},
	"SetAuthBehaviour": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.SetAuthBehaviour(ctx, o.withClient.ID, connectors.AuthOpen); err != nil {
			return false, err
		}
		theirs, err := o.Door().Connector(ctx, connectors.Ref(o.withClient.ID.String()))
		return theirs.AuthBehaviour == connectors.AuthOpen, err
	},
	"DeleteRegistration": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.DeleteRegistration(ctx, issuer, redirectURI, "client"); err != nil {
			return false, err
		}
		theirs, err := o.St.Vault(o.Tenant).Registration(ctx, issuer, redirectURI)
		return theirs.ClientSecret.Reveal() != "client's secret", err
	},
	"QueueSync": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.QueueSync(ctx, store.NewRun{ConnectorID: o.connector.ID, Trigger: connectors.TriggerManual}))
	},
	"QueueAllSyncs": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.QueueAllSyncs(ctx, connectors.TriggerManual, nil)
		return n > 0, err
	},
	"StartSync": func(ctx context.Context, o outsider) (bool, error) {
		if _, err := o.door.StartSync(ctx, store.SyncStart{Run: &o.queued.ID, Instance: o.Instance}); !fault.Is(err, fault.NotFound) {
			return true, err
		}
		return one(o.door.StartSync(ctx, o.Start(o.connector.ID)))
	},
	"SyncBaseline": func(ctx context.Context, o outsider) (bool, error) {
		base, err := o.door.SyncBaseline(ctx, o.connector.ID)
		return base.ListHash != nil || len(base.Tools) > 0, err
	},
	"Definitions": func(ctx context.Context, o outsider) (bool, error) {
		found, err := o.door.Definitions(ctx, []connectors.Hash{fixture.Definition("search").Hash})
		return len(found) > 0, err
	},
	"FinishUnchanged": func(ctx context.Context, o outsider) (bool, error) {
		ok, _, err := o.door.FinishUnchanged(ctx, o.running.ID, fixture.ListHash(fixture.Definition("search")), store.ServerObservation{})
		return ok, err
	},
	"FinishSync": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.FinishSync(ctx, o.running.ID, fixture.FirstResult(fixture.Definition("mine"))))
	},
	"FailSync": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.FailSync(ctx, o.running.ID, connectors.SyncError{Code: "timeout", Message: "Mine."}, store.ServerObservation{}))
	},
	"SyncRuns": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.SyncRuns(ctx, o.connector.ID, store.Page{}))
	},
	"SyncRun": func(ctx context.Context, o outsider) (bool, error) { return one(o.door.SyncRun(ctx, o.done.ID)) },
	"Find": func(ctx context.Context, o outsider) (bool, error) {
		for _, name := range []string{o.connector.Name, o.agent.Name, "search"} {
			if found, err := o.door.Find(ctx, name, ""); err != nil || len(found) > 0 {
				return len(found) > 0, err
			}
		}
		return false, nil
	},
	"Tools": func(ctx context.Context, o outsider) (bool, error) {
		if found, err := some(o.door.Tools(ctx, store.ToolFilter{Connector: &o.connector.ID})); found || err != nil {
			return found, err
		}
		return some(o.door.Tools(ctx, store.ToolFilter{Query: "search", Removed: true}))
	},
	"Tool": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Tool(ctx, o.connector.ID, "search"))
	},
	"Quarantined": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Quarantined(ctx, o.connector.ID, store.Page{}))
	},
	"Record": func(ctx context.Context, o outsider) (bool, error) {
		err := o.door.Record(ctx, store.Event{ActorType: "system", Action: "credential.read", Target: o.connector.Slug})
		return auditEvents(ctx, o) != 1, err
	},
}

var vaultAttempts = map[string]attempt{
	"Registration": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.vault.Registration(ctx, issuer, redirectURI))
	},
	"Verifier": func(_ context.Context, o outsider) (bool, error) { return one(o.vault.Verifier(o.flow)) },
	"Grant": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.vault.Grant(ctx, o.grant.ConnectorID, nil))
	},
	"LeaseGrant": func(ctx context.Context, o outsider) (bool, error) {
		_, ok, err := o.vault.LeaseGrant(ctx, o.grant, time.Minute)
		return ok, err
	},
	"SaveRefreshed": func(ctx context.Context, o outsider) (bool, error) {
		return o.vault.SaveRefreshed(ctx, o.lease, o.grant, store.GrantTokens{AccessToken: "mine"})
	},
	"EndGrant": func(ctx context.Context, o outsider) (bool, error) { return o.vault.EndGrant(ctx, o.lease, "Mine.") },
	"DelayRefresh": func(ctx context.Context, o outsider) (bool, error) {
		return o.vault.DelayRefresh(ctx, o.lease, store.Delay{Because: "Mine.", Wait: time.Hour})
	},
	"RefuseGrant": func(ctx context.Context, o outsider) (bool, error) {
		return o.vault.RefuseGrant(ctx, o.grant.ID, o.grant.Version, store.GrantMeta{}, "Mine.")
	},
	"Environment": func(ctx context.Context, o outsider) (bool, error) {
		e, err := o.vault.Environment(ctx, o.program)
		return e != nil, err
	},
	"ClientSecret": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.vault.ClientSecret(ctx, o.withClient, issuer))
	},
	"ClientSecretFits": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.vault.ClientSecretFits(ctx, o.withClient, issuer)
	},
	"Secret": func(ctx context.Context, o outsider) (bool, error) {
		_, text, err := o.vault.Secret(ctx, o.connector.ID, &o.agent.ID)
		return !text.Empty(), err
	},
	"LastUsed": func(ctx context.Context, o outsider) (bool, error) {
		_, text, err := o.vault.LastUsed(ctx, o.connector.ID)
		return !text.Empty(), err
	},
	"MarkUsed": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.vault.MarkUsed(ctx, o.credential.ID); err != nil {
			return false, err
		}
		list, err := o.Door().Credentials(ctx, o.connector.ID, store.Page{})
		return list.Items[0].LastUsedAt != nil, err
	},
}

// ownWorld are the methods that make or show the outsider's own rows: they succeed, and find nothing of the victim's.
var ownWorld = map[string]bool{"MatchesCredential": true, "HoldsClientSecret": true,
	"Self": true, "CheckAudit": true, "AuditState": true, "CheckOutcomes": true, "OutcomeState": true, "ExportAudit": true, "CutAudit": true, "AuditEnd": true, "AuditSigner": true, "Invitations": true, "Invite": true, "Rename": true, "SetQuota": true, "SetOperatorQuota": true, "QuotaUses": true, "ToolQuotaUse": true, "SetCallSettings": true, "IssueAccount": true, "CreateAPIKey": true, "CreateAgent": true, "CreateConnector": true,
	"QueueAllSyncs": true, "NewestSweep": true, "DeleteFlows": true, "ConnectorStats": true, "Record": true, "Definitions": true, "FinishUnchanged": true, "DeleteCredentials": true, "MarkUsed": true,
	"SaveRegistration": true, "DeleteRegistration": true, "LockConnector": true, "LeaseGrant": true, "SaveRefreshed": true, "EndGrant": true, "DelayRefresh": true,
	"RefuseGrant": true, "DeleteClientSecret": true, "DeleteEnvironment": true, "ExpiringCredentials": true, "SetAuthBehaviour": true, "RenewMachineTokens": true,
	"WaitingApprovals": true, "CountOpenApprovals": true, "WithdrawApproval": true, "ClaimApproval": true, "FinishApproval": true, "DropMail": true, "Mail": true, "TakeMail": true,
	"ToolCalls": true, "TaskCalls": true, "StartPendingCall": true, "EndPendingCall": true, "SaveCallTask": true, "EndCallTask": true, "MarkUndelivered": true,
	"AgentTokens": true, "AgentGrants": true, "GrantedConnectors": true, "AcceptedDefinitions": true, "ToolChoices": true, "CallCounts": true, "ApprovalsAbout": true, "AgentsGranted": true, "ToolUse": true, "AuditEvents": true, "WaitingCalls": true,
	"Members": true, "APIKeys": true, "Agents": true, "Connectors": true, "Credentials": true, "AgentCredentials": true, "Items": true, "SyncRuns": true, "Tools": true, "Quarantined": true,
	"CuratedTools": true, "ToolTags": true, "SaveRunRequests": true, "Dependents": true, "RunRequests": true,
	"ConnectorsAt": true, "Find": true, "SetDefaults": true, "RequireSecondFactor": true, "SealedBy": true, "SealingKeys": true,
}

func TestIsolation_OutsiderFindsNothing(t *testing.T) {
	t.Parallel()
	o := newOutsider(t)
	for _, door := range []struct {
		name     string
		methods  reflect.Type
		min      int // of methods
		attempts map[string]attempt
	}{
		{"Tenant", reflect.TypeFor[*store.Tenant](), 200, attempts(tenantAttempts, accessAttempts, approvalAttempts, choiceAttempts, noticeAttempts, listenerAttempts, changeAttempts, clockAttempts, sweepAttempts, toolUseAttempts, auditAttempts, chainAttempts, exportAttempts, hourAttempts, curationAttempts, retentionAttempts, invitationAttempts, sessionAttempts, taskAttempts, settingsAttempts, stateAttempts, ssoAttempts, clientAttempts, accountAttempts, snapshotAttempts, revocationAttempts)},
		{"Vault", reflect.TypeFor[*store.Vault](), 10, attempts(vaultAttempts, approvalVaultAttempts, choiceVaultAttempts, webhookVaultAttempts, ssoVaultAttempts, revocationVaultAttempts)},
	} {
		if n := door.methods.NumMethod(); n < door.min || len(door.attempts) != n {
			t.Errorf("%s has %d methods, at least %d are expected, and the table has %d", door.name, n, door.min, len(door.attempts))
		}
		for m := range door.methods.Methods() {
			try, ok := door.attempts[m.Name]
			if !ok {
				t.Errorf("%s.%s has no case in the isolation table", door.name, m.Name)
				continue
			}
			found, err := try(t.Context(), o)
			switch {
			case ownWorld[m.Name] || ownClock[m.Name] || ownNotices[m.Name] || ownStreams[m.Name] || ownChanges[m.Name] || ownHours[m.Name] || ownHistory[m.Name] || ownSSO[m.Name] || ownClients[m.Name] || ownAccounts[m.Name]:
				if found || err != nil {
					t.Errorf("%s.%s: the outsider found something (%v), or met an error: %v", door.name, m.Name, found, err)
				}
			case !fault.Is(err, fault.NotFound):
				t.Errorf("%s.%s answers an outsider with %v, want NotFound", door.name, m.Name, err)
			}
		}
	}
	o.wantUntouched(t)
}

// newOutsider fills the victim's tenant with a row of every kind.
func newOutsider(t *testing.T) outsider {
	t.Helper()
	w := fixture.New(t)
	o := outsider{World: w, door: w.OtherDoor(), vault: w.St.Vault(w.Other)}
	o.connector = w.Connector(t)
	o.agent = w.Agent(t)
	o.member = w.Member(t, connectors.RoleOwner)
	o.key = w.APIKey(t, connectors.RoleAdmin)
	w.Credential(t, o.connector.ID, &o.agent.ID, "the victim's token")
	list, err := w.Door().Credentials(t.Context(), o.connector.ID, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	o.credential = list.Items[0]
	o.done = w.Synced(t, o.connector.ID, "search")
	prompts := []connectors.Item{{Kind: connectors.ItemPrompt, Key: "prompt", Raw: []byte(`{"name":"prompt"}`)}}
	if err := w.Door().SaveItems(t.Context(), o.connector.ID, connectors.HashItems(prompts), prompts); err != nil {
		t.Fatal(err)
	}
	if o.queued, err = w.Door().QueueSync(t.Context(), store.NewRun{ConnectorID: o.connector.ID, Trigger: connectors.TriggerManual}); err != nil {
		t.Fatal(err)
	}
	busy := w.Connector(t)
	w.Synced(t, busy.ID, "search")
	o.running = w.Run(t, busy.ID)
	o.fillOAuth(t, busy)
	o.fillApprovals(t)
	o.fillAccess(t)
	o.fillChanges(t)
	o.fillNotices(t)
	o.fillStream(t)
	o.fillInvitations(t)
	o.fillSessions(t)
	o.fillSSO(t)
	o.fillClients(t)
	o.fillAccounts(t)
	return o
}

// wantUntouched holds the victim's rows against what they were.
func (o outsider) wantUntouched(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	c, err := o.Door().Connector(ctx, connectors.Ref(o.connector.ID.String()))
	if err != nil || c.Version != o.connector.Version || len(c.DiscoveredTools) != 1 {
		t.Errorf("connector = %+v, %v", c, err)
	}
	if run, err := o.Door().SyncRun(ctx, o.running.ID); err != nil || run.State != connectors.SyncRunning {
		t.Errorf("running run = %+v, %v", run, err)
	}
	if m, err := o.Door().Member(ctx, o.member.UserID); err != nil || m.Role != connectors.RoleOwner {
		t.Errorf("member = %+v, %v", m, err)
	}
	if _, text, err := o.St.Vault(o.Tenant).Secret(ctx, o.connector.ID, &o.agent.ID); err != nil || text.Reveal() != "the victim's token" {
		t.Errorf("secret: %v", err)
	}
}

// auditEvents counts the events of the outsider's tenant; -1: of the victim's there is one.
func auditEvents(ctx context.Context, o outsider) int {
	var mine, theirs int
	err := asSystem(ctx, o.Pool, `select count(*) filter (where tenant_id = $1), count(*) filter (where tenant_id = $2) from audit_events`,
		[]any{o.Other, o.Tenant}, &mine, &theirs)
	if err != nil || theirs > 0 {
		return -1
	}
	return mine
}
