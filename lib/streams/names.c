/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The device namespace.
 *
 * Life.  The configuration is read by the first open(2) of a process that
 * needs it, into separate pages (no malloc, because an allocator may open
 * files), and does not change until the process ends or execs.  The source is
 * STREAMS_CONF if set, else streams.conf in the system's configuration
 * directory, else the built-in copy; STREAMS_FIFOS adds patterns to any of
 * them.  Set-id programs ignore the environment.
 *
 * A file that another user may have chosen (host/user/trust.c) is ignored, and
 * so are lines that cannot be parsed.
 *
 * Locks.  None: the first thread publishes its result by one compare-and-swap,
 * others discard theirs.
 *
 * Order.  First the rules, of which the first match is used; then the names
 * without a rule (/dev/streams/...); then the patterns of FIFOs.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "names.h"
#include "sys.h"
#include "user_impl.h"

#include <str/types.h>

#ifndef STREAMS_SYSCONF
#define STREAMS_SYSCONF "/etc/streams.conf"
#endif

#define NAMES_NO ((struct names_conf *)1) /* no memory for one */

static struct names_conf *names_now;

/* -------------------------------------------------------------- patterns */

/* One character against a set; *@ret_end is behind its bracket. */
static bool
match_set(const char *p, char c, const char **ret_end)
{
	bool no = *p == '!' || *p == '^', hit = false;
	const char *first;

	p += no;
	for (first = p; *p != '\0' && (*p != ']' || p == first); p++) {
		char lo = *p;

		if (p[1] == '-' && p[2] != '\0' && p[2] != ']') {
			hit |= c >= lo && c <= p[2];
			p += 2;
		} else {
			hit |= c == lo;
		}
	}
	*ret_end = *p == ']' ? p + 1 : NULL; /* NULL: not a set */
	return hit != no && c != '/';
}

/*
 * Backtracks to the last star only: the time is bounded by the product of the
 * lengths.
 */
bool
names_match(const char *p, const char *s)
{
	const char *star = NULL, *from = NULL;

	while (*s != '\0') {
		const char *end = NULL;
		bool ok;

		if (*p == '*') {
			star = ++p;
			from = s;
			continue;
		}
		if (*p == '[') {
			ok = match_set(p + 1, *s, &end);
			if (end == NULL) {
				ok = *s == '[';
				end = p + 1;
			}
		} else {
			ok = *p == '?' ? *s != '/' : *p == *s;
			end = p + 1;
		}
		if (ok && *p != '\0') {
			p = end;
			s++;
		} else if (star != NULL && *from != '/') {
			p = star;
			s = ++from;
		} else {
			return false;
		}
	}
	while (*p == '*')
		p++;
	return *p == '\0';
}

/* ---------------------------------------------------------------- parser */

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool
is_driver(const char *s, size_t n)
{
	if (n == 0 || n > FMNAMESZ)
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = s[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    c == '_' ||
			    (i > 0 && ((c >= '0' && c <= '9') || c == '-' ||
					      c == '.'))))
			return false;
	}
	return true;
}

/* A decimal number without a sign or leading zeros. */
static bool
is_minor(const char *s, size_t n, uint32_t *ret)
{
	uint32_t v = 0;

	if (n == 0 || n > 6 || (n > 1 && s[0] == '0'))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		v = v * 10 + (uint32_t)(s[i] - '0');
	}
	if (v > NAMES_MAXMINOR)
		return false;
	*ret = v;
	return true;
}

struct word {
	const char *s;
	size_t n;
};

static bool
is_word(struct word w, const char *s)
{
	return w.n == strlen(s) && memcmp(w.s, s, w.n) == 0;
}

/* Up to @max words of a line; @max + 1: there are more. */
static unsigned
split(const char *s, const char *end, struct word *w, unsigned max)
{
	unsigned n = 0;

	for (;;) {
		while (s < end && is_blank(*s))
			s++;
		if (s == end || *s == '#')
			return n;
		if (n == max)
			return max + 1;
		w[n].s = s;
		while (s < end && !is_blank(*s))
			s++;
		w[n].n = (size_t)(s - w[n].s);
		n++;
	}
}

