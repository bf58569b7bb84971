package toolsync_test

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/testclient"
	"patchbay/internal/toolsync"
)

// BenchmarkSync performs whole syncs in sequence against a server in this process over loopback; floor is the
// lower bound (see floorSync). server-ms/sync is our CPU with the upstream's, pg-ms/sync that of PostgreSQL's
// processes.
//
//	make bench
func BenchmarkSync(b *testing.B) {
	for _, tools := range []int{20, 100} {
		for _, mode := range []string{"floor", "unchanged", "changed"} {
			b.Run(fmt.Sprintf("tools=%d/%s", tools, mode), func(b *testing.B) { benchmarkSync(b, tools, mode) })
		}
	}
}

func benchmarkSync(b *testing.B, tools int, mode string) {
	changing := mode == "changed"
	w := newBundle(b)
	url := benchUpstream(b, tools, changing)
	c := w.addConnector(b, url, autoChanges)
	req := toolsync.Request{Connector: connectors.Ref(c.ID.String()), Trigger: connectors.TriggerSchedule}
	w.mustSync(b, c)
	client := testclient.New(b)
	backends := w.backends(b)
	b.ReportAllocs()
	b.ResetTimer()
	own, pg := ownCPU(b), processCPU(b, backends)
	for b.Loop() {
		if mode == "floor" {
			w.floorSync(b, client, url, c)
			continue
		}
		rep, err := w.sync.Sync(b.Context(), w.Tenant, req)
		if err != nil {
			b.Fatal(err)
		}
		if got := rep.Run.Counts.Changed; changing != (got == tools) {
			b.Fatalf("%d tools changed", got)
		}
	}
	n := float64(b.N)
	b.ReportMetric(n/b.Elapsed().Seconds(), "syncs/s")
	b.ReportMetric(float64((ownCPU(b)-own).Microseconds())/1000/n, "server-ms/sync")
	b.ReportMetric(float64((processCPU(b, backends)-pg).Microseconds())/1000/n, "pg-ms/sync")
}

// benchUpstream lists tools of about 1 KB each. With changing, every list has new descriptions.
func benchUpstream(b *testing.B, tools int, changing bool) string {
	b.Helper()
	var lists atomic.Int64
	entries := func(round int64) string {
		all := make([]string, tools)
		for i := range all {
			all[i] = benchTool(i, round)
		}
		return strings.Join(all, ",")
	}
	fixed := entries(0)
	return newUpstream(b, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": func(w http.ResponseWriter, r *http.Request, call mcptest.Call) {
		list := fixed
		if changing {
			list = entries(lists.Add(1))
		}
		mcptest.ListResult(list)(w, r, call)
	}}}).URL
}

func benchTool(i int, round int64) string {
	var properties []string
	for p := range 6 {
		properties = append(properties, fmt.Sprintf(
			`"parameter_%d":{"type":"string","description":"What the parameter %d of this tool is for, in a sentence of usual length."}`, p, p))
	}
	return fmt.Sprintf(`{"name":"tool_%d","title":"Tool %d","description":"Finds the things that tool %d is about, edition %d.",`+
		`"inputSchema":{"type":"object","properties":{%s},"required":["parameter_0"]},"annotations":{"readOnlyHint":true}}`,
		i, i, i, round, strings.Join(properties, ","))
}

func ownCPU(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// backends are the PostgreSQL processes on this machine; none if the server runs elsewhere.
func (b *bundle) backends(t testing.TB) []string {
	t.Helper()
	var pid int
	if err := b.Pool.QueryRow(t.Context(), "select pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	stat, ok := processStat(strconv.Itoa(pid))
	if !ok {
		return nil
	}
	postmaster := stat[1] // ppid
	var all []string
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if child, ok := processStat(e.Name()); ok && (child[1] == postmaster || e.Name() == postmaster) {
			all = append(all, e.Name())
		}
	}
	return all
}

// processCPU sums the CPU time of the live processes.
func processCPU(b *testing.B, pids []string) time.Duration {
	b.Helper()
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux
	var sum time.Duration
	for _, pid := range pids {
		if stat, ok := processStat(pid); ok {
			user, _ := strconv.Atoi(stat[11])
			system, _ := strconv.Atoi(stat[12])
			sum += time.Duration(user+system) * tick
		}
	}
	return sum
}

// processStat returns the fields of /proc/PID/stat after the process name, which may hold spaces.
func processStat(pid string) ([]string, bool) {
	raw, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil || pid[0] < '0' || pid[0] > '9' {
		return nil, false
	}
	_, rest, ok := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	return fields, ok && len(fields) > 12
}
