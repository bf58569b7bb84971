package scim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"unicode"

	library "github.com/elimity-com/scim"
	scimerrors "github.com/elimity-com/scim/errors"
	"github.com/elimity-com/scim/optional"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Bounds of a user's attributes.
const (
	maxName       = 320      // characters, of userName and externalId
	maxAttributes = 32 << 10 // bytes of JSON
)

// userResources answers requests for /Users.
type userResources struct{ *Service }

// Create makes a user and, with a role, a member.
func (h userResources) Create(r *http.Request, a library.ResourceAttributes) (made library.Resource, err error) {
	n, err := toUser(a)
	if err != nil {
		return made, err
	}
	err = h.runChange(r, func(ctx context.Context, c *change) error {
		u, err := c.tx.SCIM().CreateUser(ctx, n)
		if err != nil {
			return err
		}
		if err := c.recordEvent(ctx, "scim.user_create", u.UserName, nil, store.OfSCIMUser(u.ID), nil); err != nil {
			return err
		}
		if err := c.applyUser(ctx, &u); err != nil {
			return err
		}
		made, err = c.readUser(ctx, u.ID, readProjection(r))
		return err
	})
	return made, err
}

// applyUser makes a stored user a member or ends the membership.
func (c *change) applyUser(ctx context.Context, u *connectors.SCIMUser) error {
	if !u.Active {
		return c.endMembership(ctx, u)
	}
	return c.applyMembership(ctx, u)
}

// Get reads a user.
func (h userResources) Get(r *http.Request, id string) (library.Resource, error) {
	key, err := parseID(id)
	if err != nil {
		return library.Resource{}, err
	}
	var found library.Resource
	err = h.store.Tenant(providerFrom(r.Context()).actor.Tenant.ID).Snapshot(r.Context(), func(tx *store.Tenant) error {
		u, err := tx.SCIM().User(r.Context(), connectors.SCIMUserID{UUID: key})
		if err != nil {
			return err
		}
		found, err = userResource(r.Context(), tx.SCIM(), u, readProjection(r))
		return err
	})
	return found, err
}

// GetAll lists a page of users.
func (h userResources) GetAll(r *http.Request, p library.ListRequestParams) (library.Page, error) {
	f, err := toFilter(p)
	if err != nil {
		return library.Page{}, err
	}
	if f.DisplayName != nil || f.Member != nil {
		return library.Page{}, newFilterError()
	}
	page := library.Page{Resources: []library.Resource{}}
	err = h.store.Tenant(providerFrom(r.Context()).actor.Tenant.ID).Snapshot(r.Context(), func(tx *store.Tenant) error {
		users, total, err := tx.SCIM().Users(r.Context(), f, p.StartIndex-1, p.Count)
		if err != nil {
			return err
		}
		page.TotalResults = total
		shown := readProjection(r)
		groups := map[connectors.SCIMUserID][]store.SCIMUserGroup{}
		if shown.showsAttribute(attrGroups) {
			if groups, err = tx.SCIM().GroupsOf(r.Context(), userIDs(users)); err != nil {
				return err
			}
		}
		for _, u := range users {
			one, err := toUserResource(u, groups[u.ID], shown)
			if err != nil {
				return err
			}
			page.Resources = append(page.Resources, one)
		}
		return nil
	})
	return page, err
}

func userIDs(users []connectors.SCIMUser) []connectors.SCIMUserID {
	ids := make([]connectors.SCIMUserID, len(users))
	for i, u := range users {
		ids[i] = u.ID
	}
	return ids
}

// Replace replaces a user's attributes. Without active, the user stays as they are.
func (h userResources) Replace(r *http.Request, id string, a library.ResourceAttributes) (library.Resource, error) {
	return h.updateUser(r, id, func(old library.ResourceAttributes) (library.ResourceAttributes, error) {
		if _, given := a[attrActive]; !given {
			a[attrActive] = old[attrActive]
		}
		return a, nil
	})
}

// Patch changes a user's attributes.
func (h userResources) Patch(r *http.Request, id string, ops []library.PatchOperation) (library.Resource, error) {
	return h.updateUser(r, id, func(old library.ResourceAttributes) (library.ResourceAttributes, error) {
		for _, op := range ops {
			if err := applyPatch(old, op); err != nil {
				return nil, err
			}
		}
		return old, nil
	})
}

