/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ioctl(2) on a Stream head: streamio(7).
 *
 * Each command of the head has one function in the table below; errors are
 * tested in the order of the manual: state of the stream, then the argument's
 * address, then its value.  All other commands are sent down the stream, see
 * strioctl.c.
 */
#include "core.h"
#include "ioctl.h"
#include "sig.h"
#include "sock/sock.h"

#define I_NREAD 0x5301u
#define I_PUSH 0x5302u
#define I_POP 0x5303u
#define I_LOOK 0x5304u
#define I_FLUSH 0x5305u
#define I_SRDOPT 0x5306u
#define I_GRDOPT 0x5307u
#define I_STR 0x5308u
#define I_SETSIG 0x5309u
#define I_GETSIG 0x530au
#define I_FIND 0x530bu
#define I_PEEK 0x530fu
#define I_FDINSERT 0x5310u
#define I_LINK 0x530cu
#define I_UNLINK 0x530du
#define I_RECVFD 0x530eu
#define I_SENDFD 0x5311u
#define I_PLINK 0x5316u
#define I_PUNLINK 0x5317u
#define I_SWROPT 0x5313u
#define I_GWROPT 0x5314u
#define I_LIST 0x5315u
#define I_ANCHOR 0x5318u
#define I_FLUSHBAND 0x531cu
#define I_CKBAND 0x531du
#define I_GETBAND 0x531eu
#define I_ATMARK 0x531fu
#define I_SETCLTIME 0x5320u
#define I_GETCLTIME 0x5321u
#define I_CANPUT 0x5322u
#define I_SERROPT 0x5323u
#define I_GERROPT 0x5324u
#define I_ESETSIG 0x5325u
#define I_EGETSIG 0x5326u
#define I_GETPMSG 0x532au
#define I_PUTPMSG 0x532bu
#define I_PIPE 0x532cu
#define I_ISASTREAM 0x532eu
#define I_GET_STH_WROFF 0x5355u
#define I_GET_STRMSGSZ 0x5356u
#define I_GET_STRCTLSZ 0x5357u
#define I_GET_PUSHCNT 0x5358u
#define I_SET_HIWAT 0x535bu
#define I_SET_LOWAT 0x535cu
#define I_GET_HIWAT 0x5361u
#define I_GET_LOWAT 0x5362u
/* debugging commands of LiS */
#define I_LIS_SDBGMSK2 0x53f1u
#define I_LIS_PRNTSTRM 0x53fdu
#define I_LIS_PRNTMEM 0x53feu
#define I_LIS_SDBGMSK 0x53ffu
#define FIONREAD 0x541bu
#define TIOCGPGRP 0x540fu
#define TIOCSPGRP 0x5410u
#define TIOCGSID 0x5429u
#define FIOSETOWN 0x8901u
#define SIOCSPGRP 0x8902u
#define FIOGETOWN 0x8903u
#define SIOCGPGRP 0x8904u
#define SIOCATMARK 0x8905u

/* Equal in layout to the structure of <stropts.h>. */
struct u_strpmsg {
	struct str_strbuf ctl, data;
	int band;
	int flags;
};

static long
i_isastream(struct ioc *c)
{
	(void)c;
	return 0;
}

/*
 * Address of @field in the user's struct strpmsg, which is not validated yet.
 */
#define IN(c, field) \
	((void *)((c)->arg + offsetof(struct u_strpmsg, field)))

/* getpmsg(2) and putpmsg(2) as ioctl commands: one structure contains their
 * arguments. */
static long
i_getpmsg(struct ioc *c)
{
	return str_head_getmsg(c->sd, c->hc, IN(c, ctl), IN(c, data),
		IN(c, band), IN(c, flags));
}

static long
i_putpmsg(struct ioc *c)
{
	int bf[2];

	if (host_copyin(IN(c, band), bf, sizeof(bf)) != 0)
		return -EFAULT;
	/* -1 would mean putmsg(2), which has other flags */
	return str_head_putmsg(c->sd, c->hc, IN(c, ctl), IN(c, data),
		bf[0] == -1 ? -2 : bf[0], bf[1]);
}

static long
i_fdinsert(struct ioc *c)
{
	return str_head_fdinsert(c->sd, c->hc, (const void *)c->arg);
}

static long
i_lis_debug(struct ioc *c)
{
	(void)c;
	return 0;
}

/* ------------------------------------------------------------ the table */

/* Conditions that end the command before its argument is examined. */
#define RD 1u	 /* a read error */
#define WR 2u	 /* a write error */
#define HUP 4u	 /* a hang-up */
#define ALL (RD | WR | HUP)

/* Multiplexors and passed descriptors: plumb/link.c, head/pass.c. */
static long
i_link(struct ioc *c)
{
	return str_ioctl_link(c->sd, c->hc, c->cmd & 0xffffu, c->arg);
}

static long
i_pass(struct ioc *c)
{
	return str_ioctl_pass(c->sd, c->hc, c->cmd & 0xffffu, c->arg);
}

