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
	"POST /usage/reset":                                        {Reason: "nothing is deleted, and it is on record"},
	"POST /members/{id}/programs/{program}/revoke":             {Reason: "it closes, and should be done fast"},
	"POST /account/password":                                   {Confirms: true, Act: "change your password", Reason: "it shuts the others out"},
	"POST /account/second-factor":                              {Confirms: true, Act: "set up a second factor", Reason: "whoever finds the browser open could shut its person out"},
	"POST /account/second-factor/codes":                        {Confirms: true, Act: "create recovery codes", Reason: "the codes open the account"},
	"POST /account/second-factor/remove":                       {Confirms: true, Act: "remove your second factor", Reason: "the password alone opens afterwards"},
	"POST /account/second-factor/confirm":                      {Reason: "its key was made by whoever confirmed, and its code is asked for"},
	"POST /account/mail":                                       {Reason: "a choice of one's own, and only of what one may read"},
	"POST /account/sessions/{id}/revoke":                       {Reason: "it closes, and should be done fast"},
	"POST /account/programs/{id}/revoke":                       {Reason: "it closes, and should be done fast"},
	"POST /account/connections/{agent}/{connector}/connect":    {Confirms: true, Act: "connect your account", Reason: "another account takes the place of one's own, and the authorization server asks whoever is there"},
	"POST /account/connections/{agent}/{connector}/credential": {Confirms: true, Act: "save your credential", Reason: "it replaces what opens a server in one's name"},
	"POST /account/connections/{agent}/{connector}/disconnect": {Reason: "it closes, and is one's own"},
	"POST /account/sign-out":                                   {Reason: "it closes, and should be done fast"},
	"POST /logout":                                             {Reason: "it closes"},
	"POST /tenant":                                             {Reason: "it opens nothing that was closed"},
	"POST /confirm":                                            {Reason: "it is what confirms"},
	"POST /confirm/sso":                                        {Reason: "it is what confirms"},

	"POST /login":                {Reason: "nobody is signed in yet"},
	"POST /forgot":               {Reason: "nobody is signed in yet"},
	"POST /reset":                {Reason: "the link is the right to it"},
	"POST /login/code":           {Reason: "nobody is signed in yet"},
	"POST /login/sso":            {Reason: "nobody is signed in yet"},
	"POST /setup":                {Reason: "nobody is signed in yet"},
	"POST /setup/invitation":     {Reason: "the link is the right to it, and the account's password is asked for"},
	"POST /language":             {Reason: "a taste"},
	"POST /connect/{token}":      {Reason: "the link is the right to it, and the authorization server asks"},
	"GET /audit/export.jsonl":    {Confirms: true, Act: "export the audit log", Reason: "everything that was done leaves the house, signed"},
	"GET /audit/export.sig":      {Confirms: true, Act: "export the audit log", Reason: "everything that was done leaves the house, signed"},
	"GET /exports/audit":         {Confirms: true, Act: "export the audit log", Reason: "everything that was done leaves the house"},
	"POST /audit/verify":         {Reason: "it only computes"},
	"POST /settings/sso/test":    {Reason: "it changes nothing, and the provider asks"},
	"POST /settings":             {Confirms: true, Act: "save these settings", Reason: "who needs a second factor, what is kept of calls and who reads it, is said here; a new name alone does not ask"},
	"POST /settings/sso":         {Confirms: true, Act: "save single sign-on", Reason: "it says who signs in, and what they may do"},
	"POST /settings/sso/delete":  {Confirms: true, Act: "remove single sign-on", Reason: "it shuts out who signs in there"},
	"POST /settings/sso/domains": {Reason: "a claim opens nothing"},

	"POST /settings/sso/domains/verify":  {Confirms: true, Act: "verify this domain", Reason: "the domain's people sign in at the provider from then on"},
	"POST /settings/sso/domains/release": {Confirms: true, Act: "release this domain", Reason: "it shuts out who signs in there"},

	"POST /members":                               {Confirms: true, Act: "add this member", Reason: "somebody gets in"},
	"POST /members/{id}/role":                     {Confirms: true, Act: "change this role", Reason: "somebody may do more, or less"},
	"POST /members/{id}/delete":                   {Confirms: true, Act: "remove this member", Reason: "somebody is shut out"},
	"POST /members/{id}/second-factor/remove":     {Confirms: true, Act: "remove this member's second factor", Reason: "a password alone opens afterwards"},
	"POST /members/{id}/sign-out":                 {Reason: "it closes, and should be done fast"},
	"POST /invitations":                           {Confirms: true, Act: "create an invite link", Reason: "somebody gets in, perhaps as an owner"},
	"POST /invitations/{id}/send":                 {Confirms: true, Act: "create a new invite link", Reason: "a new link, which lets somebody in"},
	"POST /invitations/{id}/revoke":               {Reason: "it closes, and should be done fast"},
	"POST /api-keys":                              {Confirms: true, Act: "create an API key", Reason: "a key stays when its maker has gone"},
	"POST /api-keys/{id}/revoke":                  {Reason: "it closes, and should be done fast"},
	"POST /start/agent":                           {Confirms: true, Act: "set up this agent", Reason: "its token stays when its maker has gone"},
	"POST /start/dismiss":                         {Reason: "a mark"},
	"POST /agents/{id}/tokens":                    {Confirms: true, Act: "create a token", Reason: "a token stays when its maker has gone"},
	"POST /oauth/authorize":                       {Reason: "it asks by itself, those who manage agents, and before the question: its answer leads out, which the page that asks may not"},
	"POST /agents/{id}/programs/{program}/revoke": {Reason: "it closes, and should be done fast"},
	"POST /agents/{id}/tokens/{token}/revoke":     {Reason: "it closes, and should be done fast"},

	"POST /connectors/{id}":                                  {Confirms: true, Act: "save this connector", Reason: "it changes credentials, and where they go; a new name alone does not ask"},
	"POST /connectors/{id}/delete":                           {Confirms: true, Act: "delete this connector", Reason: "its credentials are gone for good"},
	"POST /connectors/{id}/credential":                       {Confirms: true, Act: "save this credential", Reason: "it replaces what opens a server"},
	"POST /connectors/{id}/credential/delete":                {Confirms: true, Act: "delete this credential", Reason: "what opens a server is gone for good"},
	"POST /connectors/{id}/agents/{agent}/credential":        {Confirms: true, Act: "save this credential", Reason: "it replaces what opens a server"},
	"POST /connectors/{id}/agents/{agent}/credential/delete": {Confirms: true, Act: "delete this credential", Reason: "what opens a server is gone for good"},
	"POST /connectors/{id}/disconnect":                       {Confirms: true, Act: "disconnect this account", Reason: "what opens a server is gone for good"},
	"POST /connectors/{id}/agents/{agent}/disconnect":        {Confirms: true, Act: "disconnect this account", Reason: "what opens a server is gone for good"},
	"POST /connectors/{id}/connect":                          {Confirms: true, Act: "connect an account", Reason: "another account takes the place of the one that is there, and the authorization server asks whoever is there"},
	"POST /connectors/{id}/agents/{agent}/connect":           {Confirms: true, Act: "connect an account", Reason: "another account takes the place of the one that is there, and the authorization server asks whoever is there"},
	"POST /connectors/{id}/connect-link":                     {Confirms: true, Act: "create a connect link", Reason: "whoever has the link puts an account of theirs in place"},
	"POST /connectors/{id}/agents/{agent}/connect-link":      {Confirms: true, Act: "create a connect link", Reason: "whoever has the link puts an account of theirs in place"},
	"POST /connectors/import":                                {Confirms: true, Act: "import connectors", Reason: "it changes credentials of connectors that are there"},
	"POST /connectors/import/preview":                        {Reason: "it changes nothing"},
	"POST /connectors":                                       {Reason: "it adds one, and nothing that is there changes"},
	"POST /connectors/test":                                  {Reason: "it changes nothing"},
	"POST /connectors/{id}/enabled":                          {Reason: "it can be taken back, and stops what goes wrong"},
	"POST /connectors/{id}/listen":                           {Reason: "it can be taken back"},
	"POST /connectors/{id}/acknowledge_tools":                {Reason: "no tool changes, and the next loss is told again"},
	"POST /connectors/{id}/diagnose":                         {Reason: "it only looks"},
	"POST /connectors/{id}/ping":                             {Reason: "it stores nothing"},
	"POST /connectors/{id}/methods":                          {Reason: "it stores nothing, and only methods that an admin allowed are sent"},
	"POST /connectors/{id}/runs/{run}/cancel":                {Reason: "it closes, and another sync can begin"},
	"POST /connectors/{id}/sync_tools":                       {Reason: "it only reads"},
	"POST /sync_tools":                                       {Reason: "it only reads"},
	"POST /catalog/{slug}/add":                               {Reason: "it adds one, and nothing that is there changes"},
	"POST /catalog/registry":                                 {Reason: "it adds some, and nothing that is there changes"},
	"POST /catalog/registry/preview":                         {Reason: "it changes nothing"},

	"POST /connectors/{id}/tools":                     {Reason: "daily work on tools, which can be taken back and is on record"},
	"POST /connectors/{id}/tools/{tool}/curate":       {Reason: "daily work on tools, which can be taken back and is on record"},
	"POST /connectors/{id}/tools/{tool}/accept":       {Confirms: true, Act: "accept this change", Reason: "agents follow what a risky change says; one without risk does not ask"},
	"POST /connectors/{id}/tools/{tool}/keep":         {Reason: "agents are served what they were"},
	"POST /connectors/{id}/tools/{tool}/restore":      {Reason: "agents are served what they were"},
	"POST /connectors/{id}/instructions/restore":      {Reason: "agents are served what they were"},
	"POST /changes/undo":                              {Reason: "agents are served what they were"},
	"POST /changes/decide":                            {Confirms: true, Act: "accept these changes", Reason: "agents follow what risky changes say; those without risk do not ask"},
	"POST /connectors/{id}/tools/{tool}/reject":       {Reason: "it closes"},
	"POST /connectors/{id}/instructions/accept":       {Confirms: true, Act: "accept this change", Reason: "agents follow what a risky change says; one without risk does not ask"},
	"POST /connectors/{id}/instructions/reject":       {Reason: "it closes"},
	"POST /connectors/{id}/tools/{tool}/try":          {Reason: "daily work, under the agent's own rules; an admin's own call of what may do harm is confirmed by itself, and on record"},
	"POST /changes/accept_cosmetic":                   {Reason: "no model acts on these"},
	"POST /approvals/{id}/approve":                    {Reason: "daily work, within minutes and of one call"},
	"POST /approvals/{id}/deny":                       {Reason: "it closes"},
	"POST /calls/{id}/cancel":                         {Reason: "it closes"},
	"POST /agents":                                    {Reason: "a new one may do nothing yet"},
	"POST /agents/{id}":                               {Reason: "its rules can be taken back and are on record, and a page asks before it never asks; it has no credential here"},
	"POST /agents/{id}/delete":                        {Confirms: true, Act: "delete this agent", Reason: "its credentials are gone for good"},
	"POST /agents/{id}/unused":                        {Reason: "it takes away"},
	"POST /agents/{id}/connectors/{connector}":        {Reason: "daily work, which can be taken back and is on record; a page asks before a broad grant"},
	"POST /agents/{id}/connectors/{connector}/choose": {Reason: "daily work, which can be taken back and is on record"},
	"POST /agents/{id}/connectors/{connector}/remove": {Reason: "it closes"},
	"POST /agents/{id}/access":                        {Reason: "daily work, which can be taken back and is on record; a page asks before broad grants"},
	"POST /connectors/{id}/access":                    {Reason: "daily work, which can be taken back and is on record; a page asks before broad grants"},
	"POST /bulk/connectors":                           {Reason: "daily work, which can be taken back and is on record; a page asks before broad grants"},

	"POST /agents/{id}/connectors/{connector}/allowances/{tool}/end": {Reason: "it closes, and should be done fast"},

	"POST /webhooks":                                      {Reason: "notices hold no secret"},
	"POST /webhooks/{id}":                                 {Reason: "notices hold no secret"},
	"POST /webhooks/{id}/test":                            {Reason: "it sends a trial"},
	"POST /webhooks/{id}/delete":                          {Reason: "notices stay in the dashboard"},
	"POST /webhooks/{id}/rotate":                          {Confirms: true, Act: "rotate this secret", Reason: "the key that signs changes, and the new one is shown"},
	"POST /webhooks/{id}/deliveries/{delivery}/redeliver": {Reason: "the same once more"},
}
