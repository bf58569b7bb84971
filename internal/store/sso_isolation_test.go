package store_test

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// toSSO is what the victim has of single sign-on.
type toSSO struct {
	sso     connectors.SSO
	ssoFlow store.SSOFlow
	subject store.SSOSubject
}

func flowOf(browser string) store.SSOFlow {
	hash := sha256.Sum256([]byte(browser))
	now := time.Now()
	return store.SSOFlow{
		ID: uuid.Must(uuid.NewV7()), Browser: hash[:], Issuer: "https://login.example.com", ClientID: "patchbay", CreatedAt: now, ExpiresAt: now.Add(time.Minute),
	}
}

// ownSSO are the methods that an outsider calls with success: on what is its own.
var ownSSO = map[string]bool{"SSO.Get": true, "SSO.Lock": true, "SSO.Save": true, "SSO.ClaimDomain": true, "SSO.Start": true, "SSO.JoinBySSO": true, "SSO.DeleteTokens": true, "Accounts.AddManagedAccount": true}

// ssoAttempts are the outsider's at how people sign in elsewhere.
var ssoAttempts = map[string]attempt{
	"SSO.Get": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.SSO().Get(ctx)
		return mine.IsSetUp() || len(mine.Domains) > 0 || len(mine.Groups) > 0, err
	},
	"SSO.Lock": func(ctx context.Context, o outsider) (bool, error) {
		found := false
		return found, o.door.Tx(ctx, func(tx *store.Tenant) error {
			mine, err := tx.SSO().Lock(ctx)
			found = mine.IsSetUp()
			return err
		})
	},
	"SSO.Save": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.SSO().Save(ctx, o.sso, ""); !fault.Is(err, fault.NotFound) {
			return true, err // there is none of its own to be changed
		}
		if err := o.door.SSO().Save(ctx, connectors.SSO{Issuer: "https://mine.example.com", ClientID: "mine", GroupsClaim: "groups"}, "mine"); err != nil {
			return true, err
		}
		theirs, err := o.Door().SSO().Get(ctx)
		if err != nil || theirs.Issuer != o.sso.Issuer || len(theirs.Groups) != len(o.sso.Groups) {
			return true, err
		}
		return false, o.door.SSO().Delete(ctx)
	},
	"SSO.Delete": func(ctx context.Context, o outsider) (bool, error) { return true, o.door.SSO().Delete(ctx) },
	"SSO.MarkTested": func(ctx context.Context, o outsider) (bool, error) {
		s := o.sso
		s.TestedAt = new(time.Now())
		return true, o.door.SSO().MarkTested(ctx, s)
	},
	"SSO.AgentOfClient": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.SSO().AgentOfClient(ctx, o.member.UserID, "their client"))
	},
	"SSO.SetAgentOfClient": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SSO().SetAgentOfClient(ctx, o.member.UserID, o.agent.ID, "my client")
	},
	"SSO.SaveTokens": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SSO().SaveTokens(ctx, o.member.UserID, o.subject.Issuer, store.SSOTokens{IDToken: "mine"})
	},
	"SSO.DeleteTokens": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.SSO().DeleteTokens(ctx); err != nil {
			return true, err
		}
		_, err := o.St.Vault(o.Tenant).ProviderSignIn(ctx, o.member.UserID)
		return err != nil, err
	},
	"Accounts.ManagedMember": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Accounts().ManagedMember(ctx, o.agent.ID, o.connector.ID))
	},
	"Accounts.PinManagedIssuer": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Accounts().PinManagedIssuer(ctx, o.connector.ID, "https://mine.example.com", true))
	},
	"Accounts.AddManagedAccount": func(ctx context.Context, o outsider) (bool, error) {
		a := store.NewManagedAccount{ConnectorID: o.connector.ID, AgentID: o.agent.ID, Member: o.member.UserID, Origin: "https://mine.example.com"}
		if err := o.door.Accounts().AddManagedAccount(ctx, a); err != nil {
			return true, err
		}
		_, err := o.vault.Grant(ctx, o.connector.ID, &o.agent.ID)
		return err == nil, nil
	},
	"SSO.ClaimDomain": func(ctx context.Context, o outsider) (bool, error) {
		// That another tenant claims a domain, or has proven it, cannot be told by claiming it.
		if err := o.door.SSO().ClaimDomain(ctx, "theirs.example", "mine"); err != nil {
			return true, err
		}
		theirs, err := o.Door().SSO().Get(ctx)
		if err != nil || len(theirs.Domains) != 1 || theirs.Domains[0].Proof != o.sso.Domains[0].Proof {
			return true, err
		}
		return false, o.door.SSO().ReleaseDomain(ctx, "theirs.example")
	},
	"SSO.VerifyDomain": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SSO().VerifyDomain(ctx, "theirs.example", connectors.ProofDNS)
	},
	"SSO.ReleaseDomain": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SSO().ReleaseDomain(ctx, "theirs.example")
	},
	"SSO.Start": func(ctx context.Context, o outsider) (bool, error) {
		f := o.ssoFlow // with the victim's id, which is another flow in another tenant
		f.ReturnTo = "/mine"
		if err := o.door.SSO().Start(ctx, f); err != nil {
			return true, err
		}
		mine, err := o.door.SSO().Take(ctx, f.ID, f.Browser)
		return mine.ReturnTo != "/mine", err
	},
	"SSO.Take": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.SSO().Take(ctx, o.ssoFlow.ID, o.ssoFlow.Browser))
	},
	"SSO.PasswordOpens": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.SSO().PasswordOpens(ctx, o.member.UserID))
	},
	"SSO.MemberBySubject": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.SSO().MemberBySubject(ctx, o.subject))
	},
	"SSO.MemberByEmail": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.SSO().MemberByEmail(ctx, o.member.Email))
	},
	"SSO.BindSSOSubject": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SSO().BindSSOSubject(ctx, store.SSOSubject{Issuer: o.subject.Issuer, ID: "mine"}, o.member.UserID, o.member.Email)
	},
	"SSO.JoinBySSO": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.SSO().JoinBySSO(ctx, store.NewMember{Email: o.member.Email, Name: "Mine", Role: connectors.RoleViewer})
		if err != nil || mine.UserID == o.member.UserID {
			return true, err
		}
		theirs, err := o.Door().People().Member(ctx, o.member.UserID)
		if err != nil || theirs.Role != o.member.Role || theirs.Name != o.member.Name {
			return true, err
		}
		_, err = o.door.People().RemoveMember(ctx, mine.UserID)
		return false, err
	},
}