// updateUser stores what next makes of a user's attributes, and makes the user a member or ends the membership.
func (h userResources) updateUser(
	r *http.Request, id string, next func(library.ResourceAttributes) (library.ResourceAttributes, error),
) (updated library.Resource, err error) {
	key, err := parseID(id)
	if err != nil {
		return updated, err
	}
	err = h.runChange(r, func(ctx context.Context, c *change) error {
		old, err := c.tx.SCIM().User(ctx, connectors.SCIMUserID{UUID: key})
		if err != nil {
			return err
		}
		if err := checkVersion(r, userVersion(old)); err != nil {
			return err
		}
		attributes, err := allAttributes(old)
		if err != nil {
			return err
		}
		if attributes, err = next(attributes); err != nil {
			return err
		}
		u, err := toUser(attributes)
		if err != nil {
			return err
		}
		u.ID, u.Member, u.CreatedAt, u.UpdatedAt = old.ID, old.Member, old.CreatedAt, old.UpdatedAt
		if err := c.storeUser(ctx, old, &u); err != nil {
			return err
		}
		updated, err = c.readUser(ctx, u.ID, readProjection(r))
		return err
	})
	return updated, err
}

// readUser returns a user as it is stored, with the version of that.
func (c *change) readUser(ctx context.Context, id connectors.SCIMUserID, shown projection) (library.Resource, error) {
	u, err := c.tx.SCIM().User(ctx, id)
	if err != nil {
		return library.Resource{}, err
	}
	return userResource(ctx, c.tx.SCIM(), u, shown)
}

// storeUser stores a changed user. The membership of an inactive one ends first.
func (c *change) storeUser(ctx context.Context, old connectors.SCIMUser, u *connectors.SCIMUser) error {
	if !u.Active {
		if err := c.endMembership(ctx, u); err != nil {
			return err
		}
	}
	if !isSameUser(old, *u) {
		was, err := c.tx.State(ctx, store.OfSCIMUser(u.ID))
		if err != nil {
			return err
		}
		if err := c.tx.SCIM().UpdateUser(ctx, *u); err != nil {
			return err
		}
		if err := c.recordEvent(ctx, "scim.user_update", u.UserName, was, store.OfSCIMUser(u.ID), nil); err != nil {
			return err
		}
	}
	if !u.Active {
		return nil
	}
	if err := c.renameMember(ctx, old, *u); err != nil {
		return err
	}
	return c.applyMembership(ctx, u)
}

func isSameUser(a, b connectors.SCIMUser) bool {
	return a.UserName == b.UserName && a.ExternalID == b.ExternalID && a.Email == b.Email && a.Active == b.Active &&
		bytes.Equal(compactJSON(a.Attributes), compactJSON(b.Attributes))
}

// compactJSON returns an object with its names in order: PostgreSQL stores them in an order of its own.
func compactJSON(object json.RawMessage) []byte {
	var value any
	if json.Unmarshal(object, &value) != nil {
		return object
	}
	compact, _ := json.Marshal(value) // what was decoded encodes
	return compact
}

// renameMember changes the address and name of the member's account if the tenant issued it. A person's own account
// keeps them.
func (c *change) renameMember(ctx context.Context, old, u connectors.SCIMUser) error {
	if u.Member == nil || old.Email == u.Email && displayName(&old) == displayName(&u) {
		return nil
	}
	was, err := c.tx.State(ctx, store.OfMember(*u.Member))
	if err != nil {
		return err
	}
	if other, err := c.tx.SSO().MemberByEmail(ctx, u.Email); err == nil && other.UserID != *u.Member {
		return newTakenError("Another member has this address.")
	} else if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	renamed, err := c.tx.SCIM().RenameAccount(ctx, *u.Member, u.Email, displayName(&u))
	if err != nil || !renamed {
		return err
	}
	return c.recordMember(ctx, "member.rename", *u.Member, u.Email, was, nil)
}

// Delete deletes a user and ends the membership.
func (h userResources) Delete(r *http.Request, id string) error {
	key, err := parseID(id)
	if err != nil {
		return err
	}
	return h.runChange(r, func(ctx context.Context, c *change) error {
		u, err := c.tx.SCIM().User(ctx, connectors.SCIMUserID{UUID: key})
		if err != nil {
			return err
		}
		if err := checkVersion(r, userVersion(u)); err != nil {
			return err
		}
		if u.Member != nil {
			if err := c.endMembership(ctx, &u); err != nil {
				return err
			}
		}
		was, err := c.tx.State(ctx, store.OfSCIMUser(u.ID))
		if err != nil {
			return err
		}
		if err := c.tx.SCIM().DeleteUser(ctx, u.ID); err != nil {
			return err
		}
		return c.recordEvent(ctx, "scim.user_delete", u.UserName, was, store.OfSCIMUser(u.ID), nil)
	})
}

