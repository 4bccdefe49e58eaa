/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Ends of streams for tests: ends.h.
 */
#include "ends.h"

#define RDWR 2
#define MOST 2000u /* ms of virtual time */

struct host_call
end_call(const struct end *e)
{
	return (struct host_call){.fd = e->fd, .fflags = RDWR | STR_O_NONBLOCK};
}

void
end_open(struct end *e, const char *drv)
{
	struct host_call hc = {.fd = -1, .fflags = RDWR | STR_O_NONBLOCK};
	struct host_carrier c;

	T_EQ(host_carrier_open(0, &e->fd, &c), 0);
	T_EQ(host_enter(&hc), 0);
	T_EQ(str_dev_open(&hc, drv, 0, true, hc.fflags, &c, &e->f), 0);
	host_leave();
}

void
end_close(struct end *e)
{
	struct host_call hc = end_call(e);
	uint32_t gen = str_file_gen(e->f);

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(str_file_head(e->f), str_file_flags(e->f), gen));
	sim_close(e->fd);
	str_file_released(e->f, gen, &hc);
	host_leave();
}

void
end_put(struct end *e, const void *req, size_t len)
{
	struct str_strbuf ctl = {(int)len, (int)len, (void *)(uintptr_t)req};
	struct host_call hc = end_call(e);
	struct str_head *sd = str_file_head(e->f);

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(e->f), str_file_gen(e->f)));
	T_EQ(str_head_putmsg(sd, &hc, &ctl, NULL, -1, 0), 0);
	host_leave();
}

long
end_get(struct end *e, void *buf, size_t room)
{
	struct str_strbuf ctl = {(int)room, 0, buf}, data = {0, 0, buf};
	struct host_call hc = end_call(e);
	struct str_head *sd = str_file_head(e->f);
	int flags = 0;
	long ret;

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(e->f), str_file_gen(e->f)));
	ret = str_head_getmsg(sd, &hc, &ctl, &data, NULL, &flags);
	host_leave();
	if (ret == -EAGAIN)
		return -1;
	T_GE(ret, 0);
	if (ctl.len == 0 || data.len == 0)
		return -2;
	return *(t_scalar_t *)buf;
}

t_scalar_t end_buf[64];

void
end_answer(struct end *e, t_scalar_t prim)
{
	unsigned ms;
	long p;

	for (ms = 0; (p = end_get(e, end_buf, sizeof(end_buf))) == -1; ms++) {
		if (ms == MOST)
			T_FAIL("primitive %d does not come", (int)prim);
		sim_sleep(MS);
	}
	T_EQ(p, prim);
}

void
end_bind(struct end *e, const char *drv, char name, t_uscalar_t qlen)
{
	struct {
		struct T_bind_req r;
		char name[4];
	} m = {{T_BIND_REQ, 1, sizeof(m.r), qlen}, {name}};

	end_open(e, drv);
	end_put(e, &m, sizeof(m.r) + 1);
	end_answer(e, T_BIND_ACK);
}
