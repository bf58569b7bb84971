package api_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// routes is every operation with its permission and a valid body. TestEveryRouteHasARow compares it with the
// OpenAPI document.
var routes = map[string]struct {
	needs connectors.Permission
	body  string
}{
	"POST /api/v1/connectors/{id}/credential/compare":                     {connectors.PermManage, `{"token": "t-1"}`},
	"POST /api/v1/connectors/{id}/agents/{agent}/credential/compare":      {connectors.PermManage, `{"token": "t-1"}`},
	"GET /api/v1/agents/{id}/accounts":                                    {connectors.PermManage, ""},
	"GET /api/v1/agents/{id}/clients":                                     {connectors.PermRead, ""},
	"DELETE /api/v1/agents/{id}/clients/{client_id}":                      {connectors.PermManage, ""},
	"POST /api/v1/usage/reset":                                            {connectors.PermManage, ""},
	"DELETE /api/v1/agents/{id}/connectors/{connector}/allowances/{tool}": {connectors.PermOperate, ""},
	"GET /api/v1/members/{id}/clients":                                    {connectors.PermOwn, ""},
	"DELETE /api/v1/members/{id}/clients/{client_id}":                     {connectors.PermOwn, ""},

	"GET /api/v1/connectors":                                                       {connectors.PermRead, ""},
	"POST /api/v1/connectors":                                                      {connectors.PermManage, `{"name": "A", "url": "https://mcp.example.com/"}`},
	"POST /api/v1/connectors/test":                                                 {connectors.PermManage, `{"name": "A", "url": "http://localhost:1/", "retry_attempts": 0}`},
	"GET /api/v1/connectors/{id}":                                                  {connectors.PermRead, ""},
	"PATCH /api/v1/connectors/{id}":                                                {connectors.PermManage, `{"description": "Changed"}`},
	"DELETE /api/v1/connectors/{id}":                                               {connectors.PermManage, ""},
	"POST /api/v1/connectors/{id}/sync_tools":                                      {connectors.PermOperate, ""},
	"POST /api/v1/connectors/{id}/methods":                                         {connectors.PermManage, `{"method": "acme/none"}`},
	"POST /api/v1/connectors/{id}/ping":                                            {connectors.PermOperate, ""},
	"POST /api/v1/connectors/{id}/acknowledge_tools":                               {connectors.PermManage, ""},
	"POST /api/v1/connectors/{id}/listen":                                          {connectors.PermManage, ""},
	"POST /connectors/{id}/sync_tools":                                             {connectors.PermOperate, ""},
	"POST /api/v1/sync_tools":                                                      {connectors.PermOperate, ""},
	"GET /api/v1/overview":                                                         {connectors.PermRead, ""},
	"GET /api/v1/quotas":                                                           {connectors.PermRead, ""},
	"GET /api/v1/connectors/{id}/operations":                                       {connectors.PermRead, ""},
	"PATCH /api/v1/connectors/{id}/operations":                                     {connectors.PermManage, `{"remove": ["GET /notes"]}`},
	"GET /api/v1/connectors/{id}/document":                                         {connectors.PermRead, ""},
	"GET /api/v1/connectors/{id}/endpoints":                                        {connectors.PermRead, ""},
	"POST /api/v1/connectors/{id}/endpoints":                                       {connectors.PermManage, `{"curl": "curl http://127.0.0.1:1/items", "name": "listItems"}`},
	"GET /api/v1/connectors/{id}/endpoints/{name}":                                 {connectors.PermRead, ""},
	"PATCH /api/v1/connectors/{id}/endpoints/{name}":                               {connectors.PermManage, `{"title": "Changed"}`},
	"DELETE /api/v1/connectors/{id}/endpoints/{name}":                              {connectors.PermManage, ""},
	"GET /api/v1/connectors/{id}/health":                                           {connectors.PermRead, ""},
	"GET /api/v1/connectors/{id}/sync_runs":                                        {connectors.PermRead, ""},
	"GET /api/v1/connectors/{id}/sign_in_methods":                                  {connectors.PermRead, ""},
	"GET /api/v1/sync_runs/{id}":                                                   {connectors.PermRead, ""},
	"POST /api/v1/sync_runs/{id}/cancel":                                           {connectors.PermOperate, ""},
	"GET /api/v1/connectors/{id}/tools":                                            {connectors.PermRead, ""},
	"GET /api/v1/connectors/{id}/prompts":                                          {connectors.PermRead, ""},
	"GET /api/v1/connectors/{id}/resources":                                        {connectors.PermRead, ""},
	"GET /api/v1/connectors/{id}/resource_templates":                               {connectors.PermRead, ""},
	"PATCH /api/v1/connectors/{id}/tools":                                          {connectors.PermManage, `{"tools": [{"name": "search", "enabled": false}]}`},
	"PATCH /api/v1/connectors/{id}/tools/{name}":                                   {connectors.PermManage, `{"alias": "find"}`},
	"POST /api/v1/connectors/{id}/tools/{name}/call":                               {connectors.PermManage, `{"arguments": {}, "confirm": true}`},
	"GET /api/v1/connectors/{id}/tools/{name}/changes":                             {connectors.PermRead, ""},
	"POST /api/v1/connectors/{id}/tools/{name}/accept":                             {connectors.PermManage, ""},
	"POST /api/v1/connectors/{id}/tools/{name}/reject":                             {connectors.PermManage, ""},
	"POST /api/v1/connectors/{id}/tools/{name}/keep":                               {connectors.PermManage, ""},
	"POST /api/v1/connectors/{id}/tools/{name}/restore":                            {connectors.PermManage, restoreBody},
	"POST /api/v1/connectors/{id}/instructions/restore":                            {connectors.PermManage, restoreBody},
	"GET /api/v1/connectors/{id}/skills":                                           {connectors.PermRead, ""},
	"GET /api/v1/connectors/{id}/skills/{uri}":                                     {connectors.PermRead, ""},
	"GET /api/v1/connectors/{id}/skills/{uri}/changes":                             {connectors.PermRead, ""},
	"POST /api/v1/connectors/{id}/skills/{uri}/accept":                             {connectors.PermManage, ""},
	"POST /api/v1/connectors/{id}/skills/{uri}/reject":                             {connectors.PermManage, ""},
	"POST /api/v1/connectors/{id}/skills/{uri}/restore":                            {connectors.PermManage, restoreBody},
	"POST /api/v1/tool_changes/decide":                                             {connectors.PermManage, `{"verdict": "reject", "changes": [{"connector": "c", "tool": "t", "hash": "` + noHash + `"}]}`},
	"GET /api/v1/connectors/{id}/instructions":                                     {connectors.PermRead, ""},
	"GET /api/v1/connectors/{id}/instructions/changes":                             {connectors.PermRead, ""},
	"POST /api/v1/connectors/{id}/instructions/accept":                             {connectors.PermManage, ""},
	"POST /api/v1/connectors/{id}/instructions/reject":                             {connectors.PermManage, ""},
	"GET /api/v1/tool_changes":                                                     {connectors.PermRead, ""},
	"POST /api/v1/tool_changes/accept_cosmetic":                                    {connectors.PermManage, ""},
	"GET /api/v1/tools":                                                            {connectors.PermRead, ""},
	"GET /api/v1/connectors/{id}/credentials":                                      {connectors.PermRead, ""},
	"PUT /api/v1/connectors/{id}/credential":                                       {connectors.PermManage, `{"token": "t-1"}`},
	"PATCH /api/v1/connectors/{id}/credential":                                     {connectors.PermManage, `{"name": "work"}`},
	"DELETE /api/v1/connectors/{id}/credential":                                    {connectors.PermManage, ""},
	"PUT /api/v1/connectors/{id}/agents/{agent}/credential":                        {connectors.PermManage, `{"token": "t-1"}`},
	"PATCH /api/v1/connectors/{id}/agents/{agent}/credential":                      {connectors.PermManage, `{"name": "work"}`},
	"DELETE /api/v1/connectors/{id}/agents/{agent}/credential":                     {connectors.PermManage, ""},
	"POST /api/v1/connectors/{id}/connect":                                         {connectors.PermManage, ""},
	"POST /api/v1/import":                                                          {connectors.PermManage, `{"url": "https://mcp.example.com/"}`},
	"GET /api/v1/export":                                                           {connectors.PermRead, ""},
	"GET /api/v1/agents":                                                           {connectors.PermRead, ""},
	"POST /api/v1/agents":                                                          {connectors.PermManage, `{"name": "A"}`},
	"GET /api/v1/agents/{id}":                                                      {connectors.PermRead, ""},
	"PATCH /api/v1/agents/{id}":                                                    {connectors.PermManage, `{"name": "B"}`},
	"DELETE /api/v1/agents/{id}":                                                   {connectors.PermManage, ""},
	"GET /api/v1/agents/{id}/tools":                                                {connectors.PermRead, ""},
	"GET /api/v1/agents/{id}/prompts":                                              {connectors.PermRead, ""},
	"GET /api/v1/agents/{id}/resources":                                            {connectors.PermRead, ""},
	"GET /api/v1/agents/{id}/resource_templates":                                   {connectors.PermRead, ""},
	"GET /api/v1/agents/{id}/tools/{name}/why":                                     {connectors.PermRead, ""},
	"GET /api/v1/agents/{id}/size":                                                 {connectors.PermRead, ""},
	"GET /api/v1/agents/{id}/unused_tools":                                         {connectors.PermRead, ""},
	"GET /api/v1/agents/{id}/tokens":                                               {connectors.PermRead, ""},
	"POST /api/v1/agents/{id}/tokens":                                              {connectors.PermManage, `{"name": "A"}`},
	"DELETE /api/v1/agents/{id}/tokens/{token_id}":                                 {connectors.PermManage, ""},
	"GET /api/v1/agents/{id}/connectors":                                           {connectors.PermRead, ""},
	"PUT /api/v1/agents/{id}/connectors/{connector}":                               {connectors.PermManage, `{"tools": "all"}`},
	"DELETE /api/v1/agents/{id}/connectors/{connector}":                            {connectors.PermManage, ""},
	"PUT /api/v1/agents/{id}/connectors/{connector}/tools/{tool}/shaping":          {connectors.PermManage, `{"budget": 1000}`},
	"DELETE /api/v1/agents/{id}/connectors/{connector}/tools/{tool}/shaping":       {connectors.PermManage, ""},
	"POST /api/v1/agents/{id}/connectors/{connector}/tools/{tool}/shaping/preview": {connectors.PermRead, `{"budget": 1000}`},
	"GET /api/v1/agents/{id}/allowances":                                           {connectors.PermRead, ""},
	"GET /api/v1/agents/{id}/mcp_config":                                           {connectors.PermRead, ""},
	"GET /api/v1/agents/{id}/tool_calls":                                           {connectors.PermRead, ""},
	"POST /api/v1/agents/{id}/tool_calls":                                          {connectors.PermOperate, `{"tool": "mcp_none__none"}`},
	"POST /api/v1/agents/{id}/tool_calls/batch":                                    {connectors.PermOperate, `{"calls": [{"tool": "mcp_none__none"}]}`},
	"GET /api/v1/tool_calls":                                                       {connectors.PermRead, ""},
	"GET /api/v1/tool_calls/{id}":                                                  {connectors.PermRead, ""},
	"POST /api/v1/tool_calls/{id}/approve":                                         {connectors.PermOperate, ""},
	"POST /api/v1/tool_calls/{id}/deny":                                            {connectors.PermOperate, ""},
	"POST /api/v1/tool_calls/{id}/cancel":                                          {connectors.PermOperate, ""},
	"GET /api/v1/catalog":                                                          {connectors.PermRead, ""},
	"POST /api/v1/catalog/{slug}/add":                                              {connectors.PermManage, ""},
	"GET /api/v1/approvals":                                                        {connectors.PermRead, ""},
	"GET /api/v1/api_keys":                                                         {connectors.PermOwn, ""},
	"POST /api/v1/api_keys":                                                        {connectors.PermOwn, `{"name": "A", "role": "viewer"}`},
	"DELETE /api/v1/api_keys/{id}":                                                 {connectors.PermOwn, ""},
	"GET /api/v1/members":                                                          {connectors.PermOwn, ""},
	"POST /api/v1/members":                                                         {connectors.PermOwn, `{"email": "a@example.com", "role": "viewer", "password": "long enough"}`},
	"GET /api/v1/members/{id}":                                                     {connectors.PermOwn, ""},
	"PATCH /api/v1/members/{id}":                                                   {connectors.PermOwn, `{"role": "member"}`},
	"DELETE /api/v1/members/{id}":                                                  {connectors.PermOwn, ""},
	"POST /api/v1/members/{id}/sign_out":                                           {connectors.PermOwn, ""},
	"DELETE /api/v1/members/{id}/second_factor":                                    {connectors.PermOwn, ""},
	"GET /api/v1/sso":                                                              {connectors.PermOwn, ""},
	"PATCH /api/v1/sso":                                                            {connectors.PermOwn, `{"issuer": "http://127.0.0.1:1", "client_id": "a", "client_secret": "b"}`},
	"DELETE /api/v1/sso":                                                           {connectors.PermOwn, ""},
	"POST /api/v1/sso/check":                                                       {connectors.PermOwn, ""},
	"POST /api/v1/sso/domains":                                                     {connectors.PermOwn, `{"domain": "acme.example"}`},
	"POST /api/v1/sso/domains/verify":                                              {connectors.PermOwn, `{"domain": "nowhere.example"}`},
	"POST /api/v1/sso/domains/release":                                             {connectors.PermOwn, `{"domain": "nowhere.example"}`},
	"GET /api/v1/access_requests":                                                  {connectors.PermRead, ""},
	"POST /api/v1/access_requests":                                                 {connectors.PermOperate, `{"agent": "nothing", "connector": "nothing", "tools": "all", "reason": "For a report."}`},
	"GET /api/v1/access_requests/{id}":                                             {connectors.PermRead, ""},
	"POST /api/v1/access_requests/{id}/accept":                                     {connectors.PermManage, ""},
	"POST /api/v1/access_requests/{id}/refuse":                                     {connectors.PermManage, ""},
	"POST /api/v1/access_requests/{id}/withdraw":                                   {connectors.PermOperate, ""},
	"GET /api/v1/invitations":                                                      {connectors.PermOwn, ""},
	"POST /api/v1/invitations":                                                     {connectors.PermOwn, `{"email": "b@example.com", "role": "viewer"}`},
	"POST /api/v1/invitations/{id}/send":                                           {connectors.PermOwn, ""},
	"DELETE /api/v1/invitations/{id}":                                              {connectors.PermOwn, ""},
	"GET /api/v1/tenant":                                                           {connectors.PermOwn, ""},
	"PATCH /api/v1/tenant":                                                         {connectors.PermOwn, `{"name": "Acme"}`},
	"GET /api/v1/tenant/sealing_keys":                                              {connectors.PermOwn, ""},
	"GET /api/v1/installation":                                                     {connectors.PermOwn, ""},

	"GET /api/v1/audit_events":                                   {connectors.PermAudit, ""},
	"GET /api/v1/audit_events/verify":                            {connectors.PermAudit, ""},
	"GET /api/v1/audit_events/key":                               {connectors.PermRead, ""},
	"GET /api/v1/notices":                                        {connectors.PermRead, ""},
	"POST /api/v1/notices/read":                                  {connectors.PermRead, ""},
	"GET /api/v1/agents/{id}/workloads":                          {connectors.PermRead, ""},
	"POST /api/v1/agents/{id}/workloads":                         {connectors.PermManage, `{"name": "A", "issuer": "https://issuer.example.com", "subject": "a"}`},
	"DELETE /api/v1/agents/{id}/workloads/{workload}":            {connectors.PermManage, ""},
	"GET /api/v1/scim":                                           {connectors.PermOwn, ""},
	"POST /api/v1/scim":                                          {connectors.PermOwn, ""},
	"POST /api/v1/scim/rotate_token":                             {connectors.PermOwn, ""},
	"DELETE /api/v1/scim":                                        {connectors.PermOwn, ""},
	"GET /api/v1/audit_streams":                                  {connectors.PermManage, ""},
	"POST /api/v1/audit_streams":                                 {connectors.PermManage, `{"name": "A", "kind": "https", "url": "https://siem.example.com/a?token=x", "secret": "Bearer x"}`},
	"GET /api/v1/audit_streams/{id}":                             {connectors.PermManage, ""},
	"PATCH /api/v1/audit_streams/{id}":                           {connectors.PermManage, `{"name": "B"}`},
	"DELETE /api/v1/audit_streams/{id}":                          {connectors.PermManage, ""},
	"POST /api/v1/audit_streams/{id}/test":                       {connectors.PermManage, ""},
	"GET /api/v1/registries":                                     {connectors.PermManage, ""},
	"POST /api/v1/registries":                                    {connectors.PermManage, `{"name": "A", "all_connectors": true}`},
	"GET /api/v1/registries/{id}":                                {connectors.PermManage, ""},
	"PATCH /api/v1/registries/{id}":                              {connectors.PermManage, `{"name": "B"}`},
	"DELETE /api/v1/registries/{id}":                             {connectors.PermManage, ""},
	"POST /api/v1/registries/{id}/rotate_address":                {connectors.PermManage, ""},
	"GET /api/v1/webhooks":                                       {connectors.PermManage, ""},
	"POST /api/v1/webhooks":                                      {connectors.PermManage, `{"name": "A", "url": "https://hooks.example.com/"}`},
	"GET /api/v1/webhooks/{id}":                                  {connectors.PermManage, ""},
	"PATCH /api/v1/webhooks/{id}":                                {connectors.PermManage, `{"name": "B"}`},
	"DELETE /api/v1/webhooks/{id}":                               {connectors.PermManage, ""},
	"POST /api/v1/webhooks/{id}/test":                            {connectors.PermManage, ""},
	"POST /api/v1/webhooks/{id}/rotate_secret":                   {connectors.PermManage, ""},
	"GET /api/v1/webhooks/{id}/deliveries":                       {connectors.PermManage, ""},
	"POST /api/v1/webhooks/{id}/deliveries/{delivery}/redeliver": {connectors.PermManage, ""},
}