static const char *
add_rule(struct names_conf *c, struct word path, const struct word *drv,
	uint32_t minor)
{
	struct names_rule *r;

	if (path.n >= PATH_MAX || path.n + 1 > sizeof(c->text) - c->ntext)
		return "path too long";
	if (c->nrule == NAMES_MAXRULE)
		return "too many lines";
	for (size_t i = 0; i < path.n; i++)
		if ((unsigned char)path.s[i] < ' ' || path.s[i] == 0x7f)
			return "control character in a path";
	r = &c->rule[c->nrule];
	r->path = c->text + c->ntext;
	memcpy(c->text + c->ntext, path.s, path.n);
	c->ntext += (uint32_t)path.n;
	c->text[c->ntext++] = '\0';
	memset(r->drv, 0, sizeof(r->drv));
	r->fifo = drv == NULL;
	if (drv != NULL)
		memcpy(r->drv, drv->s, drv->n);
	else
		c->nfifo++;
	r->minor = minor;
	c->nrule++;
	return NULL;
}

static const char *
parse_dev(struct names_conf *c, const struct word *w, unsigned n)
{
	uint32_t minor = NAMES_CLONE;
	const char *vary;

	if (n < 3)
		return "dev wants a path and a driver";
	if (n > 4)
		return "too many words";
	if (w[1].n < 6 || memcmp(w[1].s, "/dev/", 5) != 0)
		return "a device's path begins with /dev/";
	if (!is_driver(w[2].s, w[2].n))
		return "not a driver's name";
	if (n == 4 && is_word(w[3], "%"))
		minor = NAMES_VARY;
	else if (n == 4 && !is_word(w[3], "clone") &&
		!is_minor(w[3].s, w[3].n, &minor))
		return "a minor is a number, \"clone\" or \"%\"";
	vary = memchr(w[1].s, '%', w[1].n);
	if ((vary != NULL) != (minor == NAMES_VARY))
		return "% stands in the path and for the minor, or in neither";
	if (vary != NULL && memchr(vary + 1, '%',
				    w[1].n - (size_t)(vary + 1 - w[1].s)))
		return "more than one % in a path";
	return add_rule(c, w[1], &w[2], minor);
}

static const char *
parse_fifo(struct names_conf *c, const struct word *w, unsigned n)
{
	if (n < 2)
		return "fifo wants a pattern";
	if (n > 2)
		return "too many words";
	if (w[1].s[0] != '/')
		return "a pattern begins with /";
	return add_rule(c, w[1], NULL, 0);
}

int
names_parse(struct names_conf *c, const char *text, size_t len,
	names_error *err, void *arg)
{
	const char *s = text, *end = text + len;
	unsigned line = 0;
	int bad = 0;

	while (s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		const char *what = NULL;
		struct word w[5];
		unsigned n;

		if (nl == NULL)
			nl = end;
		line++;
		n = split(s, nl, w, 4);
		if (n != 0 && is_word(w[0], "dev"))
			what = parse_dev(c, w, n);
		else if (n != 0 && is_word(w[0], "fifo"))
			what = parse_fifo(c, w, n);
		else if (n != 0)
			what = "a line begins with \"dev\" or \"fifo\"";
		if (what != NULL) {
			bad++;
			if (err != NULL)
				err(arg, line, what);
		}
		s = nl == end ? end : nl + 1;
	}
	return bad;
}

int
names_fifos(struct names_conf *c, const char *list)
{
	int bad = 0;

	while (*list != '\0') {
		size_t n = strcspn(list, ":");
		struct word w = { list, n };

		if (n != 0 && (*list != '/' || add_rule(c, w, NULL, 0) != NULL))
			bad++;
		list += n + (list[n] == ':');
	}
	return bad;
}

/* ---------------------------------------------------------------- lookup */

/* Does @path match the rule of a device?  Sets *ret_minor only if it varies. */
static bool
fits(const struct names_rule *r, const char *path, uint32_t *ret_minor)
{
	const char *vary;
	size_t before, after, n;

	if (r->minor != NAMES_VARY)
		return strcmp(r->path, path) == 0;
	vary = strchr(r->path, '%');
	n = strlen(path);
	before = (size_t)(vary - r->path);
	after = strlen(vary + 1);
	if (n < before + after + 1 || memcmp(path, r->path, before) != 0 ||
		memcmp(path + n - after, vary + 1, after) != 0)
		return false;
	return is_minor(path + before, n - before - after, ret_minor);
}

