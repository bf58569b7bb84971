package scim_test

import (
	"testing"

	"patchbay/internal/connectors"
)

const (
	listSchema  = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
	coreUser    = "urn:ietf:params:scim:schemas:core:2.0:User"
	coreGroup   = "urn:ietf:params:scim:schemas:core:2.0:Group"
	patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
)

const oktaUser = `{"schemas":["` + coreUser + `"],"userName":"runscope300@okta.example","name":{"givenName":"Runscope","familyName":"User"},
	"emails":[{"primary":true,"value":"runscope300@okta.example","type":"work"}],"displayName":"Runscope User","locale":"en-US",
	"externalId":"00ujl29u0le5T6Aj10h7","groups":[],"password":"1mz050nq","active":true}`

// oktaSpec is Okta's SCIM 2.0 SPEC test suite.
var oktaSpec = []step{
	{name: "a first user", do: "POST /Users", body: `{"schemas":["` + coreUser + `"],"userName":"first@okta.example","name":{"givenName":"First","familyName":"User"},"emails":[{"primary":true,"value":"first@okta.example","type":"work"}],"active":true}`, status: 201, keep: "first"},
	{name: "Required Test: Test Users endpoint", do: "GET /Users?count=1&startIndex=1", status: 200, want: map[string]any{
		"schemas/0": listSchema, "itemsPerPage": 1.0, "startIndex": 1.0, "totalResults": 1.0, "Resources/0/id": anything{}, "Resources/0/name/familyName": anything{},
		"Resources/0/name/givenName": anything{}, "Resources/0/userName": anything{}, "Resources/0/active": anything{}, "Resources/0/emails/0/value": anything{},
	}},
	{name: "Required Test: Get Users/{{id}}", do: "GET /Users/{first}", status: 200, want: map[string]any{
		"id": "{first}", "name/familyName": anything{}, "name/givenName": anything{}, "userName": anything{}, "active": true, "emails/0/value": anything{},
	}},
	{name: "Required Test: Test invalid User by username", do: `GET /Users?filter=userName eq "abcdefgh@atko.example"`, status: 200, want: map[string]any{
		"schemas/0": listSchema, "totalResults": 0.0,
	}},
	{name: "Required Test: Test invalid User by ID", do: "GET /Users/010101001010101011001010101011", status: 404, want: map[string]any{"detail": anything{}}},
	{name: "Required Test: Make sure random user doesn't exist", do: `GET /Users?filter=userName eq "runscope300@okta.example"`, status: 200, want: map[string]any{
		"schemas/0": listSchema, "totalResults": 0.0,
	}},
	{name: "Required Test: Create Okta user with realistic values", do: "POST /Users", body: oktaUser, status: 201, keep: "user", want: map[string]any{
		"active": true, "id": anything{}, "name/familyName": "User", "name/givenName": "Runscope", "schemas/0": coreUser, "userName": "runscope300@okta.example",
		"externalId": "00ujl29u0le5T6Aj10h7", "password": nil, "meta/location": baseURL + "/scim/v2/Users/{user}", "meta/resourceType": "User",
	}},
	{name: "Required Test: Check that user was created", do: "GET /Users/{user}", status: 200, want: map[string]any{"userName": "runscope300@okta.example", "active": true}},
	{name: "Required Test: Expect failure when recreating user with same values", do: "POST /Users", body: oktaUser, status: 409, want: map[string]any{"scimType": "uniqueness"}},
	{name: "Optional Test: Verify Groups endpoint", do: "GET /Groups", status: 200, want: map[string]any{"schemas/0": listSchema, "totalResults": 0.0}},
	{name: "Username Case Sensitivity Check", do: `GET /Users?filter=userName eq "RUNSCOPE300@OKTA.EXAMPLE"`, status: 200, want: map[string]any{"totalResults": 1.0}},
	{name: "Required Test: User id not null", do: "GET /Users?startIndex=1&count=100", status: 200, want: map[string]any{"totalResults": 2.0, "Resources/1/id": "{user}"}},
}

