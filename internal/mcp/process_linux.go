package mcp

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func setParentDeathSignal(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitExit returns after the exit, without reaping the process.
func awaitExit(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// setLimits bounds a process. Children that it has already started are not bounded. No limit is raised.
func setLimits(pid int, l Limits) {
	for _, bound := range []struct {
		resource int
		max      uint64
		isUnset  bool
	}{
		{unix.RLIMIT_CORE, 0, false},
		{unix.RLIMIT_DATA, l.Memory, l.Memory == 0},
		{unix.RLIMIT_NOFILE, l.OpenFiles, l.OpenFiles == 0},
		{unix.RLIMIT_NPROC, l.Processes, l.Processes == 0},
	} {
		var now unix.Rlimit
		if bound.isUnset || unix.Prlimit(pid, bound.resource, nil, &now) != nil {
			continue
		}
		limit := min(bound.max, now.Max)
		_ = unix.Prlimit(pid, bound.resource, &unix.Rlimit{Cur: limit, Max: limit}, nil)
	}
}

// processInfo describes a process. startTime distinguishes it from a later one with the same pid.
type processInfo struct {
	pid             int
	startTime       string
	parent, session int
}

// killTree kills the process group of pid, its session and all descendants. It repeats until none is left,
// because a dying process may have forked.
func killTree(pid int) {
	for range 20 {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		members := findDescendants(pid)
		if len(members) == 0 {
			return
		}
		for _, member := range members {
			_ = syscall.Kill(member.pid, syscall.SIGKILL)
		}
	}
}

// killOrphans kills former descendants that lost their parents. One with a session of its own is found in no
// other way.
func killOrphans(members []processInfo) {
	for _, member := range members {
		if now, alive := readProcessInfo(member.pid); alive && now.startTime == member.startTime {
			killTree(member.pid)
			_ = syscall.Kill(member.pid, syscall.SIGKILL)
		}
	}
}

// findDescendants returns the living processes of a session and the descendants of its leader.
func findDescendants(leader int) []processInfo {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := map[int]processInfo{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if k, alive := readProcessInfo(pid); alive {
			all[pid] = k
		}
	}
	var members []processInfo
	for pid, k := range all {
		belongs := pid == leader || k.session == leader
		for up, steps := k.parent, 0; !belongs && up > 1 && steps < 64; steps++ {
			belongs = up == leader
			up = all[up].parent
		}
		if belongs {
			members = append(members, k)
		}
	}
	return members
}

// readProcessInfo reads parent and session of a process (proc(5), /proc/pid/stat). A zombie is not alive.
func readProcessInfo(pid int) (info processInfo, alive bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return info, false
	}
	// The second field is a name in parentheses, which may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return info, false
	}
	info.pid, info.startTime = pid, string(fields[19])
	info.parent, _ = strconv.Atoi(string(fields[1]))
	info.session, _ = strconv.Atoi(string(fields[3]))
	return info, true
}
