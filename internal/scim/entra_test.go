package scim_test

import (
	"testing"

	"patchbay/internal/connectors"
)

const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"

const entraUser = `{"schemas":["` + coreUser + `","` + enterprise + `"],"externalId":"0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef","userName":"Test_User_ab6490ee","active":true,
	"displayName":"lennay","addresses":[{"type":"work","primary":true,"locality":"Redmond"}],
	"emails":[{"primary":true,"type":"work","value":"Test_User_fd0ea19b@testuser.com"}],"meta":{"resourceType":"User"},
	"name":{"formatted":"givenName familyName","familyName":"familyName","givenName":"givenName"},"roles":[],"` + enterprise + `":{"department":"bob","manager":{"value":"x"}}}`

// entraSequence is the request sequence of Microsoft Entra's documentation and SCIM validator.
var entraSequence = []step{
	{name: "schema discovery", do: "GET /Schemas", status: 200, want: map[string]any{"schemas/0": listSchema, "Resources/0/id": anything{}}},
	{name: "resource types", do: "GET /ResourceTypes", status: 200, want: map[string]any{"totalResults": 2.0}},
	{name: "configuration", do: "GET /ServiceProviderConfig", status: 200, want: map[string]any{"patch/supported": true, "filter/supported": true, "authenticationSchemes/0/type": "oauthbearertoken", "bulk/supported": false}},
	{name: "connection test", do: `GET /Users?filter=userName eq "non-existent user"`, status: 200, want: map[string]any{"totalResults": 0.0, "startIndex": 1.0}},
	{name: "create a user", do: "POST /Users", body: entraUser, status: 201, keep: "user", want: map[string]any{
		"userName": "Test_User_ab6490ee", "externalId": "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef", "emails/0/value": "Test_User_fd0ea19b@testuser.com",
		"name/formatted": "givenName familyName", "active": true, enterprise + "/department": "bob", "meta/created": anything{}, "meta/lastModified": anything{},
	}},
	{name: "create a duplicate user", do: "POST /Users", body: entraUser, status: 409, want: map[string]any{"scimType": "uniqueness"}},
	{name: "get a user", do: "GET /Users/{user}", status: 200, want: map[string]any{"id": "{user}", "displayName": "lennay"}},
	{name: "find by user name", do: `GET /Users?filter=userName eq "Test_User_ab6490ee"`, status: 200, want: map[string]any{"totalResults": 1.0, "Resources/0/id": "{user}"}},
	{name: "find by user name in another case", do: `GET /Users?filter=userName eq "test_user_AB6490EE"`, status: 200, want: map[string]any{"totalResults": 1.0}},
	{name: "find by external id", do: `GET /Users?filter=externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"`, status: 200, want: map[string]any{"totalResults": 1.0}},
	{name: "find by external id in another case", do: `GET /Users?filter=externalId eq "0A21F0F2-8d2a-4f8e-bf98-7363c4aed4ef"`, status: 200, want: map[string]any{"totalResults": 0.0}},
	{name: "find by email", do: `GET /Users?filter=emails[type eq "work"].value eq "test_user_fd0ea19b@testuser.com"`, status: 200, want: map[string]any{"totalResults": 1.0, "Resources/0/id": "{user}"}},
	{name: "find by another email", do: `GET /Users?filter=emails[type eq "work"].value eq "other@testuser.com" and active eq true`, status: 200, want: map[string]any{"totalResults": 0.0}},
	{name: "find by a type that has no address here", do: `GET /Users?filter=emails[type eq "home"].value eq "test_user_fd0ea19b@testuser.com"`, status: 400, want: map[string]any{"scimType": "invalidFilter"}},
	{name: "find by email value", do: `GET /Users?filter=emails.value eq "test_user_fd0ea19b@testuser.com"`, status: 200, want: map[string]any{"totalResults": 1.0}},
	{name: "update multi-valued and single-valued properties", do: "PATCH /Users/{user}", body: `{"schemas":["` + patchSchema + `"],"Operations":[
		{"op":"Replace","path":"emails[type eq \"work\"].value","value":"updatedEmail@microsoft.com"},{"op":"Replace","path":"name.familyName","value":"updatedFamilyName"}]}`, status: 200, want: map[string]any{
		"emails/0/value": "updatedEmail@microsoft.com", "emails/0/type": "work", "emails/1": nil, "name/familyName": "updatedFamilyName", "name/givenName": "givenName",
	}},
	{name: "update the user name", do: "PATCH /Users/{user}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"Replace","path":"userName","value":"5b50642d"}]}`, status: 200, want: map[string]any{"userName": "5b50642d"}},
	{name: "add properties by path", do: "PATCH /Users/{user}", body: `{"schemas":["` + patchSchema + `"],"Operations":[
		{"op":"Add","path":"title","value":"Dr."},{"op":"Add","path":"phoneNumbers[type eq \"mobile\"].value","value":"+1 555"},{"op":"Add","path":"` + enterprise + `:department","value":"sales"},
		{"op":"Add","path":"addresses[type eq \"work\"].streetAddress","value":"Main 1"},{"op":"Add","path":"roles[primary eq \"True\"].value","value":"lead"}]}`, status: 200, want: map[string]any{
		"title": "Dr.", "phoneNumbers/0/value": "+1 555", "phoneNumbers/0/type": "mobile", enterprise + "/department": "sales", "addresses/0/streetAddress": "Main 1", "addresses/0/locality": "Redmond", "roles/0/value": "lead",
	}},
	{name: "add properties without a path", do: "PATCH /Users/{user}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"add","value":{
		"name.givenName":"Al","nickName":"A","` + enterprise + `:employeeNumber":"7","active":"True"}}]}`, status: 200, want: map[string]any{
		"name/givenName": "Al", "name/familyName": "updatedFamilyName", "nickName": "A", enterprise + "/employeeNumber": "7", enterprise + "/department": "sales", "active": true,
	}},
	{name: "replace a manager", do: "PATCH /Users/{user}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"Replace","path":"` + enterprise + `:manager","value":{"value":"{user}"}},{"op":"Remove","path":"title"}]}`, status: 200, want: map[string]any{
		enterprise + "/manager/value": "{user}", "title": nil,
	}},
	{name: "create a group", do: "POST /Groups", body: `{"schemas":["` + coreGroup + `","http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],"externalId":"8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159","displayName":"Admins","meta":{"resourceType":"Group"}}`, status: 201, keep: "group", want: map[string]any{
		"displayName": "Admins", "externalId": "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159",
	}},
	{name: "create a duplicate group", do: "POST /Groups", body: `{"schemas":["` + coreGroup + `"],"displayName":"Admins"}`, status: 409, want: map[string]any{"scimType": "uniqueness"}},
	{name: "get a group without members", do: "GET /Groups/{group}?excludedAttributes=members", status: 200, want: map[string]any{"members": nil, "displayName": "Admins"}},
	{name: "find a group", do: `GET /Groups?excludedAttributes=members&filter=displayName eq "Admins"`, status: 200, want: map[string]any{"totalResults": 1.0, "Resources/0/id": "{group}", "Resources/0/members": nil}},
	{name: "add a member", do: "PATCH /Groups/{group}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"Add","path":"members","value":[{"$ref":null,"value":"{user}"}]}]}`, status: 204},
	{name: "ask for a member", do: `GET /Groups?filter=id eq "{group}" and members eq "{user}"&attributes=id`, status: 200, want: map[string]any{"totalResults": 1.0, "Resources/0/id": "{group}", "Resources/0/members": nil}},
	{name: "rename the group", do: "PATCH /Groups/{group}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"Replace","path":"displayName","value":"Staff"}]}`, status: 204},
	{name: "remove a member", do: "PATCH /Groups/{group}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"Remove","path":"members","value":[{"$ref":null,"value":"{user}"}]}]}`, status: 204},
	{name: "add the member again", do: "PATCH /Groups/{group}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"Add","path":"members","value":[{"value":"{user}"}]}]}`, status: 204},
	{name: "remove a member by path", do: "PATCH /Groups/{group}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"Remove","path":"members[value eq \"{user}\"]"}]}`, status: 204},
	{name: "it has none", do: "GET /Groups/{group}", status: 200, want: map[string]any{"displayName": "Staff", "members/0": nil}},
	{name: "disable the user", do: "PATCH /Users/{user}", body: `{"schemas":["` + patchSchema + `"],"Operations":[{"op":"Replace","path":"active","value":"False"}]}`, status: 200, want: map[string]any{"active": false}},
	{name: "delete the user", do: "DELETE /Users/{user}", status: 204},
	{name: "delete the user again", do: "DELETE /Users/{user}", status: 404},
	{name: "delete the group", do: "DELETE /Groups/{group}", status: 204},
}

func TestEntra_RequestSequence(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.mapGroups(t)
	const email = "updatedemail@microsoft.com"
	roles := map[string]connectors.Role{
		"create a user": "", "add a member": connectors.RoleAdmin, "rename the group": connectors.RoleMember, "remove a member": "",
		"add the member again": connectors.RoleMember, "remove a member by path": "", "disable the user": "",
	}
	for _, s := range entraSequence {
		d.runSteps(t, []step{s})
		if role, ok := roles[s.name]; ok {
			d.wantRole(t, email, role)
		}
	}
}