static void
found(struct streams_name *ret, const char *drv, size_t n, uint32_t minor)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->drv, drv, n);
	ret->minor = minor == NAMES_CLONE ? 0 : minor;
	if (strcmp(ret->drv, "pipe") == 0)
		ret->kind = NAME_PIPE;
	else if (minor == NAMES_CLONE)
		ret->kind = NAME_CLONE;
	else if (strcmp(ret->drv, "fifo") == 0)
		ret->kind = NAME_FIFO;
	else
		ret->kind = NAME_DEV;
}

/*
 * /dev/streams/clone/DRV, /dev/streams/DRV, /dev/streams/DRV/MINOR; and each of
 * the last two also below nsdev/, nsdev(4)
 */
static bool
by_form(const char *s, struct streams_name *ret)
{
	const char *slash;
	uint32_t minor;

	if (strncmp(s, "nsdev/", 6) == 0)
		s += 6;
	slash = strchr(s, '/');

	if (slash == NULL) {
		if (!is_driver(s, strlen(s)) || strcmp(s, "clone") == 0)
			return false;
		found(ret, s, strlen(s), NAMES_CLONE);
		return true;
	}
	if (slash == s + 5 && memcmp(s, "clone", 5) == 0) {
		s = slash + 1;
		if (!is_driver(s, strlen(s)))
			return false;
		found(ret, s, strlen(s), NAMES_CLONE);
		return true;
	}
	if (!is_driver(s, (size_t)(slash - s)) ||
		!is_minor(slash + 1, strlen(slash + 1), &minor))
		return false;
	found(ret, s, (size_t)(slash - s), minor);
	return true;
}

void
names_lookup(const struct names_conf *c, const char *path,
	struct streams_name *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (strncmp(path, "/dev/", 5) == 0) {
		for (uint32_t i = 0; i < c->nrule; i++) {
			const struct names_rule *r = &c->rule[i];
			uint32_t minor = r->minor;

			if (r->fifo || !fits(r, path, &minor))
				continue;
			found(ret, r->drv, strlen(r->drv), minor);
			return;
		}
		if (strncmp(path, "/dev/streams/", 13) == 0 &&
			by_form(path + 13, ret))
			return;
	}
	for (uint32_t i = 0; c->nfifo != 0 && i < c->nrule; i++) {
		if (!c->rule[i].fifo || !names_match(c->rule[i].path, path))
			continue;
		ret->kind = NAME_FIFO;
		return;
	}
}

/* ------------------------------------------------------------ its source */

static int
stat_at(int dir, const char *path, struct stat *st, int flags)
{
#ifdef SYS_newfstatat
	return (int)sys_call4(SYS_newfstatat, dir, path, st, flags);
#else
	return (int)sys_call4(SYS_fstatat, dir, path, st, flags);
#endif
}

long
names_read(const char *path, unsigned how, char *buf, size_t size,
	char why[NAMES_WHY])
{
	struct stat st;
	size_t got = 0;
	long n;
	int fd;

	n = -host_trust_open(path, how, &fd, why, NAMES_WHY);
	if (n < 0)
		return n;
	n = stat_at(fd, "", &st, AT_EMPTY_PATH);
	if (n == 0 && (uint64_t)st.st_size > size)
		n = -EFBIG;
	if (n == -EFBIG)
		(void)snprintf(why, NAMES_WHY, "it is too large");
	while (n == 0 && got < size) {
		long more = sys_read(fd, buf + got, size - got);

		if (more == -EINTR)
			continue;
		if (more < 0)
			n = more;
		if (more <= 0)
			break;
		got += (size_t)more;
	}
	(void)sys_close(fd);
	return n < 0 ? n : (long)got;
}

long
names_config(const char *path, unsigned how, char *buf, size_t size)
{
	char why[NAMES_WHY];
	long n = names_read(path, how, buf, size, why);

	if (n < 0 && (n != -ENOENT || (how & HOST_TRUST_CHOSEN)))
		host_trust_tell(path, why);
	return n;
}

