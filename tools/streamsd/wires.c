/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The wires of a former domain of this name (tools/lib/wirefile.h).
 *
 * Life.  If all processes of a domain were killed, the next process that attaches
 * makes a new one, and streamsd is started in it.  If there is a file of wires,
 * streamsd makes them here.  It does not wait for a strwire(8) that has locked
 * the file, because that does the same.
 *
 * Failure.  A wire whose socket or device cannot be made now is added nevertheless
 * and tries again (IPW_LATER).  A file that is damaged, or belongs to another
 * user, is left as it is; strwire(8) reports it.
 */
#include <sys/ipwire.h>
#include <sys/stropts.h>

#include "head/head.h"
#include "../lib/wirefile.h"
#include "streamsd.h"

#define RETRY_NS 1000000000ull

struct end {
	int fd;
	struct str_file *f;
};

static struct wirefile file;
static bool done;
static uint64_t again_at;

static int
end_open(struct end *e)
{
	struct host_call hc = { .fd = -1, .fflags = O_RDWR };
	struct host_carrier c;
	int err = host_carrier_open(O_CLOEXEC, &e->fd, &c);

	if (err != 0)
		return err;
	err = host_enter(&hc);
	if (err == 0) {
		err = str_dev_open(&hc, "ip", 0, true, O_RDWR, &c, &e->f);
		if (err != 0)
			host_carrier_gone(&c);
		host_leave();
	}
	if (err != 0)
		host_fd_close(e->fd);
	return err;
}

static long
end_ioctl(struct end *e, unsigned long cmd, unsigned long arg)
{
	struct host_call hc = { .fd = e->fd, .fflags = O_RDWR };
	struct str_head *sd = str_file_head(e->f);
	long ret = -host_enter(&hc);

	if (ret != 0)
		return ret;
	ret = str_head_enter(sd, str_file_flags(e->f), str_file_gen(e->f)) ?
		str_head_ioctl(sd, &hc, cmd, arg) : -EBADF;
	host_leave();
	return ret;
}

static void
end_close(struct end *e)
{
	struct host_call hc = { .fd = e->fd, .fflags = O_RDWR };
	struct str_file *f = e->f;
	uint32_t gen = str_file_gen(f);

	if (host_enter(&hc) != 0)
		return;
	if (str_head_enter(str_file_head(f), str_file_flags(f), gen)) {
		host_fd_close(e->fd);
		str_file_released(f, gen, &hc);
	}
	host_leave();
}

/* A command of the driver, by I_STR. */
static int
command(struct end *e, int cmd, void *arg, size_t n)
{
	struct strioctl ic = { cmd, 0, (int)n, arg };
	long ret = end_ioctl(e, I_STR, (unsigned long)(uintptr_t)&ic);

	return ret < 0 ? (int)-ret : 0;
}

static int
add(const struct ipw_conf *conf, void *arg)
{
	struct ipw_conf c = *conf;
	struct end low, up;
	long ret;
	int err = end_open(&low);

	(void)arg;
	if (err != 0)
		return err;
	err = command(&low, IPW_ADD, &c, sizeof(c));
	if (err == 0)
		err = end_open(&up);
	if (err == 0) {
		ret = end_ioctl(&up, I_PLINK, (unsigned long)low.fd);
		err = ret < 0 ? (int)-ret : 0;
		end_close(&up);
	}
	end_close(&low);
	return err;
}

static int
impair(const struct ipw_impair *im, void *arg)
{
	struct ipw_impair v = *im;
	struct end e;
	int err = end_open(&e);

	(void)arg;
	if (err != 0)
		return err;
	err = command(&e, IPW_IMPAIR, &v, sizeof(v));
	end_close(&e);
	return err;
}

void
wires_look(void)
{
	static const struct wirefile_ops ops = { add, impair, NULL };
	int err;

	if (done || host_now() < again_at)
		return;
	again_at = host_now() + RETRY_NS;
	err = wirefile_open(&file, host_domain_path(), WIREFILE_NOWAIT);
	done = err != EWOULDBLOCK;
	if (err != 0)
		return;
	if (file.old) {
		(void)wirefile_restore(&file, &ops);
		(void)wirefile_save(&file);
	}
	wirefile_close(&file);
}