// eachRoute runs a test for every route, with the ids of target in its path.
func eachRoute(t *testing.T, target targets, test func(t *testing.T, method, path, body string, needs connectors.Permission)) {
	t.Helper()
	for _, route := range slices.Sorted(maps.Keys(routes)) {
		method, pattern, _ := strings.Cut(route, " ")
		if !strings.Contains(pattern, target.only) {
			continue
		}
		t.Run(route, func(t *testing.T) {
			test(t, method, target.fillPattern(pattern), routes[route].body, routes[route].needs)
		})
	}
}

// targets are the ids of one tenant's things.
type targets struct {
	connector, agent, run, queued, key, member, call, token, webhook, delivery, invitation, registry, workload string

	exposed string // the agent's name of the connector's tool
	request string // for access
	offer   string // an entry of the catalog, which all tenants share

	client, acting string // programs that act as the agent, and as the member

	httpAPI string // a connector to an HTTP API

	stream string // of the audit log

	only string // routes with this in their pattern; empty: all
}

// targetsNamed uses one id for all things.
func targetsNamed(id string) targets {
	return targets{connector: id, agent: id, run: id, queued: id, key: id, member: id, call: id, token: id, client: id, acting: id, webhook: id, delivery: id, invitation: id, registry: id, stream: id, request: id, workload: id, httpAPI: id, exposed: "mcp_x__y", offer: "nothing", only: "{"}
}