static void
fill(struct names_conf *c, char *buf)
{
	const char *env = secure_getenv("STREAMS_CONF");
	long n = -ENOENT;

	if (env != NULL && env[0] != '\0')
		n = names_config(env, HOST_TRUST_CHOSEN, buf, NAMES_MAXTEXT);
	if (n < 0)
		n = names_config(STREAMS_SYSCONF, 0, buf, NAMES_MAXTEXT);
	if (n >= 0)
		(void)names_parse(c, buf, (size_t)n, NULL, NULL);
	else
		(void)names_parse(c, names_builtin, strlen(names_builtin), NULL,
			NULL);
	env = secure_getenv("STREAMS_FIFOS");
	if (env != NULL)
		(void)names_fifos(c, env);
}

static struct names_conf *
load(void)
{
	struct names_conf *c, *none = NULL;
	size_t size = sizeof(*c) + NAMES_MAXTEXT;
	long p = sys_call6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p < 0 && p > -4096) {
		c = NAMES_NO;
	} else {
		c = (struct names_conf *)p;
		fill(c, (char *)(c + 1));
		/* the file's text is not needed any more */
		(void)sys_call3(SYS_madvise,
			STR_ROUNDUP((uintptr_t)(c + 1), (uintptr_t)4096),
			NAMES_MAXTEXT - 4096, MADV_DONTNEED);
	}
	/* release: pairs with the acquire in streams_name_resolve() */
	if (__atomic_compare_exchange_n(&names_now, &none, c, false,
		    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return c;
	if (c != NAMES_NO)
		(void)sys_call2(SYS_munmap, c, size);
	return none;
}

/* ------------------------------------------------------------------ open */

/* An absolute path without doubled slashes; @size is PATH_MAX. */
static int
absolute(const char *path, char *buf, size_t size)
{
	size_t n = 0;

	if (path[0] != '/') {
		long len = sys_call2(SYS_getcwd, buf, size);

		if (len <= 1 || buf[0] != '/')
			return ENOENT; /* an unreachable directory */
		n = (size_t)len - 1;
		if (n > 1)
			buf[n++] = '/';
		while (path[0] == '.' && path[1] == '/')
			for (path++; *path == '/'; path++)
				;
	}
	for (; *path != '\0'; path++) {
		if (*path == '/' && n != 0 && buf[n - 1] == '/')
			continue;
		if (n + 1 >= size)
			return ENAMETOOLONG;
		buf[n++] = *path;
	}
	buf[n] = '\0';
	return 0;
}

bool
streams_name_device(const char *path, struct streams_name *ret)
{
	struct names_conf *c = __atomic_load_n(&names_now, __ATOMIC_ACQUIRE);
	char buf[PATH_MAX];

	if (c == NULL || c == NAMES_NO || absolute(path, buf, sizeof(buf)) != 0)
		return false;
	names_lookup(c, buf, ret);
	return ret->kind != NAME_NONE && ret->kind != NAME_FIFO;
}

int
streams_name_resolve(const char *path, struct streams_name *ret)
{
	struct names_conf *c = __atomic_load_n(&names_now, __ATOMIC_ACQUIRE);
	char buf[PATH_MAX];
	struct stat st;
	int err;

	memset(ret, 0, sizeof(*ret));
	if (path == NULL || path[0] == '\0')
		return 0;
	if (c == NULL)
		c = load();
	if (c == NAMES_NO ||
		(c->nfifo == 0 && strncmp(path, "/dev/", 5) != 0))
		return 0;
	err = absolute(path, buf, sizeof(buf));
	if (err != 0)
		return err == ENOENT ? 0 : err;
	names_lookup(c, buf, ret);
	if (ret->kind == NAME_NONE)
		return 0;
	err = stat_at(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);
	if (ret->drv[0] == '\0') {
		/* a FIFO's name may be a link, as in the kernel */
		if (err == 0 && S_ISLNK(st.st_mode))
			err = stat_at(AT_FDCWD, path, &st, 0);
		if (err < 0 || !S_ISFIFO(st.st_mode))
			memset(ret, 0, sizeof(*ret));
	} else if (err == 0 && !S_ISFIFO(st.st_mode) &&
		!S_ISREG(st.st_mode)) {
		memset(ret, 0, sizeof(*ret));
	}
	return 0;
}

bool
streams_name_fifos(void)
{
	struct names_conf *c = __atomic_load_n(&names_now, __ATOMIC_ACQUIRE);

	if (c == NULL)
		c = load();
	return c != NAMES_NO && c->nfifo != 0;
}
