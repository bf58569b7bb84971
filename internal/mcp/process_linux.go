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

func dieWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitExit returns when the process has ended, and leaves it to be waited for.
func awaitExit(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// limit bounds a process that was just started. What it started before that, in its first moment, is not bounded; and no limit is
// ever raised.
func limit(pid int, l Limits) {
	for _, bound := range []struct {
		resource int
		most     uint64
		off      bool
	}{
		{unix.RLIMIT_CORE, 0, false},
		{unix.RLIMIT_DATA, l.Memory, l.Memory == 0},
		{unix.RLIMIT_NOFILE, l.OpenFiles, l.OpenFiles == 0},
		{unix.RLIMIT_NPROC, l.Processes, l.Processes == 0},
	} {
		var now unix.Rlimit
		if bound.off || unix.Prlimit(pid, bound.resource, nil, &now) != nil {
			continue
		}
		most := min(bound.most, now.Max)
		_ = unix.Prlimit(pid, bound.resource, &unix.Rlimit{Cur: most, Max: most}, nil)
	}
}

// kin is a process that descends from another. born tells it from a later one with its number.
type kin struct {
	pid             int
	born            string
	parent, session int
}

// killFamily kills the process group of pid, all of its session, and whatever descends from it. It looks again until there is nobody
// left, because a dying process may have a child.
func killFamily(pid int) {
	for range 20 {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		members := family(pid)
		if len(members) == 0 {
			return
		}
		for _, member := range members {
			_ = syscall.Kill(member.pid, syscall.SIGKILL)
		}
	}
}

// killKin kills those that were of a family when it was looked at, and are left without their parents: one with a session of its own
// is found in no other way.
func killKin(members []kin) {
	for _, member := range members {
		if now, alive := relations(member.pid); alive && now.born == member.born {
			killFamily(member.pid)
			_ = syscall.Kill(member.pid, syscall.SIGKILL)
		}
	}
}

// family are the living processes of a session, and those that descend from its leader.
func family(leader int) []kin {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := map[int]kin{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if k, alive := relations(pid); alive {
			all[pid] = k
		}
	}
	var members []kin
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

// relations reads what a process is to others (proc(5), /proc/pid/stat). A zombie is dead.
func relations(pid int) (k kin, alive bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return k, false
	}
	// The second field is a name in parentheses, which may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return k, false
	}
	k.pid, k.born = pid, string(fields[19])
	k.parent, _ = strconv.Atoi(string(fields[1]))
	k.session, _ = strconv.Atoi(string(fields[3]))
	return k, true
}