func (x targets) fillPattern(pattern string) string {
	id, tool, client := x.connector, x.exposed, x.client
	switch {
	case strings.HasPrefix(pattern, "/api/v1/connectors/{id}/operations"), strings.HasPrefix(pattern, "/api/v1/connectors/{id}/document"),
		pattern == "/api/v1/connectors/{id}/sign_in_methods":
		id = x.httpAPI
	case strings.HasPrefix(pattern, "/api/v1/connectors/{id}/endpoints"):
		id, tool = x.httpAPI, "ping"
	case strings.HasPrefix(pattern, "/api/v1/connectors"):
		tool = "search"
	case strings.HasPrefix(pattern, "/api/v1/agents"):
		id = x.agent
	case strings.HasPrefix(pattern, "/api/v1/sync_runs") && strings.HasSuffix(pattern, "/cancel"):
		id = x.queued
	case strings.HasPrefix(pattern, "/api/v1/sync_runs"):
		id = x.run
	case strings.HasPrefix(pattern, "/api/v1/api_keys"):
		id = x.key
	case strings.HasPrefix(pattern, "/api/v1/tool_calls"):
		id = x.call
	case strings.HasPrefix(pattern, "/api/v1/members"):
		id, client = x.member, x.acting
	case strings.HasPrefix(pattern, "/api/v1/access_requests"):
		id = x.request
	case strings.HasPrefix(pattern, "/api/v1/invitations"):
		id = x.invitation
	case strings.HasPrefix(pattern, "/api/v1/registries"):
		id = x.registry
	case strings.HasPrefix(pattern, "/api/v1/audit_streams"):
		id = x.stream
	case strings.HasPrefix(pattern, "/api/v1/webhooks"):
		id = x.webhook
	}
	return strings.NewReplacer("{id}", id, "{agent}", x.agent, "{connector}", x.connector, "{token_id}", x.token, "{client_id}", client, "{workload}", x.workload, "{delivery}", x.delivery, "{name}", tool, "{tool}", "search", "{slug}", x.offer, "{uri}", url.PathEscape(fixture.SkillURI)).Replace(pattern)
}

