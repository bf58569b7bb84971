package auditstreams_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"patchbay/internal/fault"
)

// Tests of one tenant that wait for their receiver leave slots for other tenants.
func TestTest_TenantLeavesSlotsForOthers(t *testing.T) {
	t.Parallel()
	w := newStreamTest(t)
	arrived, answer := make(chan struct{}, 10), make(chan struct{})
	there := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		arrived <- struct{}{}
		select {
		case <-answer:
		case <-q.Context().Done():
		}
	}))
	t.Cleanup(there.Close)
	stream := w.create(t, httpsStream(there.URL))
	theirs := w.admin
	var err error
	if theirs.Tenant, err = w.OtherDoor().Self(t.Context()); err != nil {
		t.Fatal(err)
	}
	other, err := w.service.Create(t.Context(), theirs, httpsStream(there.URL), "")
	if err != nil {
		t.Fatal(err)
	}
	var tests sync.WaitGroup
	begin := func(test func() (bool, error)) {
		t.Helper()
		tests.Go(func() {
			if accepted, err := test(); err != nil || !accepted {
				t.Errorf("accepted: %v, %v", accepted, err)
			}
		})
		select {
		case <-arrived:
		case <-time.After(maxWait):
			t.Error("waited for a test to reach the receiver")
		}
	}
	ours := func() (bool, error) {
		res, err := w.service.Test(t.Context(), w.admin, stream.ID)
		return res.Accepted, err
	}
	begin(ours)
	begin(ours)
	if _, err := ours(); !fault.Is(err, fault.Conflict) {
		t.Errorf("a third test of the tenant: %v", err)
	}
	begin(func() (bool, error) {
		res, err := w.service.Test(t.Context(), theirs, other.ID)
		return res.Accepted, err
	})
	close(answer)
	tests.Wait()
	if accepted, err := ours(); err != nil || !accepted {
		t.Errorf("afterwards: %v, %v", accepted, err)
	}
}
