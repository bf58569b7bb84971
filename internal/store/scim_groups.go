package store

import (
	"context"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// Groups lists the groups that a filter matches, by id.
func (t SCIM) Groups(ctx context.Context, f connectors.SCIMFilter, skip, limit int) (groups []connectors.SCIMGroup, total int, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.CountSCIMGroups(ctx, dbgen.CountSCIMGroupsParams{
			TenantID: tx.id, ID: f.ID, DisplayName: f.DisplayName, ExternalID: f.ExternalID, Member: f.Member,
		})
		if err != nil || n == 0 || limit == 0 {
			total = int(n)
			return err
		}
		rows, err := tx.q.SCIMGroups(ctx, dbgen.SCIMGroupsParams{
			TenantID: tx.id, ID: f.ID, DisplayName: f.DisplayName, ExternalID: f.ExternalID, Member: f.Member,
			Skipped: int32(min(skip, connectors.MaxSCIMGroups)), MaxRows: int32(limit), //nolint:gosec // bounded
		})
		groups, total = mapRows(rows, func(r dbgen.SCIMGroupsRow) connectors.SCIMGroup { return toSCIMGroup(r.ScimGroup) }), int(n)
		return err
	})
	return groups, total, err
}

// Group reads one group.
func (t SCIM) Group(ctx context.Context, id connectors.SCIMGroupID) (connectors.SCIMGroup, error) {
	row, err := t.q.SCIMGroup(ctx, t.id, id)
	return toSCIMGroup(row), rowError(err, "group")
}

// CreateGroup stores a group without members under a new id. It fails with Conflict if the tenant has too many.
func (t SCIM) CreateGroup(ctx context.Context, g connectors.SCIMGroup) (made connectors.SCIMGroup, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.CountSCIMGroups(ctx, dbgen.CountSCIMGroupsParams{TenantID: tx.id})
		if err != nil {
			return err
		}
		if n >= connectors.MaxSCIMGroups {
			return fault.Errorf(fault.Conflict, "At most %d groups.", connectors.MaxSCIMGroups)
		}
		row, err := tx.q.AddSCIMGroup(ctx, dbgen.AddSCIMGroupParams{
			TenantID: tx.id, ID: connectors.SCIMGroupID{UUID: newID()}, DisplayName: cleanText(g.DisplayName), ExternalID: nullableText(g.ExternalID),
		})
		made = toSCIMGroup(row)
		return err
	})
	return made, err
}

// UpdateGroup stores a group's name and external id.
func (t SCIM) UpdateGroup(ctx context.Context, g connectors.SCIMGroup) error {
	n, err := t.q.UpdateSCIMGroup(ctx, dbgen.UpdateSCIMGroupParams{
		TenantID: t.id, ID: g.ID, DisplayName: cleanText(g.DisplayName), ExternalID: nullableText(g.ExternalID),
	})
	return affectedError(n, err, "group")
}

// DeleteGroup deletes a group. Its members' roles are for the caller.
func (t SCIM) DeleteGroup(ctx context.Context, id connectors.SCIMGroupID) error {
	n, err := t.q.DeleteSCIMGroup(ctx, t.id, id)
	return affectedError(n, err, "group")
}

// SCIMGroupMember is a user in a group.
type SCIMGroupMember struct {
	User     connectors.SCIMUserID
	UserName string
}

// GroupMembers lists the members of groups by user name.
func (t SCIM) GroupMembers(ctx context.Context, groups []connectors.SCIMGroupID) (map[connectors.SCIMGroupID][]SCIMGroupMember, error) {
	ids := make([]uuid.UUID, len(groups))
	for i, g := range groups {
		ids[i] = g.UUID
	}
	rows, err := t.q.SCIMGroupMembers(ctx, t.id, ids, int32(len(groups)*connectors.MaxSCIMGroupMembers)) //nolint:gosec // a page of groups
	members := map[connectors.SCIMGroupID][]SCIMGroupMember{}
	for _, r := range rows {
		members[r.GroupID] = append(members[r.GroupID], SCIMGroupMember{User: r.ID, UserName: r.UserName})
	}
	return members, err
}

// AddGroupMembers adds users that the group lacks. It fails with NotFound if one does not exist.
func (t SCIM) AddGroupMembers(ctx context.Context, id connectors.SCIMGroupID, users []connectors.SCIMUserID) error {
	n, err := t.q.AddSCIMGroupMembers(ctx, t.id, id, scimUserUUIDs(users))
	if err == nil && int(n) != len(users) {
		err = fault.Errorf(fault.NotFound, "No such user.")
	}
	return err
}

// RemoveGroupMembers removes users from a group.
func (t SCIM) RemoveGroupMembers(ctx context.Context, id connectors.SCIMGroupID, users []connectors.SCIMUserID) error {
	return t.q.RemoveSCIMGroupMembers(ctx, t.id, id, scimUserUUIDs(users))
}

// SCIMUserGroup is a group of a user.
type SCIMUserGroup struct {
	ID          connectors.SCIMGroupID
	DisplayName string
}

// GroupsOf lists the groups of users by name.
func (t SCIM) GroupsOf(ctx context.Context, users []connectors.SCIMUserID) (map[connectors.SCIMUserID][]SCIMUserGroup, error) {
	rows, err := t.q.SCIMGroupsOfUsers(ctx, t.id, scimUserUUIDs(users))
	groups := map[connectors.SCIMUserID][]SCIMUserGroup{}
	for _, r := range rows {
		groups[r.ScimUserID] = append(groups[r.ScimUserID], SCIMUserGroup{ID: r.ID, DisplayName: r.DisplayName})
	}
	return groups, err
}

func scimUserUUIDs(users []connectors.SCIMUserID) []uuid.UUID {
	ids := make([]uuid.UUID, len(users))
	for i, u := range users {
		ids[i] = u.UUID
	}
	return ids
}

func toSCIMGroup(r dbgen.ScimGroup) connectors.SCIMGroup {
	return connectors.SCIMGroup{
		ID: r.ID, DisplayName: r.DisplayName, ExternalID: textOrEmpty(r.ExternalID), CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}
