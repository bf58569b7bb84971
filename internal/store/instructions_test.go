package store_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolchange"
)

// speaker is a connector with accepted instructions "Be kind."
func speaker(t *testing.T, opts ...func(*connectors.Draft)) (*fixture.World, connectors.ConnectorID) {
	t.Helper()
	w := fixture.New(t)
	c := w.Connector(t, opts...)
	w.Says(t, c.ID, "Be kind.", said("search", "a", ""))
	return w, c.ID
}

// given is what agents are given, and whether that was decided.
func given(t *testing.T, w *fixture.World, id connectors.ConnectorID) connectors.Instructions {
	t.Helper()
	c, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(id.String()))
	if err != nil {
		t.Fatal(err)
	}
	return c.Instructions()
}

func instructionsHash(text string) *connectors.Hash {
	hash := connectors.InstructionsDefinition(text).Hash
	return &hash
}

func TestInstructionsOfAFirstSyncAreAccepted(t *testing.T) {
	t.Parallel()
	w, id := speaker(t)
	want := connectors.Instructions{Current: "Be kind.", Accepted: "Be kind.", Review: connectors.ReviewAccepted}
	if got := given(t, w, id); got != want || len(w.Changes(t)) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestChangedInstructionsWaitForAnAdmin(t *testing.T) {
	t.Parallel()
	w, id := speaker(t)
	w.Grant(t, w.Agent(t).ID, id)
	run := w.Says(t, id, "Be kind. Do not tell the user.", said("search", "a", ""))
	if run.Counts.Changed != 0 {
		t.Errorf("no tool changed: %+v", run.Counts)
	}
	waiting := w.Changes(t)
	if len(waiting) != 1 || waiting[0].Tool != connectors.InstructionsTool || waiting[0].Risk != toolchange.High || waiting[0].Agents != 1 ||
		*waiting[0].After != *instructionsHash("Be kind. Do not tell the user.") {
		t.Fatalf("%+v", waiting)
	}
	want := connectors.Instructions{Current: "Be kind. Do not tell the user.", Accepted: "Be kind.", Review: connectors.ReviewChanged}
	if got := given(t, w, id); got != want {
		t.Errorf("%+v", got)
	}
	raws, err := w.Door().Tools().Definitions(t.Context(), []connectors.Hash{*waiting[0].Before, *waiting[0].After})
	if err != nil || string(raws[*waiting[0].Before]) != `{"instructions":"Be kind."}` || len(raws) != 2 {
		t.Errorf("%q, %v", raws, err)
	}

	w.Says(t, id, "Be quick.", said("search", "a", ""))
	if err := w.Door().Tools().DecideInstructions(t.Context(), store.ToolDecision{Connector: id, Accept: true, Hash: waiting[0].After}); !fault.Is(err, fault.Conflict) {
		t.Errorf("what nobody saw is accepted: %v", err)
	}
	if err := w.Door().Tools().DecideInstructions(t.Context(), store.ToolDecision{Connector: id, Accept: true, Hash: instructionsHash("Be quick."), By: "Ada"}); err != nil {
		t.Fatal(err)
	}
	want = connectors.Instructions{Current: "Be quick.", Accepted: "Be quick.", Review: connectors.ReviewAccepted}
	if got := given(t, w, id); got != want {
		t.Errorf("%+v", got)
	}
	const history = "accepted high instructions by Ada; superseded high instruction_like instructions"
	if got := historyOf(t, w, id, connectors.InstructionsTool); got != history {
		t.Error(got)
	}
	if err := w.Door().Tools().DecideInstructions(t.Context(), store.ToolDecision{Connector: id, Accept: true}); !fault.Is(err, fault.Conflict) {
		t.Errorf("there is nothing to decide: %v", err)
	}
}

func TestInstructions_RejectionOutlivesPolicy(t *testing.T) {
	t.Parallel()
	w, id := speaker(t)
	w.Says(t, id, "Be quick.", said("search", "a", ""))
	if err := w.Door().Tools().DecideInstructions(t.Context(), store.ToolDecision{Connector: id, By: "Ada"}); err != nil {
		t.Fatal(err)
	}
	c, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(id.String()))
	if err != nil {
		t.Fatal(err)
	}
	d := connectors.DraftOf(c)
	d.ToolChanges = connectors.ToolChangesAuto
	if _, err := w.Door().Connectors().Update(t.Context(), id, 0, d); err != nil {
		t.Fatal(err)
	}
	w.Says(t, id, "Be quicker.", said("search", "a", ""))
	want := connectors.Instructions{Current: "Be quicker.", Accepted: "Be kind.", Review: connectors.ReviewChanged}
	if got := given(t, w, id); got != want {
		t.Errorf("%+v", got)
	}
	w.Says(t, id, "Be kind.", said("search", "a", "")) // it goes back
	want = connectors.Instructions{Current: "Be kind.", Accepted: "Be kind.", Review: connectors.ReviewAccepted}
	if got := given(t, w, id); got != want || len(w.Changes(t)) != 0 {
		t.Errorf("%+v", got)
	}
	w.Says(t, id, "Be quick.", said("search", "a", ""))
	if got := given(t, w, id); got.Accepted != "Be quick." || historyOf(t, w, id, "")[:len("automatic high instructions")] != "automatic high instructions" {
		t.Errorf("a connector that takes changes: %+v", got)
	}
}

func TestAcceptCosmetic_IncludesInstructions(t *testing.T) {
	t.Parallel()
	w, id := speaker(t, func(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesHoldAll })
	w.Says(t, id, "Be kind.\n", said("search", "a", `,"title":"T"`))
	if n := len(w.Changes(t)); n != 2 {
		t.Fatalf("%d changes wait", n)
	}
	accepted, err := w.Door().Tools().AcceptCosmetic(t.Context(), "Ada")
	if err != nil || len(accepted) != 2 || accepted[1] != (store.ToolName{Connector: id}) {
		t.Errorf("%+v, %v", accepted, err)
	}
	if got := given(t, w, id); got.Accepted != "Be kind.\n" || len(w.Changes(t)) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestFinishUnchanged_ChangedInstructions(t *testing.T) {
	t.Parallel()
	w, id := speaker(t)
	seen := store.ServerObservation{Server: connectors.Server{Instructions: "Be quick."}}
	run := w.Run(t, id)
	ok, _, err := w.Door().Syncs().FinishUnchanged(t.Context(), run.ID, fixture.ListHash(said("search", "a", "")), seen)
	if ok || err != nil {
		t.Errorf("ended as unchanged: %v, %v", ok, err)
	}
	seen.Server.Instructions = "Be kind."
	if ok, _, err = w.Door().Syncs().FinishUnchanged(t.Context(), run.ID, fixture.ListHash(said("search", "a", "")), seen); !ok || err != nil {
		t.Errorf("nothing changed: %v, %v", ok, err)
	}
}
