package operator

import (
	"context"

	"patchbay/internal/fault"
	"patchbay/internal/operator/bench"
)

// BenchCommand syncs many due connectors by the server's jobs, against its own servers in this process.
type BenchCommand struct {
	bench.Options
}

// Help returns the text below the flags.
func (BenchCommand) Help() string {
	return "Figures cover this process, including its servers unless --apart, and PostgreSQL. A sync is due when its round starts and done when its result is stored."
}

// BenchServer has the parts of the server that a benchmark measures.
type BenchServer struct {
	SetGCPercent func() // as serve does
	StartJobs    bench.StartJobs
}

// BenchJobs are what the jobs of a benchmark work with.
type BenchJobs = bench.JobOptions

// Run measures and prints.
func (c BenchCommand) Run(ctx context.Context, p IO, s BenchServer) error {
	if c.Connectors < 1 || c.Tenants < 1 || c.Tools < 1 || c.Rounds < 1 || c.Hung < 0 || c.Small < 0 {
		return fault.Errorf(fault.Invalid, "A benchmark needs at least one connector, tenant, tool and round.")
	}
	if c.Apart && c.Steady == 0 {
		return fault.Errorf(fault.Invalid, "--apart needs --steady.")
	}
	s.SetGCPercent()
	return bench.Run(ctx, c.Options, bench.Program{Stdout: p.Stdout, Stderr: p.Stderr, Version: p.Version, StartJobs: s.StartJobs})
}

// BenchServersCommand is the process of a benchmark's servers.
type BenchServersCommand struct {
	Tools int    `name:"tools" required:"" help:"Number of tools per server."`
	Era   string `name:"era" enum:"handshake,modern" required:"" help:"Protocol era of the servers."`
}

// Run prints the servers' addresses in one line, and serves until its standard input ends.
func (c BenchServersCommand) Run(ctx context.Context, p IO) error {
	return bench.Serve(ctx, p.Stdin, p.Stdout, c.Tools, c.Era)
}
