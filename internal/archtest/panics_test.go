package archtest_test

import (
	"testing"

	"patchbay/internal/safe"
)

// panicKinds are the kinds of package safe, with the tests that show what a panic of each ends, in the form of docs/security.md.
var panicKinds = map[string]string{
	"handler":    "`admin` TestPage_PanicIsAFailurePageForItsReaderAlone",
	"message":    "`mcp/serve` TestBackendPanic_IsInternalError",
	"connection": "`fasthttp/httpserver` TestConn_PanicOutsideHandlerClosesOneConn",
	"stream":     "`mcp/serve` TestStream_PanicReleasesSlot",
	"call":       "`gateway` TestCall_PanicAffectsOneTenantOnly; `toolcall` TestApprovedCall_PanicMarksItFailed",
	"view":       "`agentview` TestLoad_PanicFailsOnlyItsWaiters",
	"upstream":   "`safehttp` TestDial_PanicIsAnError, TestRequest_PanicIsAnError",
	"program":    "`mcp` TestProgramReader_PanicEndsItsProcessAlone",
	"sync":       "`toolsync` TestScheduledSync_PanicReleasesItsSlot, TestClaim_PanicReleasesItsSlots",
	"job":        "`jobs` TestJob_PanicIsRetriedAndAffectsNoOther",
	"loop":       "`jobs` TestClock_RestartsAfterAPanic; `postgres` TestSupervisor_PanicStartsItAgain",
	"timer":      "`mcp/serve` TestKeepAlive_PanicLeavesItsReply",
	"database":   "`store` TestWatch_PanicConnectsAnew; `db` TestNewConnection_PanicIsAnError",
	"task":       "`telemetry` TestScrape_PanicLeavesOutItsMetricsAlone",
}

// panicPlaces are places with a recovery of their own: what happens there after a panic, and the tests that show it.
var panicPlaces = []struct{ place, after, tests string }{
	{"`/mcp/admin`", "JSON-RPC error -32603", "`mcpadmin` TestTool_PanicIsInternalError"},
	{"`/oauth/*`", "OAuth error, status 500", "`cmd/server` TestOAuthEndpoint_PanicIsOAuthError"},
	{"OAuth callback", "failure page", "`admin` TestOAuthCallback_PanicIsAFailurePage"},
	{"`/events`", "stream ends, slot returns", "`admin` TestEvents_PanicEndsThatStreamAlone"},
	{"stream of a server", "opened again", "`mcp` TestServerStream_PanicOpensItAnew"},
	{"reader of HTTP+SSE", "session opened again", "`mcp` TestSSEReader_PanicEndsItsSessionAlone"},
	{"stream of HTTP+SSE", "closed at once", "`mcp` TestSSEReader_PanicClosesItsStream"},
	{"list changes: loop", "restarted, streams stay", "`listchanges` TestLoop_PanicKeepsStreams"},
	{"list changes: stream", "opened again", "`listchanges` TestStream_PanicReopensIt"},
	{"list changes: sync", "queued again", "`listchanges` TestListChanged_PanicQueuesTheSyncAgain"},
	{"probe of the database", "repeated", "`store` TestWaitQueue_PanicOfProbeReleasesItsRequests"},
	{"request after an outage", "next one released", "`store` TestWaitQueue_PanicOfRequestReleasesTheNext"},
	{"refresh of views", "repeated", "`agentview` TestListen_PanicDelaysTheChange"},
	{"uses of tokens", "one use lost", "`agentview` TestTokenUses_PanicLosesOneUse"},
	{"learned words", "one batch lost", "`agentview` TestLearning_PanicLosesItsBatch"},
	{"embeddings of tools", "restarted, one view waits", "`agentview` TestVectors_PanicLosesAView"},
	{"history of calls", "its calls logged as lost", "`calllog` TestWriter_StorePanics"},
	{"journals", "read again", "`calllog` TestRunRecovery_PanicLosesNoCalls"},
	{"counts of quotas", "added later", "`toolcall` TestQuotaCount_PanicLosesNoCalls"},
	{"progress of calls", "saved later", "`toolcall` TestProgress_PanicKeepsIt"},
	{"lost jobs", "loop restarted", "`jobs` TestJobRescuer_RestartsAfterAPanic"},
	{"returning jobs", "announced after a restart", "`jobs` TestSnoozeNotifier_RestartsAfterAPanic"},
	{"metrics, periodic jobs", "wrapped", "`archtest` TestGoroutinesThatDoNotRecoverAreRefused"},
	{"mutexes", "unlocked", "`archtest` TestMutexes_CallsUnderUndeferredLocksAreRefused"},
}

func TestEveryKindOfPanicHasATest(t *testing.T) {
	t.Parallel()
	for _, kind := range safe.Kinds() {
		wantTests(t, kind.String(), panicKinds[kind.String()])
	}
	if len(panicKinds) != len(safe.Kinds()) {
		t.Errorf("%d kinds have tests, there are %d", len(panicKinds), len(safe.Kinds()))
	}
}

func TestEveryPlaceOfAPanicHasATest(t *testing.T) {
	t.Parallel()
	for _, p := range panicPlaces {
		if p.place == "" || p.after == "" {
			t.Errorf("%v is incomplete", p)
		}
		wantTests(t, p.place, p.tests)
	}
}
