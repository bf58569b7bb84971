package store_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// scimOf is a tenant's SCIM address with a user, its member and its group.
type scimOf struct {
	scimToken  store.NewSCIMToken
	scimUser   connectors.SCIMUser
	scimGroup  connectors.SCIMGroup
	scimMember connectors.Member
}

func newSCIMToken(t *testing.T, st *store.Store) store.NewSCIMToken {
	t.Helper()
	id := uuid.New()
	token := secret.NewBearer(secret.SCIMBearer, id)
	mac, err := st.Keyring().SignBearer(token)
	if err != nil {
		t.Fatal(err)
	}
	return store.NewSCIMToken{ID: id, Prefix: token.Prefix(), SecretMAC: mac}
}

func newSCIMUser(name string) connectors.SCIMUser {
	return connectors.SCIMUser{UserName: name, ExternalID: "x-" + name, Email: name + "@example.com", Active: true, Attributes: json.RawMessage(`{}`)}
}

func (o *outsider) fillSCIM(t *testing.T) {
	t.Helper()
	o.scimToken = newSCIMToken(t, o.St)
	d := o.Door().SCIM()
	if err := d.Enable(t.Context(), o.scimToken); err != nil {
		t.Fatal(err)
	}
	var err error
	if o.scimUser, err = d.CreateUser(t.Context(), newSCIMUser("theirs")); err != nil {
		t.Fatal(err)
	}
	o.scimMember = o.Member(t, connectors.RoleMember)
	if err := d.LinkMember(t.Context(), o.scimUser.ID, o.scimMember.UserID); err != nil {
		t.Fatal(err)
	}
	if o.scimGroup, err = d.CreateGroup(t.Context(), connectors.SCIMGroup{DisplayName: "Theirs", ExternalID: "g"}); err != nil {
		t.Fatal(err)
	}
	if err := d.AddGroupMembers(t.Context(), o.scimGroup.ID, []connectors.SCIMUserID{o.scimUser.ID}); err != nil {
		t.Fatal(err)
	}
}

// mustFail reports what an attempt that must fail found.
func mustFail(err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	return false, nil
}

