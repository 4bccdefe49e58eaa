/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Which processes trust each other: docs/security.md.
 *
 * A member of a domain can make any other member run its code.  So members must
 * be allowed to trace each other by the kernel's rule for ptrace(2): the same
 * real, effective and saved user, the same three groups, and the same permitted
 * capabilities.  The maker of a domain records its own values.  In another user
 * namespace capabilities and group numbers have another meaning, and only the
 * user is compared.
 */
#include <linux/capability.h>

#include "sys.h"
#include "user_impl.h"

#define UNKNOWN UINT64_MAX /* a sandbox forbids to read them, in each member */

static uint64_t
permitted(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{0, 0, 0}};

	if (sys_call2(SYS_capget, &head, data) != 0)
		return UNKNOWN;
	return (uint64_t)data[1].permitted << 32 | data[0].permitted;
}

static struct host_ids
ids_now(void)
{
	return (struct host_ids){ getegid(), permitted(), host_ns_inode("user") };
}

/* host_ids_write - record the maker's values in the new domain @d */
void
host_ids_write(struct str_domain *d)
{
	struct host_ids me = ids_now();

	d->gid = me.gid;
	d->permitted = me.permitted;
	d->userns = me.userns;
}

/*
 * host_ids_numbered - does this process's user have a unique number, which
 * distinguishes its files from those of others?
 * Return: 0, or EACCES after a report.
 */
int
host_ids_numbered(void)
{
	if (host_uid_known(geteuid()))
		return 0;
	return host_fail(EACCES, "user %u stands for all users that are not "
		"mapped in this user namespace: what it finds could be of any "
		"of them", (unsigned)geteuid());
}

/*
 * host_ids_single - may this process be a member of a domain with a name?
 * Return: 0, or EACCES after a report.
 */
int
host_ids_single(void)
{
	unsigned u[3] = {0, 0, 0}, g[3] = {0, 0, 0};

	(void)sys_call3(SYS_getresuid, &u[0], &u[1], &u[2]);
	(void)sys_call3(SYS_getresgid, &g[0], &g[1], &g[2]);
	if (u[0] != u[1] || u[1] != u[2])
		return host_fail(EACCES, "real, effective and saved user "
			"differ (%u, %u, %u): members of a domain could act "
			"as each of them; STREAMS_DOMAIN=private is for this "
			"program and its children", u[0], u[1], u[2]);
	if (g[0] != g[1] || g[1] != g[2])
		return host_fail(EACCES, "real, effective and saved group "
			"differ (%u, %u, %u): members of a domain could act "
			"as each of them; STREAMS_DOMAIN=private is for this "
			"program and its children", g[0], g[1], g[2]);
	return host_ids_numbered();
}

/*
 * host_ids_fit - do we and the members of the domain @what trust each other?
 * @of: the values that its maker recorded
 * Return: 0, or EACCES after a report.
 */
int
host_ids_fit(const struct host_ids *of, const char *what)
{
	struct host_ids me = ids_now();

	if (of->userns != 0 && me.userns != 0 && of->userns != me.userns)
		return 0;
	if (of->gid != me.gid)
		return host_fail(EACCES, "%s is a domain of group %u, this "
			"process has group %u: set STREAMS_DOMAIN to another "
			"name", what, of->gid, me.gid);
	if (of->permitted != me.permitted)
		return host_fail(EACCES, "%s is a domain of processes with "
			"capabilities %#llx, this one has %#llx: set "
			"STREAMS_DOMAIN to another name", what,
			(unsigned long long)of->permitted,
			(unsigned long long)me.permitted);
	return 0;
}
