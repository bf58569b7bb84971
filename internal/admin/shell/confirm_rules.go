package shell

import (
	"context"
	"net/url"
	"strconv"

	"patchbay/internal/i18n"
)

// ConfirmRule says whether an action asks the person to confirm their identity, and why or why not.
type ConfirmRule struct {
	Confirms bool
	Act      i18n.Key // what the person confirms, after "to": "delete this agent"
	Reason   string
}

// actText words the action. A form that says how many things it is about has their count.
func (rule ConfirmRule) actText(ctx context.Context, form url.Values) string {
	if n, err := strconv.Atoi(form.Get("count")); err == nil && n > 0 && rule.Act == "import connectors" {
		return i18n.N(ctx, n, "import %s connector", "import %s connectors")
	}
	if rule.Act == "" {
		return i18n.T(ctx, "continue")
	}
	return i18n.T(ctx, rule.Act)
}

// ConfirmRules has a row for every route that changes something, and for routes that hand out sensitive data. A
// route without a row asks for confirmation, and fails a test.
var ConfirmRules = map[string]ConfirmRule{
	"POST /usage/reset":                                            {Reason: "nothing is deleted, and it is audited"},
	"POST /members/{id}/programs/{program}/revoke":                 {Reason: "it only removes access, and must be quick"},
	"POST /account/password":                                       {Confirms: true, Act: "change your password", Reason: "it ends the person's other sessions"},
	"POST /account/second-factor":                                  {Confirms: true, Act: "set up a second factor", Reason: "a stranger at an open browser could lock its owner out"},
	"POST /account/second-factor/codes":                            {Confirms: true, Act: "create recovery codes", Reason: "the codes grant access to the account"},
	"POST /account/second-factor/remove":                           {Confirms: true, Act: "remove your second factor", Reason: "the password alone is enough afterwards"},
	"POST /account/second-factor/confirm":                          {Reason: "creating the key was confirmed, and its code is required"},
	"POST /account/mail":                                           {Reason: "a personal preference about events that the person may read"},
	"POST /account/sessions/{id}/revoke":                           {Reason: "it only removes access, and must be quick"},
	"POST /account/programs/{id}/revoke":                           {Reason: "it only removes access, and must be quick"},
	"POST /account/connections/{agent}/{connector}/connect":        {Confirms: true, Act: "connect your account", Reason: "it replaces the person's account, and the authorization server asks only the person at the browser"},
	"POST /account/connections/{agent}/{connector}/credential":     {Confirms: true, Act: "save your credential", Reason: "it replaces a personal credential"},
	"POST /account/connections/{agent}/{connector}/account/rename": {Reason: "the grant that uses the account follows"},
	"POST /account/connections/{agent}/{connector}/disconnect":     {Reason: "it only removes the person's own access"},
	"POST /account/sign-out":                                       {Reason: "it only removes access, and must be quick"},
	"POST /logout":                                                 {Reason: "it only removes access"},
	"POST /tenant":                                                 {Reason: "it grants nothing new"},
	"POST /confirm":                                                {Reason: "it is the confirmation"},
	"POST /confirm/sso":                                            {Reason: "it is the confirmation"},

	"POST /login":                 {Reason: "there is no session yet"},
	"POST /forgot":                {Reason: "there is no session yet"},
	"POST /reset":                 {Reason: "the link authorizes it"},
	"POST /login/code":            {Reason: "there is no session yet"},
	"POST /login/sso":             {Reason: "there is no session yet"},
	"POST /setup":                 {Reason: "there is no session yet"},
	"POST /setup/invitation":      {Reason: "the link authorizes it, and the account's password is required"},
	"POST /language":              {Reason: "a display preference"},
	"POST /connect/{token}":       {Reason: "the link authorizes it, and the authorization server asks"},
	"GET /audit/export.jsonl":     {Confirms: true, Act: "export the audit log", Reason: "it hands out the signed audit log"},
	"GET /audit/export.sig":       {Confirms: true, Act: "export the audit log", Reason: "it hands out the signed audit log"},
	"GET /exports/audit":          {Confirms: true, Act: "export the audit log", Reason: "it hands out the audit log"},
	"POST /audit/verify":          {Reason: "it only verifies"},
	"POST /settings/sso/test":     {Reason: "it changes nothing, and the provider asks"},
	"POST /settings":              {Confirms: true, Act: "save these settings", Reason: "it sets the second-factor rule, and the retention and readers of calls; a new name alone does not ask"},
	"POST /settings/scim":         {Confirms: true, Act: "turn on SCIM", Reason: "its token changes members, and outlives its creator's access"},
	"POST /settings/scim/rotate":  {Confirms: true, Act: "replace this token", Reason: "the provider loses the old token, and the new one is shown"},
	"POST /settings/scim/disable": {Confirms: true, Act: "turn off SCIM", Reason: "people that the provider removes stay members"},
	"POST /settings/sso":          {Confirms: true, Act: "save single sign-on", Reason: "it sets who can sign in, and their roles"},
	"POST /settings/sso/delete":   {Confirms: true, Act: "remove single sign-on", Reason: "people who sign in there lose access"},
	"POST /settings/sso/domains":  {Reason: "an unverified claim grants nothing"},

	"POST /settings/sso/domains/verify":  {Confirms: true, Act: "verify this domain", Reason: "people of the domain sign in at the provider afterwards"},
	"POST /settings/sso/domains/release": {Confirms: true, Act: "release this domain", Reason: "people who sign in there lose access"},

	"POST /members":                                 {Confirms: true, Act: "add this member", Reason: "a new member gets access"},
	"POST /members/{id}/role":                       {Confirms: true, Act: "change this role", Reason: "it changes a member's permissions"},
	"POST /members/{id}/delete":                     {Confirms: true, Act: "remove this member", Reason: "a member loses access"},
	"POST /members/{id}/second-factor/remove":       {Confirms: true, Act: "remove this member's second factor", Reason: "the password alone is enough afterwards"},
	"POST /members/{id}/sign-out":                   {Reason: "it only removes access, and must be quick"},
	"POST /invitations":                             {Confirms: true, Act: "create an invite link", Reason: "a new member gets access, perhaps as an owner"},
	"POST /invitations/{id}/send":                   {Confirms: true, Act: "create a new invite link", Reason: "the new link grants access"},
	"POST /invitations/{id}/revoke":                 {Reason: "it only removes access, and must be quick"},
	"POST /api-keys":                                {Confirms: true, Act: "create an API key", Reason: "a key outlives its creator's membership"},
	"POST /api-keys/{id}/revoke":                    {Reason: "it only removes access, and must be quick"},
	"POST /start/agent":                             {Confirms: true, Act: "set up this agent", Reason: "the token outlives its creator's membership"},
	"POST /start/dismiss":                           {Reason: "it only hides a checklist"},
	"POST /agents/{id}/tokens":                      {Confirms: true, Act: "create a token", Reason: "a token outlives its creator's membership"},
	"POST /oauth/authorize":                         {Reason: "it asks admins itself, before the consent page, because its redirect leaves this site and the confirmation's may not"},
	"POST /agents/{id}/programs/{program}/revoke":   {Reason: "it only removes access, and must be quick"},
	"POST /agents/{id}/workloads":                   {Confirms: true, Act: "add a workload", Reason: "a workload's access outlives its creator's membership"},
	"POST /agents/{id}/workloads/{workload}/remove": {Reason: "it only removes access, and must be quick"},
	"POST /agents/{id}/tokens/{token}/revoke":       {Reason: "it only removes access, and must be quick"},

	"POST /connectors/{id}":                                  {Confirms: true, Act: "save this connector", Reason: "it changes credentials and the server that gets them; a new name alone does not ask"},
	"POST /connectors/{id}/delete":                           {Confirms: true, Act: "delete this connector", Reason: "its credentials can't be restored"},
	"POST /connectors/{id}/credential":                       {Confirms: true, Act: "save this credential", Reason: "it replaces a credential"},
	"POST /connectors/{id}/credential/delete":                {Confirms: true, Act: "delete this credential", Reason: "the credential can't be restored"},
	"POST /connectors/{id}/agents/{agent}/credential":        {Confirms: true, Act: "save this credential", Reason: "it replaces a credential"},
	"POST /connectors/{id}/agents/{agent}/credential/delete": {Confirms: true, Act: "delete this credential", Reason: "the credential can't be restored"},
	"POST /connectors/{id}/disconnect":                       {Confirms: true, Act: "disconnect this account", Reason: "the credential can't be restored"},
	"POST /connectors/{id}/agents/{agent}/disconnect":        {Confirms: true, Act: "disconnect this account", Reason: "the credential can't be restored"},
	"POST /connectors/{id}/account/rename":                   {Reason: "the grants that use the account follow"},
	"POST /connectors/{id}/agents/{agent}/account/rename":    {Reason: "the grants that use the account follow"},
	"POST /connectors/{id}/account/syncs":                    {Reason: "reversible, and changed tools are reviewed"},
	"POST /connectors/{id}/agents/{agent}/account/syncs":     {Reason: "reversible, and changed tools are reviewed"},
	"POST /connectors/{id}/connect":                          {Confirms: true, Act: "connect an account", Reason: "it replaces the connected account, and the authorization server asks only the person at the browser"},
	"POST /connectors/{id}/agents/{agent}/connect":           {Confirms: true, Act: "connect an account", Reason: "it replaces the connected account, and the authorization server asks only the person at the browser"},
	"POST /connectors/{id}/connect-link":                     {Confirms: true, Act: "create a connect link", Reason: "the link lets its holder connect an account"},
	"POST /connectors/{id}/agents/{agent}/connect-link":      {Confirms: true, Act: "create a connect link", Reason: "the link lets its holder connect an account"},
	"POST /connectors/import":                                {Confirms: true, Act: "import connectors", Reason: "it can change credentials of existing connectors"},
	"POST /connectors/import/preview":                        {Reason: "it changes nothing"},
	"POST /connectors":                                       {Reason: "it adds a connector and changes none"},
	"POST /connectors/test":                                  {Reason: "it changes nothing"},
	"POST /connectors/{id}/enabled":                          {Reason: "reversible, and stops a failing connector"},
	"POST /connectors/{id}/listen":                           {Reason: "reversible"},
	"POST /connectors/{id}/acknowledge_tools":                {Reason: "no tool changes, and the next loss is reported again"},
	"POST /connectors/{id}/diagnose":                         {Reason: "it only reads"},
	"POST /connectors/{id}/ping":                             {Reason: "it stores nothing"},
	"POST /connectors/{id}/methods":                          {Reason: "it stores nothing, and sends only methods that an admin allowed"},
	"POST /connectors/{id}/runs/{run}/cancel":                {Reason: "it only stops a sync, which can be started again"},
	"POST /connectors/{id}/sync_tools":                       {Reason: "it only reads"},
	"POST /sync_tools":                                       {Reason: "it only reads"},
	"POST /catalog/{slug}/add":                               {Reason: "it adds a connector and changes none"},
	"POST /catalog/registry":                                 {Reason: "it adds connectors and changes none"},
	"POST /catalog/registry/preview":                         {Reason: "it changes nothing"},

	"POST /connectors/{id}/tools":                     {Reason: "routine, reversible and audited"},
	"POST /connectors/{id}/operations":                {Reason: "routine, reversible and audited"},
	"POST /connectors/{id}/operations/select":         {Reason: "it stores nothing"},
	"POST /connectors/{id}/endpoint":                  {Reason: "routine, reversible and audited"},
	"POST /connectors/{id}/tools/{tool}/answer":       {Reason: "routine, reversible and audited"},
	"POST /agents/{id}/tools/{exposed}/shaping":       {Reason: "reversible and audited, and the agent can read what is left out"},
	"POST /connectors/{id}/tools/{tool}/curate":       {Reason: "routine, reversible and audited"},
	"POST /connectors/{id}/tools/{tool}/accept":       {Confirms: true, Act: "accept this change", Reason: "a risky change reaches agents; one without risk does not ask"},
	"POST /connectors/{id}/tools/{tool}/withdraw":     {Reason: "it only removes access, and must be quick"},
	"POST /connectors/{id}/tools/{tool}/keep":         {Reason: "agents keep the definition that they have"},
	"POST /connectors/{id}/tools/{tool}/restore":      {Reason: "agents keep the definition that they have"},
	"POST /connectors/{id}/instructions/restore":      {Reason: "agents keep the definition that they have"},
	"POST /changes/undo":                              {Reason: "agents keep the definition that they have"},
	"POST /changes/decide":                            {Confirms: true, Act: "accept these changes", Reason: "risky changes reach agents; those without risk do not ask"},
	"POST /connectors/{id}/tools/{tool}/reject":       {Reason: "it only removes access"},
	"POST /connectors/{id}/instructions/accept":       {Confirms: true, Act: "accept this change", Reason: "a risky change reaches agents; one without risk does not ask"},
	"POST /connectors/{id}/instructions/reject":       {Reason: "it only removes access"},
	"POST /connectors/{id}/tools/{tool}/try":          {Reason: "routine, under the agent's own rules; an admin's own destructive call asks by itself and is audited"},
	"POST /changes/accept_cosmetic":                   {Reason: "models do not act on cosmetic changes"},
	"POST /approvals/{id}/approve":                    {Reason: "routine, and concerns one call"},
	"POST /approvals/{id}/deny":                       {Reason: "it only removes access"},
	"POST /calls/{id}/cancel":                         {Reason: "it only removes access"},
	"POST /agents":                                    {Reason: "a new agent has no access yet"},
	"POST /agents/{id}":                               {Reason: "reversible and audited; a page asks before approval is turned off, and no credential is changed"},
	"POST /agents/{id}/delete":                        {Confirms: true, Act: "delete this agent", Reason: "its credentials can't be restored"},
	"POST /agents/{id}/unused":                        {Reason: "it only removes access"},
	"POST /agents/{id}/pins":                          {Reason: "it changes a list, and no access"},
	"POST /agents/{id}/connectors/{connector}":        {Reason: "routine, reversible and audited; a page asks before a broad grant"},
	"POST /agents/{id}/connectors/{connector}/choose": {Reason: "routine, reversible and audited"},
	"POST /agents/{id}/connectors/{connector}/remove": {Reason: "it only removes access"},
	"POST /agents/{id}/access":                        {Reason: "routine, reversible and audited; a page asks before broad grants"},
	"POST /access/request":                            {Reason: "it grants nothing until an admin accepts it"},
	"POST /access/requests/{id}/accept":               {Reason: "routine, reversible and audited; a page asks before a broad grant"},
	"POST /access/requests/{id}/refuse":               {Reason: "it grants nothing"},
	"POST /access/requests/{id}/withdraw":             {Reason: "it grants nothing"},
	"POST /connectors/{id}/access":                    {Reason: "routine, reversible and audited; a page asks before broad grants"},
	"POST /bulk/connectors":                           {Reason: "routine, reversible and audited; a page asks before broad grants"},

	"POST /agents/{id}/connectors/{connector}/allowances/{tool}/end": {Reason: "it only removes access, and must be quick"},

	"POST /registries":             {Confirms: true, Act: "publish this registry", Reason: "its URL outlives its creator's access"},
	"POST /registries/{id}":        {Confirms: true, Act: "change this registry", Reason: "it can show more, and to clients without a token"},
	"POST /registries/{id}/rotate": {Confirms: true, Act: "replace this URL", Reason: "all clients lose the old URL, and the new one is shown"},
	"POST /registries/{id}/delete": {Reason: "it only removes access, and must be quick"},

	"POST /audit/streams":                                 {Confirms: true, Act: "send the audit log to this receiver", Reason: "it sends the audit log elsewhere"},
	"POST /audit/streams/{id}":                            {Confirms: true, Act: "change this audit stream", Reason: "it can send the audit log elsewhere"},
	"POST /audit/streams/{id}/test":                       {Reason: "it sends a test"},
	"POST /audit/streams/{id}/delete":                     {Confirms: true, Act: "delete this audit stream", Reason: "it ends a record of what happens"},
	"POST /webhooks":                                      {Reason: "webhook events have no secrets"},
	"POST /webhooks/{id}":                                 {Reason: "webhook events have no secrets"},
	"POST /webhooks/{id}/test":                            {Reason: "it sends a test"},
	"POST /webhooks/{id}/delete":                          {Reason: "notices stay in the dashboard"},
	"POST /webhooks/{id}/rotate":                          {Confirms: true, Act: "rotate this secret", Reason: "the signing key changes, and the new one is shown"},
	"POST /webhooks/{id}/deliveries/{delivery}/redeliver": {Reason: "it repeats a delivery"},
}