func (w *world) createTargets(t *testing.T, tenant connectors.TenantID) targets {
	t.Helper()
	w.enableSCIM(t, tenant)
	c := w.ConnectorIn(t, tenant, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer }, withURL("http://127.0.0.1:1/"))
	a := w.AgentIn(t, tenant)
	w.GrantIn(t, tenant, a.ID, c.ID)
	w.AllowanceIn(t, tenant, a.ID, c.ID, "search")
	_, token := w.TokenIn(t, tenant, a.ID)
	hook, delivery := w.createWebhook(t, tenant)
	call := w.createPendingCall(t, tenant, a, c)
	w.createApproval(t, tenant, a, c, call)
	member := w.MemberIn(t, tenant, connectors.RoleViewer).UserID
	run := w.SyncedIn(t, tenant, c.ID, "search")
	w.SkillIn(t, tenant, c.ID, true)
	queued, err := w.St.Tenant(tenant).Syncs().Queue(t.Context(), store.NewRun{ConnectorID: c.ID, Trigger: connectors.TriggerAPI})
	if err != nil {
		t.Fatal(err)
	}
	return targets{
		webhook: hook.ID.String(), delivery: delivery.ID.String(),
		token:     token.ID.String(),
		client:    w.ProgramIn(t, tenant, a.ID, w.MemberIn(t, tenant, connectors.RoleMember).UserID).String(),
		connector: c.ID.String(),
		agent:     a.ID.String(),
		call:      call.String(),
		run:       run.ID.String(),
		queued:    queued.ID.String(),
		key:       w.APIKeyIn(t, tenant, connectors.RoleViewer).ID.String(),
		member:    member.String(),
		acting:    w.ProgramAsIn(t, tenant, member, connectors.ScopeAdmin).String(),

		invitation: w.createInvitation(t, tenant).String(),
		stream:     w.createAuditStream(t, tenant).String(),
		registry:   w.createRegistry(t, tenant, a.Slug).String(),
		request:    w.createAccessRequest(t, tenant, a, c).String(),
		workload:   w.createWorkload(t, tenant, a.ID).String(),
		httpAPI:    w.createHTTPAPI(t, tenant).ID.String(),

		exposed: connectors.ExposedName(c.Slug, "search"), offer: "linear",
	}
}

