package mcp

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	launchName   = "patchbay-launch" // argument zero of a launcher
	launchReport = 3                 // the file descriptor on which a launcher reports why it can't become the command
)

// Launch becomes the command of a launcher's arguments, under their limits. It returns if the arguments are no launcher's. A program that
// is a [Command]'s Launcher calls it before anything else.
func Launch(args []string) {
	if len(args) < 7 || args[0] != launchName {
		return
	}
	runtime.LockOSThread() // the death signal is the thread's
	unix.CloseOnExec(launchReport)
	if parent, _ := strconv.Atoi(args[4]); unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) != nil || os.Getppid() != parent {
		os.Exit(1)
	}
	var bounds [3]uint64
	for i := range bounds {
		bounds[i], _ = strconv.ParseUint(args[1+i], 10, 64)
	}
	setLimits(os.Getpid(), Limits{Memory: bounds[0], OpenFiles: bounds[1], Processes: bounds[2]})
	errno, _ := errors.AsType[syscall.Errno](syscall.Exec(args[5], args[6:], os.Environ()))
	_, _ = syscall.Write(launchReport, []byte(strconv.Itoa(int(errno))))
	os.Exit(1)
}

// startLimited starts cmd under limits by launcher. Without one, it starts cmd without limits.
func startLimited(cmd *exec.Cmd, launcher string, l Limits) error {
	if launcher == "" {
		return cmd.Start()
	}
	report, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer closeAll([]*os.File{report, theirs})
	path := cmd.Path
	cmd.Args = append([]string{
		launchName, strconv.FormatUint(l.Memory, 10), strconv.FormatUint(l.OpenFiles, 10), strconv.FormatUint(l.Processes, 10), strconv.Itoa(os.Getpid()), path,
	}, cmd.Args...)
	cmd.Path, cmd.ExtraFiles = launcher, []*os.File{theirs} // descriptor 3
	if err := cmd.Start(); err != nil {
		return err
	}
	_ = theirs.Close()
	text, _ := io.ReadAll(io.LimitReader(report, 16)) // it ends when the launcher becomes the command
	if errno, err := strconv.Atoi(string(text)); err == nil {
		_ = cmd.Wait()
		return &fs.PathError{Op: "exec", Path: path, Err: syscall.Errno(errno)}
	}
	return nil
}
