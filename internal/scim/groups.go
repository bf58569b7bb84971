package scim

import (
	"context"
	"net/http"
	"slices"
	"strings"

	library "github.com/elimity-com/scim"
	"github.com/elimity-com/scim/optional"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// groupResources answers requests for /Groups.
type groupResources struct{ *Service }

// groupChange is a group as a request leaves it.
type groupChange struct {
	group   connectors.SCIMGroup
	members []connectors.SCIMUserID
}

// Create makes a group, and gives its members their roles.
func (h groupResources) Create(r *http.Request, a library.ResourceAttributes) (made library.Resource, err error) {
	n, err := toGroup(a)
	if err != nil {
		return made, err
	}
	err = h.runChange(r, func(ctx context.Context, c *change) error {
		g, err := c.tx.SCIM().CreateGroup(ctx, n.group)
		if err != nil {
			return err
		}
		if err := c.addMembers(ctx, g.ID, n.members); err != nil {
			return err
		}
		if err := c.recordEvent(ctx, "scim.group_create", g.DisplayName, nil, store.OfSCIMGroup(g.ID), nil); err != nil {
			return err
		}
		if err := c.countGroups(ctx, c.tx.SCIM()); err != nil {
			return err
		}
		if c.isMapped(g.DisplayName) {
			if err := c.applyRoles(ctx, n.members); err != nil {
				return err
			}
		}
		made, err = c.readGroup(ctx, g.ID, readProjection(r))
		return err
	})
	return made, err
}

// isMapped reports whether a group has a role.
func (c *change) isMapped(group string) bool {
	return slices.ContainsFunc(c.settings.Groups, func(g connectors.GroupRole) bool { return g.Group == group })
}

func (c *change) addMembers(ctx context.Context, group connectors.SCIMGroupID, users []connectors.SCIMUserID) error {
	if len(users) == 0 {
		return nil
	}
	err := c.tx.SCIM().AddGroupMembers(ctx, group, users)
	if fault.Is(err, fault.NotFound) {
		return newInvalidError("A member of the group doesn't exist.")
	}
	return err
}

// applyRoles gives active users the role of their groups.
func (c *change) applyRoles(ctx context.Context, users []connectors.SCIMUserID) error {
	for _, id := range users {
		u, err := c.tx.SCIM().User(ctx, id)
		if err != nil {
			return err
		}
		if !u.Active {
			continue
		}
		if err := c.applyMembership(ctx, &u); err != nil {
			return err
		}
	}
	return nil
}

// Get reads a group.
func (h groupResources) Get(r *http.Request, id string) (library.Resource, error) {
	key, err := parseID(id)
	if err != nil {
		return library.Resource{}, err
	}
	var found library.Resource
	err = h.store.Tenant(providerFrom(r.Context()).actor.Tenant.ID).Snapshot(r.Context(), func(tx *store.Tenant) error {
		g, err := tx.SCIM().Group(r.Context(), connectors.SCIMGroupID{UUID: key})
		if err != nil {
			return err
		}
		found, err = groupResource(r.Context(), tx.SCIM(), g, readProjection(r))
		return err
	})
	return found, err
}

// maxListedMembers bounds the groups' members in a list: a longer list needs excludedAttributes or a smaller count.
const maxListedMembers = 10

// GetAll lists a page of groups.
func (h groupResources) GetAll(r *http.Request, p library.ListRequestParams) (library.Page, error) {
	f, err := toFilter(p)
	if err != nil {
		return library.Page{}, err
	}
	if f.UserName != nil || f.Email != nil || f.Active != nil {
		return library.Page{}, newFilterError()
	}
	shown := readProjection(r)
	if shown.showsAttribute(attrMembers) {
		p.Count = min(p.Count, maxListedMembers)
	}
	page := library.Page{Resources: []library.Resource{}}
	err = h.store.Tenant(providerFrom(r.Context()).actor.Tenant.ID).Snapshot(r.Context(), func(tx *store.Tenant) error {
		groups, total, err := tx.SCIM().Groups(r.Context(), f, p.StartIndex-1, p.Count)
		if err != nil {
			return err
		}
		page.TotalResults = total
		members, err := readMembers(r.Context(), tx.SCIM(), shown, groups...)
		if err != nil {
			return err
		}
		for _, g := range groups {
			page.Resources = append(page.Resources, toGroupResource(g, members[g.ID], shown))
		}
		return nil
	})
	return page, err
}

// readMembers reads the members of groups if they are shown.
func readMembers(ctx context.Context, directory store.SCIM, shown projection, groups ...connectors.SCIMGroup) (map[connectors.SCIMGroupID][]store.SCIMGroupMember, error) {
	if !shown.showsAttribute(attrMembers) || len(groups) == 0 {
		return nil, nil
	}
	ids := make([]connectors.SCIMGroupID, len(groups))
	for i, g := range groups {
		ids[i] = g.ID
	}
	return directory.GroupMembers(ctx, ids)
}

// Replace replaces a group.
func (h groupResources) Replace(r *http.Request, id string, a library.ResourceAttributes) (library.Resource, error) {
	n, err := toGroup(a)
	if err != nil {
		return library.Resource{}, err
	}
	return h.updateGroup(r, id, func(was groupChange) (groupChange, error) {
		was.group.DisplayName, was.group.ExternalID, was.members = n.group.DisplayName, n.group.ExternalID, n.members
		return was, nil
	})
}

// Patch changes a group. It returns no attributes, for status 204: a group can be long.
func (h groupResources) Patch(r *http.Request, id string, ops []library.PatchOperation) (library.Resource, error) {
	made, err := h.updateGroup(r, id, func(was groupChange) (groupChange, error) {
		for _, op := range ops {
			if err := was.applyPatch(op); err != nil {
				return was, err
			}
		}
		return was, nil
	})
	made.Attributes = nil
	return made, err
}

// updateGroup stores what next makes of a group, and updates the roles of added and removed users.
func (h groupResources) updateGroup(r *http.Request, id string, next func(groupChange) (groupChange, error)) (updated library.Resource, err error) {
	key, err := parseID(id)
	if err != nil {
		return updated, err
	}
	err = h.runChange(r, func(ctx context.Context, c *change) error {
		g, err := c.tx.SCIM().Group(ctx, connectors.SCIMGroupID{UUID: key})
		if err != nil {
			return err
		}
		now, err := c.groupMembers(ctx, g.ID)
		if err != nil {
			return err
		}
		if err := checkVersion(r, groupVersion(g, now)); err != nil {
			return err
		}
		n, err := next(groupChange{group: g, members: slices.Clone(now)})
		if err != nil {
			return err
		}
		if err := n.checkBounds(); err != nil {
			return err
		}
		if err := c.storeGroup(ctx, groupChange{group: g, members: now}, n); err != nil {
			return err
		}
		updated, err = c.readGroup(ctx, g.ID, readProjection(r))
		return err
	})
	return updated, err
}

// readGroup returns a group as it is stored, with the version of that.
func (c *change) readGroup(ctx context.Context, id connectors.SCIMGroupID, shown projection) (library.Resource, error) {
	g, err := c.tx.SCIM().Group(ctx, id)
	if err != nil {
		return library.Resource{}, err
	}
	members, err := c.groupMembers(ctx, id)
	if err != nil {
		return library.Resource{}, err
	}
	stored, err := groupResource(ctx, c.tx.SCIM(), g, shown)
	stored.Meta.Version = groupVersion(g, members)
	return stored, err
}

func (c *change) groupMembers(ctx context.Context, id connectors.SCIMGroupID) ([]connectors.SCIMUserID, error) {
	all, err := c.tx.SCIM().GroupMembers(ctx, []connectors.SCIMGroupID{id})
	ids := make([]connectors.SCIMUserID, len(all[id]))
	for i, m := range all[id] {
		ids[i] = m.User
	}
	return ids, err
}

// storeGroup stores a changed group.
func (c *change) storeGroup(ctx context.Context, old, n groupChange) error {
	gone, came := subtractUsers(old.members, n.members), subtractUsers(n.members, old.members)
	renamed := old.group.DisplayName != n.group.DisplayName
	if len(gone)+len(came) == 0 && !renamed && old.group.ExternalID == n.group.ExternalID {
		return nil
	}
	was, err := c.tx.State(ctx, store.OfSCIMGroup(n.group.ID))
	if err != nil {
		return err
	}
	if err := c.tx.SCIM().UpdateGroup(ctx, n.group); err != nil {
		return err
	}
	if err := c.tx.SCIM().RemoveGroupMembers(ctx, n.group.ID, gone); err != nil {
		return err
	}
	if err := c.addMembers(ctx, n.group.ID, came); err != nil {
		return err
	}
	detail := map[string]any{"added": len(came), "removed": len(gone)}
	if err := c.recordEvent(ctx, "scim.group_update", n.group.DisplayName, was, store.OfSCIMGroup(n.group.ID), detail); err != nil {
		return err
	}
	if !c.isMapped(old.group.DisplayName) && !c.isMapped(n.group.DisplayName) {
		return nil
	}
	touched := slices.Concat(gone, came)
	if renamed {
		touched = slices.Concat(gone, n.members)
	}
	return c.applyRoles(ctx, touched)
}

// subtractUsers returns the users of all that some lacks.
func subtractUsers(all, some []connectors.SCIMUserID) []connectors.SCIMUserID {
	known := make(map[connectors.SCIMUserID]bool, len(some))
	for _, id := range some {
		known[id] = true
	}
	var rest []connectors.SCIMUserID
	for _, id := range all {
		if !known[id] {
			rest = append(rest, id)
		}
	}
	return rest
}

// Delete deletes a group, and gives its members the roles of their other groups.
func (h groupResources) Delete(r *http.Request, id string) error {
	key, err := parseID(id)
	if err != nil {
		return err
	}
	return h.runChange(r, func(ctx context.Context, c *change) error {
		g, err := c.tx.SCIM().Group(ctx, connectors.SCIMGroupID{UUID: key})
		if err != nil {
			return err
		}
		members, err := c.groupMembers(ctx, g.ID)
		if err != nil {
			return err
		}
		if err := checkVersion(r, groupVersion(g, members)); err != nil {
			return err
		}
		was, err := c.tx.State(ctx, store.OfSCIMGroup(g.ID))
		if err != nil {
			return err
		}
		if err := c.tx.SCIM().DeleteGroup(ctx, g.ID); err != nil {
			return err
		}
		if err := c.recordEvent(ctx, "scim.group_delete", g.DisplayName, was, store.OfSCIMGroup(g.ID), nil); err != nil {
			return err
		}
		if err := c.countGroups(ctx, c.tx.SCIM()); err != nil || !c.isMapped(g.DisplayName) {
			return err
		}
		return c.applyRoles(ctx, members)
	})
}

// toGroup reads a group's attributes.
func toGroup(a library.ResourceAttributes) (groupChange, error) {
	n := groupChange{group: connectors.SCIMGroup{DisplayName: textOf(a[attrDisplayName]), ExternalID: textOf(a[attrExternalID])}}
	ids, err := readMemberIDs(a[attrMembers])
	if err != nil {
		return n, err
	}
	n.members = appendNew(nil, ids...)
	return n, n.checkBounds()
}

func (n *groupChange) checkBounds() error {
	switch length := len([]rune(n.group.DisplayName)); {
	case length < 1 || length > maxName || len([]rune(n.group.ExternalID)) > maxName:
		return newInvalidError("displayName has 1 to 320 characters, externalId at most 320.")
	case len(n.members) > connectors.MaxSCIMGroupMembers:
		return newInvalidError("A group has at most 5,000 members.")
	}
	return nil
}

// readMemberIDs reads the ids of members. Groups within groups are not supported.
func readMemberIDs(value any) ([]connectors.SCIMUserID, error) {
	list, ok := value.([]any)
	if !ok && value != nil {
		list = []any{value}
	}
	ids := make([]connectors.SCIMUserID, 0, len(list))
	for _, one := range list {
		member, _ := one.(map[string]any)
		id, err := uuid.Parse(textOf(member[attrValue]))
		if err != nil {
			return nil, newInvalidError("A member's value is the id of a user.")
		}
		ids = append(ids, connectors.SCIMUserID{UUID: id})
	}
	return ids, nil
}

// appendNew appends the ids that are not in all.
func appendNew(all []connectors.SCIMUserID, ids ...connectors.SCIMUserID) []connectors.SCIMUserID {
	known := make(map[connectors.SCIMUserID]bool, len(all)+len(ids))
	for _, id := range all {
		known[id] = true
	}
	for _, id := range ids {
		if !known[id] {
			known[id] = true
			all = append(all, id)
		}
	}
	return all
}

func groupResource(ctx context.Context, directory store.SCIM, g connectors.SCIMGroup, shown projection) (library.Resource, error) {
	members, err := readMembers(ctx, directory, shown, g)
	return toGroupResource(g, members[g.ID], shown), err
}

func toGroupResource(g connectors.SCIMGroup, members []store.SCIMGroupMember, shown projection) library.Resource {
	list, ids := make([]any, len(members)), make([]connectors.SCIMUserID, len(members))
	for i, m := range members {
		list[i], ids[i] = map[string]any{attrValue: m.User.String(), "display": m.UserName, "type": "User"}, m.User
	}
	a := library.ResourceAttributes{attrDisplayName: g.DisplayName, attrMembers: list}
	made := library.Resource{ID: g.ID.String(), Attributes: shown.applyTo(a), Meta: library.Meta{Created: &g.CreatedAt, LastModified: &g.UpdatedAt}}
	if shown.showsAttribute(attrMembers) { // otherwise they were not read
		made.Meta.Version = groupVersion(g, ids)
	}
	if g.ExternalID != "" {
		made.ExternalID = optional.NewString(g.ExternalID)
	}
	return made
}

// applyPatch applies an operation to a group.
func (n *groupChange) applyPatch(op library.PatchOperation) error {
	if op.Path == nil {
		values, _ := op.Value.(map[string]any)
		for name, value := range values {
			if err := n.setAttribute(op.Op, name, value); err != nil {
				return err
			}
		}
		return nil
	}
	if op.Path.ValueExpression == nil {
		return n.setAttribute(op.Op, op.Path.AttributePath.AttributeName, op.Value)
	}
	if !strings.EqualFold(op.Path.AttributePath.AttributeName, attrMembers) || op.Op != library.PatchOperationRemove || op.Path.SubAttribute != nil {
		return newPathError()
	}
	var kept []connectors.SCIMUserID
	for _, id := range n.members {
		if !selectsValue(membersAttribute, op.Path.ValueExpression, map[string]any{attrValue: id.String(), "type": "User"}) {
			kept = append(kept, id)
		}
	}
	n.members = kept
	return nil
}

// setAttribute applies an operation to one attribute. An attribute of other names has no effect here.
func (n *groupChange) setAttribute(op, name string, value any) error {
	switch strings.ToLower(name) {
	case "displayname":
		if op == library.PatchOperationRemove {
			return newPathError()
		}
		n.group.DisplayName = textOf(value)
	case "externalid":
		n.group.ExternalID = textOf(value)
	case attrMembers:
		return n.setMembers(op, value)
	}
	return nil
}

func (n *groupChange) setMembers(op string, value any) error {
	ids, err := readMemberIDs(value)
	if err != nil {
		return err
	}
	switch {
	case op == library.PatchOperationAdd:
		n.members = appendNew(n.members, ids...)
	case op == library.PatchOperationReplace:
		n.members = appendNew(nil, ids...)
	case value == nil:
		n.members = nil
	default: // Microsoft Entra names the members to remove in the value
		n.members = subtractUsers(n.members, ids)
	}
	return nil
}
