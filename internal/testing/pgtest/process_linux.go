package pgtest

import "syscall"

// dieWithUs has the kernel end a child with us.
func dieWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