// oktaLifecycle is what Okta sends when people and groups are assigned, changed and unassigned.
var oktaLifecycle = []step{
	{name: "update a user", do: "PUT /Users/{user}", body: `{"schemas":["` + coreUser + `"],"id":"{user}","userName":"runscope300@okta.example","name":{"givenName":"Another","middleName":"Excited","familyName":"User"},
		"emails":[{"primary":true,"value":"runscope300@okta.example","type":"work","display":"runscope300@okta.example"}],"active":true,"groups":[],"meta":{"resourceType":"User"}}`, status: 200, want: map[string]any{"name/givenName": "Another", "name/middleName": "Excited"}},
	{name: "push a group", do: "POST /Groups", body: `{"schemas":["` + coreGroup + `"],"displayName":"Admins","members":[]}`, status: 201, keep: "group", want: map[string]any{"displayName": "Admins"}},
	{name: "read the group", do: "GET /Groups/{group}", status: 200, want: map[string]any{"displayName": "Admins", "meta/resourceType": "Group"}},
	{name: "add members", do: "PATCH /Groups/{group}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"add","path":"members","value":[{"value":"{user}","display":"runscope300@okta.example"}]}]}`, status: 204},
	{name: "the user has the group", do: "GET /Users/{user}", status: 200, want: map[string]any{"groups/0/value": "{group}", "groups/0/display": "Admins"}},
	{name: "rename a group", do: "PATCH /Groups/{group}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"replace","value":{"id":"{group}","displayName":"Staff"}}]}`, status: 204},
	{name: "its name and member", do: "GET /Groups/{group}", status: 200, want: map[string]any{"displayName": "Staff", "members/0/value": "{user}", "members/0/display": "runscope300@okta.example"}},
	{name: "replace members", do: "PATCH /Groups/{group}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"remove","path":"members[value eq \"{user}\"]"},{"op":"add","path":"members","value":[{"value":"{first}"}]}]}`, status: 204},
	{name: "the other member", do: "GET /Groups/{group}", status: 200, want: map[string]any{"members/0/value": "{first}", "members/1": nil}},
	{name: "put a group", do: "PUT /Groups/{group}", body: `{"schemas":["` + coreGroup + `"],"id":"{group}","displayName":"Staff","members":[{"value":"{user}","display":"x"}]}`, status: 200, want: map[string]any{"members/0/value": "{user}", "members/1": nil}},
	{name: "list groups", do: "GET /Groups?startIndex=1&count=100", status: 200, want: map[string]any{"totalResults": 1.0, "Resources/0/displayName": "Staff"}},
	{name: "deactivate a user", do: "PATCH /Users/{user}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"replace","value":{"active":false}}]}`, status: 200, want: map[string]any{"active": false}},
	{name: "reactivate a user", do: "PATCH /Users/{user}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"replace","value":{"active":true}}]}`, status: 200, want: map[string]any{"active": true}},
	{name: "sync a password", do: "PATCH /Users/{user}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"replace","value":{"password":"t1meMa$heen"}}]}`, status: 200, want: map[string]any{"password": nil}},
	{name: "delete a group", do: "DELETE /Groups/{group}", status: 204},
	{name: "it is gone", do: "GET /Groups/{group}", status: 404},
	{name: "delete a user", do: "DELETE /Users/{user}", status: 204},
	{name: "they are gone", do: "GET /Users/{user}", status: 404},
}

func TestOkta_RequestSequences(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.mapGroups(t, func(s *connectors.SSO) { s.DefaultRole = connectors.RoleViewer })
	d.runSteps(t, oktaSpec)
	d.wantRole(t, "runscope300@okta.example", connectors.RoleViewer)
	d.runSteps(t, oktaLifecycle[:4])
	d.wantRole(t, "runscope300@okta.example", connectors.RoleAdmin)
	d.runSteps(t, oktaLifecycle[4:7])
	d.wantRole(t, "runscope300@okta.example", connectors.RoleMember)
	d.runSteps(t, oktaLifecycle[7:9])
	d.wantRole(t, "runscope300@okta.example", connectors.RoleViewer)
	d.wantRole(t, "first@okta.example", connectors.RoleMember)
	d.runSteps(t, oktaLifecycle[9:12])
	d.wantRole(t, "runscope300@okta.example", "")
	d.runSteps(t, oktaLifecycle[12:13])
	d.wantRole(t, "runscope300@okta.example", connectors.RoleMember)
	d.runSteps(t, oktaLifecycle[13:])
	d.wantRole(t, "runscope300@okta.example", "")
	d.wantRole(t, d.owner.Email, connectors.RoleOwner)
}