func TestUnknownAddressesAndMethodsAreProblems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer := w.createKey(t, connectors.RoleViewer)
	for _, path := range []string{"/api", "/api/", "/api/v1", "/api/v2/connectors", "/api/v1/nothing", "/api/v1/connectors/a/b/c"} {
		w.call(t, viewer, http.MethodGet, path, nil).problem(http.StatusNotFound, "not-found")
		w.call(t, "", http.MethodGet, path, nil).problem(http.StatusUnauthorized, "unauthenticated")
	}
	for method, allow := range map[string][]string{
		http.MethodPut: {"GET", "POST"}, http.MethodOptions: {"GET", "POST"}, http.MethodTrace: {"GET", "POST"},
	} {
		got := w.call(t, viewer, method, "/api/v1/connectors", nil)
		got.problem(http.StatusMethodNotAllowed, "method-not-allowed")
		if diff := cmp.Diff(allow, got.header.Values("Allow")); diff != "" {
			t.Error(diff)
		}
	}
}

func TestHeadIsGetWithoutItsBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := httptest.NewServer(w.handler)
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, server.URL+"/api/v1/connectors", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.createKey(t, connectors.RoleViewer))
	res, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %v", res.Status, res.Header)
	}
}

func (w *world) revokeKey(t *testing.T, key string) {
	t.Helper()
	owner := w.createKey(t, connectors.RoleOwner)
	for _, item := range w.call(t, owner, http.MethodGet, "/api/v1/api_keys", nil).want(http.StatusOK)["items"].([]any) {
		k := item.(map[string]any)
		if strings.HasPrefix(key, k["prefix"].(string)) {
			got := w.call(t, owner, http.MethodDelete, "/api/v1/api_keys/"+k["id"].(string), nil)
			if got.status != http.StatusNoContent {
				t.Fatalf("%d %s", got.status, got.body)
			}
		}
	}
}

// noHash is of no definition.
const (
	noHash      = "00000000000000000000000000000000000000000000000000000000000000ff"
	restoreBody = `{"hash": "` + noHash + `"}`
)