var ssoVaultAttempts = map[string]attempt{
	"SSOSecret": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.vault.SSOSecret(ctx, "https://login.example.com", "patchbay"))
	},
	"ProviderSignIn": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.vault.ProviderSignIn(ctx, o.member.UserID))
	},
}

func (o *outsider) fillSSO(t *testing.T) {
	t.Helper()
	ctx, door := t.Context(), o.Door()
	o.subject = store.SSOSubject{Issuer: "https://login.example.com", ID: "subject-1"}
	o.ssoFlow = flowOf("theirs")
	given := connectors.SSO{
		Issuer: o.subject.Issuer, ClientID: "patchbay", GroupsClaim: "groups", Groups: []connectors.GroupRole{{Group: "admins", Role: connectors.RoleAdmin}},
		Enabled: true, TestedAt: new(time.Now()), ManagedAccounts: true,
	}
	for _, err := range []error{
		door.SSO().Save(ctx, given, "theirs"),
		door.SSO().ClaimDomain(ctx, "theirs.example", "patchbay=theirs"),
		door.SSO().VerifyDomain(ctx, "theirs.example", connectors.ProofOperator),
		door.SSO().BindSSOSubject(ctx, o.subject, o.member.UserID, o.member.Email),
		door.SSO().SaveTokens(ctx, o.member.UserID, o.subject.Issuer, store.SSOTokens{IDToken: "theirs", TokenEndpoint: o.subject.Issuer + "/token"}),
		door.SSO().Start(ctx, o.ssoFlow),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if o.sso, err = door.SSO().Get(ctx); err != nil || len(o.sso.Domains) != 1 || o.sso.Domains[0].VerifiedAt == nil {
		t.Fatalf("%+v, %v", o.sso, err)
	}
}