// toUser reads a user's attributes. A password is dropped.
func toUser(a library.ResourceAttributes) (connectors.SCIMUser, error) {
	u := connectors.SCIMUser{UserName: textOf(a[attrUserName]), ExternalID: textOf(a[attrExternalID]), Active: true}
	if active, ok := a[attrActive].(bool); ok {
		u.Active = active
	}
	if u.Email = pickAddress(a); u.Email == "" {
		return u, newInvalidError("A user needs an email address in emails or userName.")
	}
	if n := len([]rune(u.UserName)); n < 1 || n > maxName || len([]rune(u.ExternalID)) > maxName {
		return u, newInvalidError("userName and externalId have at most 320 characters.")
	}
	rest := maps.Clone(a)
	for _, name := range []string{attrUserName, attrExternalID, attrActive, attrPassword, attrGroups} {
		delete(rest, name)
	}
	encoded, err := json.Marshal(rest)
	if err != nil {
		return u, fmt.Errorf("encode a user: %w", err)
	}
	if len(encoded) > maxAttributes {
		return u, newInvalidError("A user's attributes have at most 32 KiB.")
	}
	u.Attributes = encoded
	return u, nil
}

// pickAddress returns the primary e-mail address, else the first, else the user name.
func pickAddress(a library.ResourceAttributes) string {
	emails, _ := a[attrEmails].([]any)
	address := ""
	for _, e := range emails {
		email, _ := e.(map[string]any)
		value := textOf(email[attrValue])
		if primary, _ := email["primary"].(bool); isAddress(value) && (primary || address == "") {
			address = value
		}
	}
	if name := textOf(a[attrUserName]); address == "" && isAddress(name) {
		address = name
	}
	return strings.ToLower(address)
}

func isAddress(text string) bool {
	return len(text) <= 254 && connectors.EmailDomain(text) != "" && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

func textOf(value any) string {
	text, _ := value.(string)
	return strings.TrimSpace(text)
}

// displayName returns the name to show for a user; empty if there is none.
func displayName(u *connectors.SCIMUser) string {
	var a struct {
		DisplayName string
		Name        struct{ Formatted, GivenName, FamilyName string }
	}
	if json.Unmarshal(u.Attributes, &a) != nil {
		return ""
	}
	for _, name := range []string{a.DisplayName, a.Name.Formatted, a.Name.GivenName + " " + a.Name.FamilyName} {
		if name = connectors.CleanPersonName(name); name != "" {
			return name
		}
	}
	return ""
}

// allAttributes returns a user's attributes as the provider sent them.
func allAttributes(u connectors.SCIMUser) (library.ResourceAttributes, error) {
	a := library.ResourceAttributes{}
	if err := json.Unmarshal(u.Attributes, &a); err != nil {
		return nil, fmt.Errorf("decode a user: %w", err)
	}
	a[attrUserName], a[attrActive] = u.UserName, u.Active
	if u.ExternalID != "" {
		a[attrExternalID] = u.ExternalID
	}
	return a, nil
}

// userResource returns a user with the groups.
func userResource(ctx context.Context, directory store.SCIM, u connectors.SCIMUser, shown projection) (library.Resource, error) {
	groups, err := directory.GroupsOf(ctx, []connectors.SCIMUserID{u.ID})
	if err != nil {
		return library.Resource{}, err
	}
	return toUserResource(u, groups[u.ID], shown)
}

func toUserResource(u connectors.SCIMUser, groups []store.SCIMUserGroup, shown projection) (library.Resource, error) {
	a, err := allAttributes(u)
	if err != nil {
		return library.Resource{}, err
	}
	delete(a, attrExternalID)
	list := make([]any, len(groups))
	for i, g := range groups {
		list[i] = map[string]any{attrValue: g.ID.String(), "display": g.DisplayName, "type": "direct"}
	}
	if len(list) > 0 {
		a[attrGroups] = list
	}
	made := library.Resource{
		ID: u.ID.String(), Attributes: shown.applyTo(a), Meta: library.Meta{Created: &u.CreatedAt, LastModified: &u.UpdatedAt, Version: userVersion(u)},
	}
	if u.ExternalID != "" {
		made.ExternalID = optional.NewString(u.ExternalID)
	}
	return made, nil
}

func newInvalidError(detail string) error {
	return newSCIMError(http.StatusBadRequest, scimerrors.ScimTypeInvalidValue, detail)
}

func newTakenError(detail string) error {
	return newSCIMError(http.StatusConflict, scimerrors.ScimTypeUniqueness, detail)
}