// scimAttempts are the outsider's at users and groups of the provider. The outsider has no SCIM.
var scimAttempts = map[string]attempt{
	"SCIM.Settings": func(ctx context.Context, o outsider) (bool, error) { return one(o.door.SCIM().Settings(ctx)) },
	"SCIM.Enable": func(ctx context.Context, o outsider) (bool, error) {
		return mustFail(o.door.SCIM().Enable(ctx, o.scimToken)) // with their id
	},
	"SCIM.SetToken": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SCIM().SetToken(ctx, o.scimToken)
	},
	"SCIM.Disable": func(ctx context.Context, o outsider) (bool, error) { return true, o.door.SCIM().Disable(ctx) },
	"SCIM.Touch": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.SCIM().Touch(ctx); err != nil {
			return true, err
		}
		s, err := o.Door().SCIM().Settings(ctx)
		return s.LastRequestAt != nil, err
	},
	"SCIM.LockToken": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SCIM().LockToken(ctx, o.scimToken.ID)
	},
	"SCIM.Users": func(ctx context.Context, o outsider) (bool, error) {
		users, total, err := o.door.SCIM().Users(ctx, connectors.SCIMFilter{ID: &o.scimUser.ID.UUID}, 0, 10)
		return len(users) > 0 || total > 0, err
	},
	"SCIM.User": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.SCIM().User(ctx, o.scimUser.ID))
	},
	"SCIM.CreateUser": func(ctx context.Context, o outsider) (bool, error) {
		_, err := o.door.SCIM().CreateUser(ctx, newSCIMUser("mine"))
		return mustFail(err) // SCIM is off
	},
	"SCIM.UpdateUser": func(ctx context.Context, o outsider) (bool, error) {
		u := newSCIMUser("mine")
		u.ID = o.scimUser.ID
		return true, o.door.SCIM().UpdateUser(ctx, u)
	},
	"SCIM.LinkMember": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SCIM().LinkMember(ctx, o.scimUser.ID, o.scimMember.UserID)
	},
	"SCIM.DeleteUser": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SCIM().DeleteUser(ctx, o.scimUser.ID)
	},
	"SCIM.IsDeactivated": func(ctx context.Context, o outsider) (bool, error) {
		gone := newSCIMUser("gone")
		gone.Active = false
		u, err := o.Door().SCIM().CreateUser(ctx, gone)
		if err != nil {
			return true, err
		}
		defer func() { _ = o.Door().SCIM().DeleteUser(ctx, u.ID) }()
		return o.door.SCIM().IsDeactivated(ctx, u.Email)
	},
	"SCIM.GivesRole": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.SCIM().GivesRole(ctx, o.scimMember.UserID)
	},
	"SCIM.Deprovision": func(ctx context.Context, o outsider) (bool, error) {
		_, err := o.door.SCIM().Deprovision(ctx, o.scimMember.UserID)
		return true, err
	},
	"SCIM.HasOtherPasswordOwner": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.SCIM().HasOtherPasswordOwner(ctx, o.scimMember.UserID)
	},
	"SCIM.RenameAccount": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.SCIM().RenameAccount(ctx, o.scimMember.UserID, "mine@example.com", "Mine")
	},
	"SCIM.Groups": func(ctx context.Context, o outsider) (bool, error) {
		groups, total, err := o.door.SCIM().Groups(ctx, connectors.SCIMFilter{ID: &o.scimGroup.ID.UUID}, 0, 10)
		return len(groups) > 0 || total > 0, err
	},
	"SCIM.Group": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.SCIM().Group(ctx, o.scimGroup.ID))
	},
	"SCIM.CreateGroup": func(ctx context.Context, o outsider) (bool, error) {
		_, err := o.door.SCIM().CreateGroup(ctx, connectors.SCIMGroup{DisplayName: "Mine"})
		return mustFail(err) // SCIM is off
	},
	"SCIM.UpdateGroup": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SCIM().UpdateGroup(ctx, connectors.SCIMGroup{ID: o.scimGroup.ID, DisplayName: "Mine"})
	},
	"SCIM.DeleteGroup": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SCIM().DeleteGroup(ctx, o.scimGroup.ID)
	},
	"SCIM.GroupMembers": func(ctx context.Context, o outsider) (bool, error) {
		members, err := o.door.SCIM().GroupMembers(ctx, []connectors.SCIMGroupID{o.scimGroup.ID})
		return len(members) > 0, err
	},
	"SCIM.AddGroupMembers": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.SCIM().AddGroupMembers(ctx, o.scimGroup.ID, []connectors.SCIMUserID{o.scimUser.ID})
	},
	"SCIM.RemoveGroupMembers": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.SCIM().RemoveGroupMembers(ctx, o.scimGroup.ID, []connectors.SCIMUserID{o.scimUser.ID}); err != nil {
			return true, err
		}
		members, err := o.Door().SCIM().GroupMembers(ctx, []connectors.SCIMGroupID{o.scimGroup.ID})
		return len(members[o.scimGroup.ID]) == 0, err
	},
	"SCIM.GroupsOf": func(ctx context.Context, o outsider) (bool, error) {
		groups, err := o.door.SCIM().GroupsOf(ctx, []connectors.SCIMUserID{o.scimUser.ID})
		return len(groups) > 0, err
	},
}

// ownSCIM are the methods that must find nothing, without an error.
var ownSCIM = map[string]bool{
	"SCIM.Enable": true, "SCIM.Touch": true, "SCIM.Users": true, "SCIM.CreateUser": true, "SCIM.IsDeactivated": true, "SCIM.GivesRole": true,
	"SCIM.HasOtherPasswordOwner": true, "SCIM.RenameAccount": true, "SCIM.Groups": true, "SCIM.CreateGroup": true, "SCIM.GroupMembers": true,
	"SCIM.RemoveGroupMembers": true, "SCIM.GroupsOf": true,
}

func TestSCIMToken_IsFoundByItsCurrentIDOnly(t *testing.T) {
	t.Parallel()
	o := newOutsider(t)
	stored, err := o.St.System().Sessions().SCIMToken(t.Context(), o.scimToken.ID)
	if err != nil || stored.Tenant.ID != o.Tenant {
		t.Errorf("%+v, %v", stored, err)
	}
	next := newSCIMToken(t, o.St)
	if err := o.Door().SCIM().SetToken(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if _, err := o.St.System().Sessions().SCIMToken(t.Context(), o.scimToken.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("the old token: %v", err)
	}
}
