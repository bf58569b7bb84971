package scim

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	library "github.com/elimity-com/scim"
	scimerrors "github.com/elimity-com/scim/errors"
	"github.com/elimity-com/scim/optional"
	"github.com/elimity-com/scim/schema"
	"github.com/google/uuid"

	"patchbay/internal/fault"
)

// Names of attributes that have a column.
const (
	attrUserName    = "userName"
	attrExternalID  = schema.CommonAttributeExternalID
	attrActive      = "active"
	attrEmails      = "emails"
	attrDisplayName = "displayName"
	attrGroups      = "groups"
	attrMembers     = "members"
	attrPassword    = "password"
	attrValue       = "value"
)

// allowStrings makes the library accept "False" for false, as Microsoft Entra sends it. The setting is the library's only global one.
var allowStrings = sync.OnceFunc(func() { schema.SetAllowStringValues(true) })

var (
	userSchema       = schema.CoreUserSchema()
	groupSchema      = schema.CoreGroupSchema()
	enterpriseSchema = schema.ExtensionEnterpriseUser()
)

// newServer returns the library's server over the handlers.
func (s *Service) newServer() (library.Server, error) {
	allowStrings()
	return library.NewServer(&library.ServerArgs{
		ServiceProviderConfig: &library.ServiceProviderConfig{
			AuthenticationSchemes: []library.AuthenticationScheme{{
				Type: library.AuthenticationTypeOauthBearerToken, Name: "OAuth Bearer Token", Description: "The token of Settings, SCIM.",
				SpecURI: optional.NewString("https://www.rfc-editor.org/rfc/rfc6750"), Primary: true,
			}},
			MaxResults: maxPage, SupportFiltering: true, SupportPatch: true,
		},
		ResourceTypes: []library.ResourceType{
			{
				ID: optional.NewString("User"), Name: "User", Endpoint: "/Users", Description: optional.NewString("User Account"), Schema: userSchema,
				SchemaExtensions: []library.SchemaExtension{{Schema: enterpriseSchema}}, Handler: handler{userResources{s}},
			},
			{
				ID: optional.NewString("Group"), Name: "Group", Endpoint: "/Groups", Description: optional.NewString("Group"), Schema: groupSchema,
				Handler: handler{groupResources{s}},
			},
		},
	}, library.WithBaseURL(s.url))
}

// handler keeps the failures of a resource's handler for [Service.WriteError]: the library would show their causes.
type handler struct{ library.ResourceHandler }

func keepFailure[T any](r *http.Request, result T, err error) (T, error) {
	if err == nil {
		return result, nil
	}
	providerFrom(r.Context()).failure = err
	return result, scimerrors.ScimErrorInternal
}

// Create is of [library.ResourceHandler].
func (h handler) Create(r *http.Request, a library.ResourceAttributes) (library.Resource, error) {
	made, err := h.ResourceHandler.Create(r, a)
	return keepFailure(r, made, err)
}

// Get is of [library.ResourceHandler].
func (h handler) Get(r *http.Request, id string) (library.Resource, error) {
	found, err := h.ResourceHandler.Get(r, id)
	return keepFailure(r, found, err)
}

// GetAll is of [library.ResourceHandler].
func (h handler) GetAll(r *http.Request, p library.ListRequestParams) (library.Page, error) {
	page, err := h.ResourceHandler.GetAll(r, p)
	return keepFailure(r, page, err)
}

// Replace is of [library.ResourceHandler].
func (h handler) Replace(r *http.Request, id string, a library.ResourceAttributes) (library.Resource, error) {
	replaced, err := h.ResourceHandler.Replace(r, id, a)
	return keepFailure(r, replaced, err)
}

// Delete is of [library.ResourceHandler].
func (h handler) Delete(r *http.Request, id string) error {
	_, err := keepFailure(r, struct{}{}, h.ResourceHandler.Delete(r, id))
	return err
}

// Patch is of [library.ResourceHandler].
func (h handler) Patch(r *http.Request, id string, ops []library.PatchOperation) (library.Resource, error) {
	patched, err := h.ResourceHandler.Patch(r, id, ops)
	return keepFailure(r, patched, err)
}

// parseID reads the id of a resource. Other texts name none.
func parseID(id string) (uuid.UUID, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return uuid.UUID{}, fault.Errorf(fault.NotFound, "No such resource.")
	}
	return parsed, nil
}

// projection is which attributes a response has (RFC 7644 section 3.9).
type projection struct{ only, without []string }

func readProjection(r *http.Request) projection {
	q := r.URL.Query()
	return projection{only: splitNames(q.Get("attributes")), without: splitNames(q.Get("excludedAttributes"))}
}

// splitNames returns the names of attributes in lower case, without their parts.
func splitNames(list string) []string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if i := strings.LastIndexByte(name, ':'); i >= 0 && !strings.HasPrefix(enterpriseSchema.ID, name[:i]) {
			name = name[i+1:]
		}
		name, _, _ = strings.Cut(strings.TrimSpace(name), ".")
		if name != "" {
			names = append(names, strings.ToLower(name))
		}
	}
	return names
}

// showsAttribute reports whether the response has an attribute.
func (p projection) showsAttribute(name string) bool {
	name = strings.ToLower(name)
	return (len(p.only) == 0 || slices.Contains(p.only, name)) && !slices.Contains(p.without, name)
}

// applyTo removes what the client does not ask for.
func (p projection) applyTo(a library.ResourceAttributes) library.ResourceAttributes {
	for name := range a {
		if !p.showsAttribute(name) && name != attrUserName && name != attrDisplayName { // these are returned by default and tell resources apart
			delete(a, name)
		}
	}
	return a
}
