package postgres

import "syscall"

// namespaceIdentity is root mapped to an ordinary user in a user namespace: PostgreSQL sees no root, and the
// kernel still allows access to root's directories. A chroot or a strict container forbids it, which canStart
// finds out.
func namespaceIdentity() []osIdentity {
	const inside = 1000
	return []osIdentity{{
		name: "root (in a user namespace)",
		attr: syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: inside, HostID: 0, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: inside, HostID: 0, Size: 1}},
		},
	}}
}
