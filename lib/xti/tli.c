/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What <tiuser.h> calls by another name: TLI where it is not XTI.
 *
 * An endpoint opened by TLI may be for reading or writing only; a bind to an
 * address in use gets another one; a buffer of no length is too small, not
 * unwanted; t_alloc() leaves out a buffer that the provider has no use for;
 * options are the sockets' (struct opthdr).
 */
#include <fcntl.h>
#include <stdlib.h>

#include <xti.h>

#include "xti_impl.h"

int _tli_open(const char *path, int oflag, struct t_info *info);
int _tli_bind(int fd, const struct t_bind *req, struct t_bind *ret);
int _tli_optmgmt(int fd, const struct t_optmgmt *req, struct t_optmgmt *ret);
void _tli_error(const char *errmsg);
int _tli_free(char *ptr, int struct_type);
char *_tli_alloc(int fd, int struct_type, int fields);

STR_EXPORT int
_tli_open(const char *path, int oflag, struct t_info *info)
{
	if ((oflag & ~(O_NONBLOCK | O_CLOEXEC | O_ACCMODE)) != 0)
		return xti_fail(TBADFLAG);
	return xti_open(path, oflag, info, W_TLI);
}

STR_EXPORT int
_tli_bind(int fd, const struct t_bind *req, struct t_bind *ret)
{
	return xti_bind(fd, req, ret, 1);
}

STR_EXPORT void
_tli_error(const char *errmsg)
{
	(void)t_error(errmsg);
}

STR_EXPORT int
_tli_free(char *ptr, int struct_type)
{
	return t_free(ptr, struct_type);
}

STR_EXPORT char *
_tli_alloc(int fd, int struct_type, int fields)
{
	return xti_alloc(fd, struct_type, fields, 1);
}

/* ------------------------------------------------------------------- options */

/* TLI's list as XTI's, at @to of @room bytes.  Return: its length, or -1. */
static long
to_xti(const struct netbuf *from, unsigned char *to, size_t room)
{
	size_t at = 0, out = 0, n, len;
	struct opthdr oh;
	struct t_opthdr th = {.status = 0};

	while (at < from->len) {
		if (from->len - at < sizeof(oh))
			return -1;
		memcpy(&oh, (const char *)from->buf + at, sizeof(oh));
		at += sizeof(oh);
		if (oh.len < 0 || (size_t)oh.len > from->len - at)
			return -1;
		len = (size_t)oh.len;
		n = (sizeof(th) + len + 3) & ~(size_t)3;
		if (n > room - out)
			return -1;
		th.len = (t_uscalar_t)(sizeof(th) + len);
		th.level = (t_uscalar_t)oh.level;
		th.name = (t_uscalar_t)oh.name;
		memcpy(to + out, &th, sizeof(th));
		memcpy(to + out + sizeof(th), (const char *)from->buf + at,
			len);
		out += n;
		n = OPTLEN(len);
		at += n > from->len - at ? from->len - at : n;
	}
	return (long)out;
}

/* And back.  Return: its length, or -1: no room. */
static long
to_tli(const unsigned char *from, size_t len, unsigned char *to, size_t room)
{
	size_t at = 0, out = 0, n;
	struct t_opthdr th;
	struct opthdr oh;

	while (len - at >= sizeof(th)) {
		memcpy(&th, from + at, sizeof(th));
		if (th.len < sizeof(th) || th.len > len - at)
			break;
		oh.level = (long)th.level;
		oh.name = (long)th.name;
		oh.len = (long)(th.len - sizeof(th));
		n = sizeof(oh) + OPTLEN((size_t)oh.len);
		if (n > room - out)
			return -1;
		memset(to + out, 0, n);
		memcpy(to + out, &oh, sizeof(oh));
		memcpy(to + out + sizeof(oh), from + at + sizeof(th),
			(size_t)oh.len);
		out += n;
		n = (th.len + 3) & ~(size_t)3;
		at += n > len - at ? len - at : n;
	}
	return (long)out;
}

/* All is converted; @mem: three times XTI_OPTROOM. */
static int
optmgmt(struct use *u, const struct t_optmgmt *req, struct t_optmgmt *ret,
	unsigned char *mem)
{
	struct netbuf nb = {.buf = mem + XTI_OPTROOM}, in = req->opt;
	unsigned char *theirs = mem + 2 * (size_t)XTI_OPTROOM;
	const unsigned char *opt;
	unsigned len, room;
	int res;
	long n;

	if (in.len > XTI_OPTROOM)
		return xti_fail(TBADOPT);
	if (strm_copy(theirs, in.buf, in.len) != 0)
		return xti_sys(EFAULT);
	in.buf = (char *)theirs;
	n = to_xti(&in, nb.buf, XTI_OPTROOM - 1024);
	if (n < 0)
		return xti_fail(TBADOPT);
	nb.len = (unsigned)n;
	if (xti_opt(u, &nb, req->flags, mem, XTI_OPTROOM, &opt, &len,
		    &res) < 0) {
		if (req->flags != T_CHECK || *_t_errno() != TBADOPT)
			return -1;
		ret->opt.len = 0; /* a level that the provider does not know */
		ret->flags = T_FAILURE;
		return 0;
	}
	if (res & (T_FAILURE | T_NOTSUPPORT | T_READONLY)) {
		ret->opt.len = 0;
		ret->flags = req->flags == T_CHECK ? T_FAILURE : res;
		return req->flags == T_CHECK ? 0 : xti_fail(TBADOPT);
	}
	room = ret->opt.maxlen < XTI_OPTROOM ? ret->opt.maxlen : XTI_OPTROOM;
	n = ret->opt.buf == NULL ? (len == 0 ? 0 : -1) :
		to_tli(opt, len, theirs, room);
	if (n > 0 && strm_copy(ret->opt.buf, theirs, (size_t)n) != 0)
		return xti_sys(EFAULT);
	ret->flags = req->flags == T_CHECK ? T_SUCCESS : req->flags;
	ret->opt.len = n > 0 ? (unsigned)n : 0;
	return n < 0 ? xti_fail(TBUFOVFLW) : 0;
}

STR_EXPORT int
_tli_optmgmt(int fd, const struct t_optmgmt *req, struct t_optmgmt *ret)
{
	struct t_optmgmt want, got;
	unsigned char *mem;
	struct use u;
	int err;

	if (xti_use(&u, fd, S_ANY) < 0 ||
	    xti_in(&want, req, sizeof(want)) < 0 ||
	    xti_inout(&got, ret, sizeof(got)) < 0)
		return -1;
	if (want.flags != T_NEGOTIATE && want.flags != T_CHECK &&
	    want.flags != T_DEFAULT)
		return xti_fail(TBADFLAG);
	if (xti_bad_netbuf(&want.opt))
		return xti_fail(TBADOPT);
	mem = malloc(3 * (size_t)XTI_OPTROOM);
	if (mem == NULL)
		return xti_sys(ENOMEM);
	err = optmgmt(&u, &want, &got, mem);
	free(mem);
	if (xti_put(ret, &got, sizeof(got)) != 0)
		return xti_sys(EFAULT);
	return err;
}
