/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The wires of a domain and their file: wirekept.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#include <sys/ipwire.h>
#include <str/inspect.h>

#include "snap.h"
#include "wirefile.h"
#include "wirekept.h"

#define IP_DEV "/dev/streams/clone/ip"

static struct wirefile file = { .fd = -1 };

int
wire_command(int fd, int cmd, void *arg, size_t len)
{
	struct strioctl ic = { cmd, 0, (int)len, arg };

	return ioctl(fd, I_STR, &ic);
}

int
wire_open(const struct tool *t)
{
	int fd = open(IP_DEV, O_RDWR);

	if (fd < 0)
		tool_die(t, "%s", IP_DEV);
	return fd;
}

int
wire_add(const struct ipw_conf *conf)
{
	struct ipw_conf c = *conf;
	int fd = open(IP_DEV, O_RDWR), ctl = open(IP_DEV, O_RDWR), err = 0;

	if (fd < 0 || ctl < 0 || wire_command(fd, IPW_ADD, &c, sizeof(c)) < 0 ||
		ioctl(ctl, I_PLINK, fd) < 0)
		err = errno;
	if (fd >= 0)
		(void)close(fd);
	if (ctl >= 0)
		(void)close(ctl);
	return err;
}

/* ------------------------------------------------------------------ restore */

static int
add(const struct ipw_conf *conf, void *arg)
{
	int err = wire_add(conf);

	if (err != 0 && err != EEXIST) {
		errno = err;
		tool_err(arg, "%s: the wire of the former domain cannot be "
			"made again", conf->name);
	}
	return err;
}

static int
impair(const struct ipw_impair *im, void *arg)
{
	struct ipw_impair v = *im;
	int fd = wire_open(arg), err = 0;

	if (wire_command(fd, IPW_IMPAIR, &v, sizeof(v)) < 0)
		err = errno;
	(void)close(fd);
	return err;
}

/* Saving replaces the file, so it is closed then. */
static int
restore(const struct tool *t)
{
	struct wirefile_ops ops = { add, impair, (void *)(uintptr_t)t };
	int err;

	(void)wirefile_restore(&file, &ops);
	err = wirefile_save(&file);
	wirefile_close(&file);
	return err;
}

/* 0, or an errno after a message. */
static int
open_file(const struct tool *t, unsigned int flags)
{
	const char *where = strm_where();
	int err;

	if (where == NULL)
		snap_die(t);
	err = wirefile_open(&file, where, flags);
	if (err == 0 && file.old) {
		err = restore(t);
		/* a wire that could not be made again stays pending */
		if (err == 0)
			err = wirefile_open(&file, where, flags);
	}
	if (err == EBADMSG)
		tool_warn(t, "%s: the file of the wires is damaged: move it "
			"away, or remove it", file.path);
	else if (err == EACCES)
		tool_warn(t, "%s: the file of the wires does not belong to "
			"this user, or its mode is not 0600", file.path);
	else if (err != 0 && err != ENOENT) {
		errno = err;
		tool_err(t, "%s", file.path);
	}
	return err;
}

void
kept_look(const struct tool *t)
{
	(void)open_file(t, 0);
	wirefile_close(&file);
}

void
kept_begin(const struct tool *t)
{
	if (open_file(t, WIREFILE_MAKE) != 0)
		exit(TOOL_FAILED);
}

/* --------------------------------------------------------------------- keep */

/* The parameters of @name's impairment, without counters. */
static void
impairment(int fd, const char *name, struct ipw_impair *ret)
{
	struct ipw_impair im;

	memset(&im, 0, sizeof(im));
	memset(ret, 0, sizeof(*ret));
	memcpy(im.name, name, sizeof(im.name));
	if (wire_command(fd, IPW_IMPAIRED, &im, sizeof(im)) < 0)
		return;
	memcpy(ret->name, name, sizeof(ret->name));
	ret->loss = im.loss;
	ret->dup = im.dup;
	ret->reorder = im.reorder;
	ret->corrupt = im.corrupt;
	ret->delay = im.delay;
	ret->jitter = im.jitter;
	ret->limit = im.limit;
	ret->rate = im.rate;
	ret->seed = im.seed;
}

/* Enter the wires of the domain.  0, or an errno. */
static int
collect(int fd, struct wirefile *f)
{
	struct wirefile_entry *e;
	struct ipw_info in;

	memset(&in, 0, sizeof(in));
	for (; wire_command(fd, IPW_INFO, &in, sizeof(in)) == 0; in.index++) {
		if (f->n == WIREFILE_MAX)
			return ENOSPC;
		e = &f->entry[f->n];
		memset(e, 0, sizeof(*e));
		impairment(fd, in.conf.name, &e->impair);
		e->conf = in.conf;
		e->conf.mtu = in.conf.given;
		e->conf.given = 0;
		/* others end with the process that has made them */
		if (in.conf.kind == IPW_LO ? wirefile_impaired(&e->impair) :
			in.muxid != 0)
			f->n++;
	}
	return errno == ENXIO ? 0 : errno;
}

int
kept_end(const struct tool *t)
{
	static struct wirefile now;
	int fd, err;

	if (file.fd < 0)
		return TOOL_OK;
	now = file;
	now.n = 0;
	fd = wire_open(t);
	err = collect(fd, &now);
	(void)close(fd);
	for (unsigned int i = 0; err == 0 && i < file.n; i++) {
		if (!file.entry[i].pending ||
			wirefile_find(&now, file.entry[i].conf.name) != NULL)
			continue;
		if (now.n == WIREFILE_MAX)
			err = ENOSPC;
		else
			now.entry[now.n++] = file.entry[i];
	}
	if (err == 0)
		err = wirefile_save(&now);
	wirefile_close(&file);
	if (err == 0)
		return TOOL_OK;
	errno = err;
	tool_err(t, "%s", now.path);
	return TOOL_FAILED;
}

bool
kept_forget(const char *name)
{
	struct wirefile_entry *e = wirefile_find(&file, name);

	if (e == NULL || !e->pending)
		return false;
	*e = file.entry[--file.n];
	return true;
}
