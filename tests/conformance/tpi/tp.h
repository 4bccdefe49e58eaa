/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The TPI suite: primitives by putmsg(2) and getmsg(2), the same cases for
 * every transport.  What a transport is like stands in one table, tp.c; a
 * case that is about what it does not have is skipped.
 *
 * tp_*() fail the case when something is not as it has to be; every wait has
 * an end.
 */
#ifndef TP_H
#define TP_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/tihdr.h>
#include <sys/wait.h>
#include <unistd.h>

/* XTI's, which tests have other words for */
#undef T_NULL
#undef T_UNUSED
#include "t.h"

#define TP_WAIT 10000 /* ms until something that has to come has not */
#define TP_SILENCE 20 /* ms in which nothing comes */

struct tp_transport {
	const char *target;
	const char *dev;
	int service;
	int inet;     /* addresses are sockaddr_in */
	int tsdu;     /* TSDU_size */
	int etsdu;    /* ETSDU_size */
	int generic;  /* XTI_GENERIC is complete */
	int six;      /* ... sockaddr_in6 */
	int raw;      /* IP's protocols: everybody gets what comes */
	int native;   /* drv/udp: within the domain nothing is dropped */
	int ddata;    /* DDATA_size, if it has a limit; 0: as the others */
};

struct tp_addr {
	int len;
	unsigned char buf[256];
};

/* A message. */
struct tp_msg {
	int prim; /* -1: data alone */
	union {
		union T_primitives p;
		unsigned char ctl[4096];
	};
	int ctllen;
	int datalen; /* -1: none */
	int band;
	int hipri;
	unsigned char data[70000];
};

extern struct tp_msg tp;

const struct tp_transport *tp_is(void);
int tp_cots(void);
int tp_ord(void);
void tp_need_cots(void);
void tp_need_ord(void);
void tp_need_clts(void);
/* ticots, ticotsord: as System V's tl */
int tp_tl(void);
void tp_need_tl(void);
/* ... and one whose addresses are any bytes */
void tp_need_loopback(void);

int tp_open(void);
int tp_open_flags(int oflag);
void tp_put(int fd, const void *ctl, int ctllen, const void *data, int datalen);
/* The same in a band, or of high priority (-1): what putpmsg returned. */
int tp_try(int fd, const void *ctl, int ctllen, const void *data, int datalen,
	int band);
void tp_prim(int fd, int prim); /* all zeros but for the number */

int tp_get(int fd);
void tp_want(int fd, int prim);
void tp_ok(int fd, int prim);
void tp_error(int fd, int prim, int tli, int err);
void tp_fatal(int fd); /* M_ERROR EPROTO */
void tp_quiet(int fd);
void tp_data(int fd, const void *data, int len); /* these bytes, somehow */
int tp_state(int fd);
t_uscalar_t tp_id(int fd);

/* Addresses. */
void tp_any(struct tp_addr *a);	   /* none wanted: the provider's choice */
void tp_nobody(struct tp_addr *a); /* none is bound there */
void tp_bind_req(int fd, const struct tp_addr *a, unsigned qlen, int prim);
/* To an address that is free, also when it is given back. */
void tp_bind(int fd, unsigned qlen, struct tp_addr *ret);
void tp_unbind(int fd);

void tp_conn_req(int fd, const struct tp_addr *to);
void tp_conn_req_data(int fd, const struct tp_addr *to, const void *data,
	int len);
void tp_conn_res(int fd, t_uscalar_t id, int seq);
void tp_discon_req(int fd, int seq);
int tp_discon_ind(int fd); /* its reason */
void tp_send(int fd, const void *data, int len, int more); /* T_DATA_REQ */
void tp_exsend(int fd, const void *data, int len, int more);
void tp_udata(int fd, const struct tp_addr *to, const void *data, int len);

/* A connected pair, fd[0] the caller; a listener, and its address. */
void tp_pair(int fd[2]);
int tp_listener(unsigned qlen, struct tp_addr *ret);
int tp_call(const struct tp_addr *to); /* connecting */
int tp_conn_ind(int lfd);	       /* the sequence number */

/* Bring a fresh endpoint into @state; its peer or caller is in *@ret, or -1. */
int tp_in_state(int state, int *ret);

/* A request by its number, whole, that would succeed in the right state. */
int tp_request(int prim, void *buf);

#endif
