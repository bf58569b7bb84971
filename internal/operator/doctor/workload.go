package doctor

import (
	"maps"
	"os"
	"slices"

	"patchbay/internal/config"
)

const workloadTokens = "workload tokens"

// checkWorkloadTokens reports the operator's files with JWTs, and which tenants may use them.
func (r *report) checkWorkloadTokens(server config.Server) {
	for _, name := range slices.Sorted(maps.Keys(server.Workloads)) {
		t := server.Workloads[name]
		info, err := os.Stat(t.File)
		switch {
		case err != nil:
			r.reportProblem(workloadTokens, "%s of %q in PATCHBAY_WORKLOAD_TOKENS doesn't exist here.", t.File, name)
		case !info.Mode().IsRegular():
			r.reportProblem(workloadTokens, "%s of %q in PATCHBAY_WORKLOAD_TOKENS isn't a file.", t.File, name)
		case isWorldWritable(info):
			r.reportProblem(workloadTokens, "%s of %q in PATCHBAY_WORKLOAD_TOKENS is writable by everyone on this machine.", t.File, name)
		case slices.Contains(t.Tenants, "*"):
			r.reportOK(workloadTokens, "%q: every tenant's admins can sign in with it at %d hosts", name, len(t.Servers))
		default:
			r.reportOK(workloadTokens, "%q for %d tenants at %d hosts", name, len(t.Tenants), len(t.Servers))
		}
	}
}