static const struct cmd {
	unsigned cmd;
	unsigned when;
	long (*fn)(struct ioc *);
} cmds[] = {
	{I_NREAD, RD, str_ioctl_nread},
	{I_PUSH, ALL, str_ioctl_push},
	{I_POP, ALL, str_ioctl_pop},
	{I_LOOK, 0, str_ioctl_look},
	{I_FLUSH, ALL, str_ioctl_flush},
	{I_SRDOPT, 0, str_ioctl_srdopt},
	{I_GRDOPT, 0, str_ioctl_grdopt},
	{I_STR, ALL, str_ioctl_str},
	{I_SETSIG, 0, str_ioctl_setsig},
	{I_GETSIG, 0, str_ioctl_getsig},
	{I_FIND, 0, str_ioctl_find},
	{I_PEEK, RD, str_ioctl_peek},
	{I_LINK, ALL, i_link},
	{I_UNLINK, ALL, i_link},
	{I_PLINK, ALL, i_link},
	{I_PUNLINK, ALL, i_link},
	{I_SENDFD, WR | HUP, i_pass},
	{I_RECVFD, RD, i_pass},
	{I_FDINSERT, 0, i_fdinsert},
	{I_SWROPT, 0, str_ioctl_swropt},
	{I_GWROPT, 0, str_ioctl_gwropt},
	{I_LIST, 0, str_ioctl_list},
	{I_ANCHOR, ALL, str_ioctl_anchor},
	{I_FLUSHBAND, ALL, str_ioctl_flushband},
	{I_CKBAND, RD, str_ioctl_ckband},
	{I_GETBAND, RD, str_ioctl_getband},
	{I_ATMARK, RD, str_ioctl_atmark},
	{I_SETCLTIME, 0, str_ioctl_setcltime},
	{I_GETCLTIME, 0, str_ioctl_getcltime},
	{I_CANPUT, WR | HUP, str_ioctl_canput},
	{I_SERROPT, 0, str_ioctl_serropt},
	{I_GERROPT, 0, str_ioctl_gerropt},
	{I_ESETSIG, 0, str_ioctl_esetsig},
	{I_EGETSIG, 0, str_ioctl_egetsig},
	{I_GETPMSG, 0, i_getpmsg},
	{I_PUTPMSG, 0, i_putpmsg},
	{I_PIPE, ALL, str_ioctl_pipe},
	{I_ISASTREAM, 0, i_isastream},
	{I_GET_STH_WROFF, 0, str_ioctl_get_sth_wroff},
	{I_GET_STRMSGSZ, 0, str_ioctl_get_strmsgsz},
	{I_GET_STRCTLSZ, 0, str_ioctl_get_strctlsz},
	{I_GET_PUSHCNT, 0, str_ioctl_get_pushcnt},
	{I_SET_HIWAT, 0, str_ioctl_set_hiwat},
	{I_SET_LOWAT, 0, str_ioctl_set_lowat},
	{I_GET_HIWAT, 0, str_ioctl_get_hiwat},
	{I_GET_LOWAT, 0, str_ioctl_get_lowat},
	{I_LIS_SDBGMSK, 0, i_lis_debug},
	{I_LIS_SDBGMSK2, 0, i_lis_debug},
	{I_LIS_PRNTMEM, 0, i_lis_debug},
	{I_LIS_PRNTSTRM, 0, i_lis_debug},
	{FIONREAD, 0, str_ioctl_fionread},
	{TIOCGPGRP, 0, str_ioctl_tiocgpgrp},
	{TIOCSPGRP, 0, str_ioctl_tiocspgrp},
	{TIOCGSID, 0, str_ioctl_tiocgsid},
	{FIOSETOWN, 0, str_ioctl_set_owner},
	{FIOGETOWN, 0, str_ioctl_get_owner},
	{SIOCSPGRP, 0, str_ioctl_set_owner},
	{SIOCGPGRP, 0, str_ioctl_get_owner},
	{SIOCATMARK, RD, str_ioctl_siocatmark},
};

/* State of the stream comes before the argument. */
static int
state_error(struct str_head *sd, unsigned when)
{
	uint32_t f = str_load(&sd->flags);
	int err = 0;

	if (str_likely((f & (STR_H_PLEX | STR_H_RDERR | STR_H_WRERR |
		    STR_H_HUP | STR_H_PEER)) == 0))
		return 0;
	if (f & STR_H_PLEX)
		return EINVAL;
	if (when & RD)
		err = str_head_rderr(sd);
	if (err == 0 && (when & WR))
		err = str_head_wrerr(sd);
	if (err == 0 && (when & HUP) && (f & (STR_H_HUP | STR_H_PEER)))
		err = ENXIO;
	return err;
}

int
str_head_state_error(struct str_head *sd)
{
	return state_error(sd, ALL);
}

long
str_head_ioctl(struct str_head *sd, struct host_call *hc, unsigned long cmd,
	unsigned long arg)
{
	struct ioc c = {.sd = sd, .hc = hc, .cmd = (unsigned)cmd, .arg = arg};
	unsigned i;
	int err;

	hc->head = sd;
	if (str_load(&sd->flags) & STR_H_LOOK)
		(void)str_head_look(sd, hc);
	for (i = 0; i < STR_ARRAY_LEN(cmds); i++) {
		if (cmds[i].cmd != (c.cmd & 0xffffu))
			continue;
		err = state_error(sd, cmds[i].when);
		return err != 0 ? -err : cmds[i].fn(&c);
	}
	err = str_head_state_error(sd);
	return err != 0 ? -err : str_ioctl_other(&c);
}
