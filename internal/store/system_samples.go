package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// SampleRuns is the past of a sample tenant's connector.
type SampleRuns struct {
	Tenant    connectors.TenantID
	Connector connectors.ConnectorID
	Tools     int
	Failing   bool // every run failed, not only one
	Error     connectors.SyncError
}

// AddSampleRuns adds a week of sync runs.
func (s *System) AddSampleRuns(ctx context.Context, r SampleRuns) error {
	return s.q.AddSampleRuns(ctx, dbgen.AddSampleRunsParams{
		TenantID: r.Tenant, ConnectorID: r.Connector, Tools: int32(r.Tools), Failing: r.Failing, ErrorCode: r.Error.Code, ErrorMessage: r.Error.Message,
	})
}
