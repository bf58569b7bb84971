package archtest_test

import (
	"strings"
	"testing"
)

// limits are the rows of the table of limits in docs/operations/limits.md, with the tests that show each, in the form of docs/security.md.
var limits = map[string]string{
	"requests of the JSON API":                        "`internal/api` TestRateLimit_KeyGetsRetryAfter, TestATenantsKeysShareItsLimit",
	"requests without a sign-in or a key":             "`internal/middleware` TestUnauthenticatedLimit_PerAddress, TestClientNetwork_IPv6Prefix, TestClientAddress_BehindTrustedProxy, TestUnauthenticatedLimit_PassesKnownCredentials; `cmd/server` TestUnauthenticated_RateLimitedAtEveryRoute",
	"requests of `/mcp/admin` and its tools":          "`internal/mcpadmin` TestRateLimit_HasRetryAfter",
	"single sign-ons that begin":                      "`internal/admin` TestSSOStart_IsRateLimitedByAddress",
	"wrong passwords and codes":                       "`internal/auth` TestSignIn_EleventhFromAddressIsRefused, TestSignIn_ReplicasShareLimit, TestWrongCodesCountAsWrongPasswordsDo",
	"unknown invitation links":                        "`internal/auth` TestInvitation_UnknownTokensAreLimited",
	"passwords that are checked":                      "`internal/auth` TestHasher_BoundsWaiters",
	"unknown agent tokens":                            "`internal/gateway` TestUnknownTokens_AreLimitedPerAddress",
	"refreshes at `/oauth/token`; JWTs":               "`internal/authserver` TestWorkload_ExchangesAreLimited, TestAProgramRenewsItsTokensSoOftenAMinute, TestGuessesTakeNothingOfAProgramsRenewals",
	"gateway requests":                                "`internal/gateway` TestRateLimit_SetsRetryAfter, TestRateLimit_AddressIsSharedByTenant, TestRateLimit_FollowsAgentCallLimit, TestRateLimit_CountsBatchMessages, TestRateLimit_RefusesBatchWhileInDebt",
	"calls":                                           "`internal/toolcall` TestLimit_RefusesTooManyCalls, TestLimit_SpansProcesses",
	"calls of a tool":                                 "`internal/toolcall` TestQuota_DayLimitResetsNextDay, TestQuota_DayLimitSpansProcesses, TestQuota_DayCountSurvivesRestart; `internal/api` TestAToolsQuotaIsAnsweredWith429",
	"calls of all tools":                              "`internal/toolcall` TestQuota_TenantDayLimit; `internal/auth` TestAnOwnersQuotaIsBelowTheOperators",
	"calls in progress":                               "`internal/toolcall` TestCall_InFlightLimitPerAgent",
	"requests that wait for the database":             "`internal/store` TestWaitQueue_RefusesWhenFull",
	"the same with an unseen token":                   "`internal/store` TestWaitQueue_RefusesWhenFull",
	"log messages between calls":                      "`internal/gateway` TestSessionLog_IsBounded",
	"calls that wait for approval":                    "`internal/toolcall` TestApproval_OpenCallsPerAgentAreBounded",
	"calls that wait for an account":                  "`internal/store` TestRequestAccount_RefusesAboveMax",
	"requests with one waiting state":                 "`internal/toolcall` TestAccount_SecondWaiterIsRateLimited",
	"connection tests in progress":                    "`internal/toolsync` TestProbe_LimitsProbesPerTenant",
	"tool searches by meaning":                        "`internal/agentview` TestVectors_QuestionsAreBounded",
	"searches for unused tools":                       "`internal/agentview` TestUnused_GateIsPerTenant",
	"full tool lists of agents":                       "`internal/api` TestResponseGate_BoundsConcurrentResponses",
	"skills served":                                   "`internal/agentview` TestSkills_AgentHasALimit",
	"event streams of pages":                          "`internal/admin` TestAPersonHasTenStreamsAtOnce, TestAProcessHasSoManyStreamsAtOnce",
	"a request's body":                                "`internal/api` TestBodiesHaveAtMostFourMebibytes, TestDocument_UpToSixteenMebibytes; `internal/middleware` TestLimitBody",
	"a request's headers":                             "`cmd/server` TestLongHead_IsRefused",
	"time for a request's head":                       "`cmd/server` TestSlowHead_ClosedAfterTimeout",
	"time without a byte":                             "`cmd/server` TestStalledBody_ClosedAfterTimeout, TestDeadlines_MoveWithReadsAndWrites",
	"idle time":                                       "`cmd/server` TestIdleConnection_ClosedAfterTimeout",
	"connectors; webhooks; registries; audit streams": "`internal/manage` TestCreateConnector_EnforcesLimit; `internal/webhooks` TestCreate_LimitsWebhooksPerTenant; `internal/publicregistry` TestCreate_LimitsRegistriesPerTenant; `internal/auditstreams` TestCreate_LimitsStreamsAndRoles",
	"a file of servers":                               "`internal/clientconfig` TestRead_InvalidDocumentHasLine",
	"SCIM bodies; users; groups; members of a group":  "`internal/scim` TestRequest_RefusesWhatIsTooLargeOrMalformed",
}

func TestEveryLimitOfTheTableIsShown(t *testing.T) {
	t.Parallel()
	_, section, ok := strings.Cut(read(t, "../../docs/operations/limits.md"), "\n## Limits\n")
	section, _, more := strings.Cut(section, "\n## ")
	if !ok || !more {
		t.Fatal("there is no section of limits")
	}
	told := map[string]bool{}
	for line := range strings.SplitSeq(section, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.HasPrefix(line, "|---") || strings.TrimSpace(cells[1]) == "what" {
			continue
		}
		what := strings.TrimSpace(cells[1])
		told[what] = true
		if limits[what] == "" {
			t.Errorf("no test shows the limit of %q: it needs a row here", what)
		}
	}
	if len(told) < 20 {
		t.Errorf("%d rows can be read", len(told))
	}
	for what, shown := range limits {
		if !told[what] {
			t.Errorf("the table does not tell of %q", what)
		}
		for part := range strings.SplitSeq(shown, "; ") {
			pkg := namedPackage.FindStringSubmatch(part)
			tests := namedTest.FindAllString(part, -1)
			if pkg == nil || len(tests) == 0 {
				t.Errorf("%q: %q is no package with its tests", what, part)
				continue
			}
			for _, name := range tests {
				if !hasTest(t, pkg[1], name) {
					t.Errorf("%q: there is no %s in %s", what, name, pkg[1])
				}
			}
		}
	}
}
