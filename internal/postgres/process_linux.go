package postgres

import "syscall"

func dieWithUs(attr *syscall.SysProcAttr, signal syscall.Signal) { attr.Pdeathsig = signal }
