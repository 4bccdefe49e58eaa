/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * TPI by hand, without any library: what a transport library is made of.
 * T_CONN_RES names its stream by I_FDINSERT, as in System V.
 */
#include <sys/types.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/tihdr.h>
#include <sys/tiuser.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char cbuf[512], dbuf[512];
static union T_primitives *prim = (union T_primitives *)cbuf;
static struct strbuf ctl, data;
static int pri;

static void
want(fd, type, hipri)
int fd, type, hipri;
{
	ctl.buf = cbuf;
	ctl.maxlen = sizeof cbuf;
	data.buf = dbuf;
	data.maxlen = sizeof dbuf;
	pri = 0;
	if (getmsg(fd, &ctl, &data, &pri) < 0) {
		perror("getmsg");
		exit(1);
	}
	if (ctl.len < (int)sizeof(prim->type) || prim->type != type ||
	    (pri == RS_HIPRI) != hipri) {
		fprintf(stderr, "primitive %d (%d), not %d\n",
		    ctl.len > 0 ? (int)prim->type : -1, pri, type);
		exit(1);
	}
}

static void
put(fd, p, len, text)
int fd, len;
void *p;
char *text;
{
	struct strbuf c, d;

	c.buf = p;
	c.len = len;
	d.buf = text;
	d.len = text != NULL ? (int)strlen(text) : -1;
	if (putmsg(fd, &c, &d, 0) < 0) {
		perror("putmsg");
		exit(1);
	}
}

static int
endpoint(dev, name, qlen)
char *dev, *name;
int qlen;
{
	char req[sizeof(struct T_bind_req) + 32];
	struct T_bind_req *br = (struct T_bind_req *)req;
	int fd;

	if ((fd = open(dev, O_RDWR)) < 0) {
		perror(dev);
		exit(1);
	}
	br->PRIM_type = T_BIND_REQ;
	br->ADDR_length = strlen(name);
	br->ADDR_offset = sizeof *br;
	br->CONIND_number = qlen;
	strcpy(req + sizeof *br, name);
	put(fd, req, sizeof *br + br->ADDR_length, NULL);
	want(fd, T_BIND_ACK, 1);
	if (prim->bind_ack.CONIND_number != (unsigned)qlen ||
	    (*name != '\0' && memcmp(cbuf + prim->bind_ack.ADDR_offset, name,
	    prim->bind_ack.ADDR_length) != 0)) {
		fprintf(stderr, "%s: bound to something else\n", dev);
		exit(1);
	}
	return fd;
}

static int
state(fd)
int fd;
{
	struct T_info_req ir;

	ir.PRIM_type = T_INFO_REQ;
	put(fd, &ir, sizeof ir, NULL);
	want(fd, T_INFO_ACK, 1);
	return prim->info_ack.CURRENT_state;
}

static void
talk(dev)
char *dev;
{
	char req[sizeof(struct T_conn_req) + 32];
	struct T_conn_req *cr = (struct T_conn_req *)req;
	struct T_conn_res res;
	struct T_data_req dr;
	struct T_discon_req dq;
	struct T_ordrel_req or;
	struct strfdinsert ins;
	int lfd, cfd, afd, ord;

	lfd = endpoint(dev, "tpiraw", 2);
	cfd = endpoint(dev, "", 0);
	if ((afd = open(dev, O_RDWR)) < 0 || state(afd) != TS_UNBND) {
		perror(dev);
		exit(1);
	}
	ord = prim->info_ack.SERV_type == T_COTS_ORD;

	cr->PRIM_type = T_CONN_REQ;
	cr->DEST_length = 6;
	cr->DEST_offset = sizeof *cr;
	cr->OPT_length = cr->OPT_offset = 0;
	strcpy(req + sizeof *cr, "tpiraw");
	put(cfd, req, sizeof *cr + 6, NULL);
	want(cfd, T_OK_ACK, 1);
	want(lfd, T_CONN_IND, 0);
	res.PRIM_type = T_CONN_RES;
	res.OPT_length = res.OPT_offset = 0;
	res.SEQ_number = prim->conn_ind.SEQ_number + 1;
	ins.ctlbuf.buf = (char *)&res;
	ins.ctlbuf.len = sizeof res;
	ins.databuf.len = -1;
	ins.flags = 0;
	ins.fildes = afd;
	ins.offset = offsetof(struct T_conn_res, QUEUE_ptr);
	/* first to no listener */
	if (ioctl(lfd, I_FDINSERT, &ins) < 0) {
		perror("I_FDINSERT");
		exit(1);
	}
	want(lfd, T_ERROR_ACK, 1);
	if (prim->error_ack.ERROR_prim != T_CONN_RES ||
	    prim->error_ack.TLI_error != TBADSEQ) {
		fprintf(stderr, "T_CONN_RES: %d\n", prim->error_ack.TLI_error);
		exit(1);
	}
	res.SEQ_number--;
	if (ioctl(lfd, I_FDINSERT, &ins) < 0) {
		perror("I_FDINSERT");
		exit(1);
	}
	want(lfd, T_OK_ACK, 1);
	want(cfd, T_CONN_CON, 0);
	if (state(lfd) != TS_IDLE || state(afd) != TS_DATA_XFER ||
	    state(cfd) != TS_DATA_XFER) {
		fprintf(stderr, "%s: states after T_CONN_CON\n", dev);
		exit(1);
	}

	/* a request that is out of state changes nothing */
	put(cfd, req, sizeof *cr + 6, NULL);
	want(cfd, T_ERROR_ACK, 1);
	if (prim->error_ack.TLI_error != TOUTSTATE)
		exit(1);
	dr.PRIM_type = T_EXDATA_REQ;
	dr.MORE_flag = 0;
	put(cfd, &dr, sizeof dr, "!");
	want(afd, T_EXDATA_IND, 0);
	if (data.len != 1)
		exit(1);
	dr.PRIM_type = T_DATA_REQ;
	put(cfd, &dr, sizeof dr, "hello");
	/* T_DATA_IND may be left out before data */
	if (getmsg(afd, &ctl, &data, &pri) != 0 || data.len != 5 ||
	    (ctl.len > 0 && prim->type != T_DATA_IND)) {
		fprintf(stderr, "%s: data\n", dev);
		exit(1);
	}
	if (ord) {
		or.PRIM_type = T_ORDREL_REQ;
		put(cfd, &or, sizeof or, NULL);
		want(afd, T_ORDREL_IND, 0);
		put(afd, &or, sizeof or, NULL);
		want(cfd, T_ORDREL_IND, 0);
	} else {
		dq.PRIM_type = T_DISCON_REQ;
		dq.SEQ_number = -1;
		put(cfd, &dq, sizeof dq, NULL);
		want(cfd, T_OK_ACK, 1);
		want(afd, T_DISCON_IND, 0);
	}
	if (state(cfd) != TS_IDLE || state(afd) != TS_IDLE) {
		fprintf(stderr, "%s: states at the end\n", dev);
		exit(1);
	}
	close(lfd);
	close(cfd);
	close(afd);
}

int
main()
{
	alarm(20);
	talk("/dev/ticotsord");
	talk("/dev/ticots");
	return 0;
}
