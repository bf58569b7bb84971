package scim

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/connectors"
)

// Versions of resources (RFC 7644 section 3.14) are weak: digests of what a provider can change, without parts of other resources
// such as a user's groups. A change compares them in its transaction, and a tenant has one change at a time.

func userVersion(u connectors.SCIMUser) string {
	return newVersion(u.UserName, u.ExternalID, u.Email, u.Active, json.RawMessage(compactJSON(u.Attributes)))
}

func groupVersion(g connectors.SCIMGroup, members []connectors.SCIMUserID) string {
	sorted := slices.SortedFunc(slices.Values(members), func(a, b connectors.SCIMUserID) int { return bytes.Compare(a.UUID[:], b.UUID[:]) })
	return newVersion(g.DisplayName, g.ExternalID, sorted)
}

func newVersion(parts ...any) string {
	encoded, _ := json.Marshal(parts) // texts, a boolean, ids and JSON encode
	digest := sha256.Sum256(encoded)
	return `W/"` + base64.RawURLEncoding.EncodeToString(digest[:16]) + `"`
}

// checkVersion refuses a change of a resource that is not the one that If-Match names.
func checkVersion(r *http.Request, current string) error {
	named := strings.Join(r.Header.Values("If-Match"), ",")
	if named == "" || namesVersion(named, current) {
		return nil
	}
	return newSCIMError(http.StatusPreconditionFailed, "", "The resource changed meanwhile. Read it again.")
}

// namesVersion reports whether a list of entity tags has a version, compared weakly as servers of SCIM do, or is "*".
func namesVersion(list, version string) bool {
	for tag := range strings.SplitSeq(list, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || version != "" && strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(version, "W/") {
			return true
		}
	}
	return false
}

// isUnchanged reports whether a response to a GET is what the client has already, by If-None-Match.
func isUnchanged(r *http.Request, header http.Header, status int) bool {
	named, version := strings.Join(r.Header.Values("If-None-Match"), ","), header.Get("Etag")
	return r.Method == http.MethodGet && cmp.Or(status, http.StatusOK) == http.StatusOK && version != "" && namesVersion(named, version)
}
