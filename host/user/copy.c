/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Copies between the arena and the caller's memory, for machines without an
 * assembly routine: the kernel copies, because it returns EFAULT.
 */
#include <sys/uio.h>

#include "user_impl.h"

void
host_copy_init(str_a32 *known)
{
	(void)known;
}

static int
copy(int call, const void *local, const void *remote, size_t len)
{
	struct iovec l = { (void *)(uintptr_t)local, len };
	struct iovec r = { (void *)(uintptr_t)remote, len };

	if (len == 0)
		return 0;
	return sys_call6(call, sys_getpid(), &l, 1, &r, 1, 0) == (long)len ?
		0 : EFAULT;
}

int
host_copyin(const void *uaddr, void *addr, size_t len)
{
	return copy(SYS_process_vm_readv, addr, uaddr, len);
}

int
host_copyout(const void *addr, void *uaddr, size_t len)
{
	return copy(SYS_process_vm_writev, addr, uaddr, len);
}

int
host_copyinstr(const void *uaddr, char *addr, size_t max)
{
	for (size_t i = 0; i < max; i++) {
		if (host_copyin((const char *)uaddr + i, addr + i, 1) != 0)
			return EFAULT;
		if (addr[i] == '\0')
			return 0;
	}
	return ENAMETOOLONG;
}
