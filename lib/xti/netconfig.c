/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Network selection: the transports in netconfig(5), in the file's order or in
 * the order of NETPATH.
 *
 * The file is what STREAMS_NETCONFIG names, else the one that was installed;
 * without one, what was built in.  It is read by each setnetconfig(), into
 * one block, so that what a handle gives does not change under its user.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include <netconfig.h>
#include <str/inspect.h>

#include "nc.h"
#include "xti_impl.h"

#define HANDLE 0x6e657463u
#define MAX_ENTRIES 128u
#define MAX_FILE 65536u

/* Errors, nc_sperror(). */
enum { NC_NOERROR, NC_NOMEM, NC_NOSET, NC_OPENFAIL, NC_BADLINE, NC_NOTFOUND,
	NC_NOMOREENTRIES };

static __thread int nc_error;

struct handle {
	unsigned magic;
	unsigned n, next;
	char *text;		 /* the entries' strings */
	struct netconfig ent[MAX_ENTRIES];
	char *lookups[MAX_ENTRIES][NC_MAXLOOKUPS];
	/* of getnetpath() */
	char *path, *at;
};

STR_EXPORT char *
nc_sperror(void)
{
	static char *const text[] = {
		[NC_NOERROR] = (char *)"no error",
		[NC_NOMEM] = (char *)"out of memory",
		[NC_NOSET] = (char *)"not a handle of setnetconfig()",
		[NC_OPENFAIL] = (char *)"the file cannot be read",
		[NC_BADLINE] = (char *)"a line of the file is wrong",
		[NC_NOTFOUND] = (char *)"no such transport",
		[NC_NOMOREENTRIES] = (char *)"no more entries",
	};

	return text[nc_error];
}

STR_EXPORT void
nc_perror(const char *msg)
{
	fprintf(stderr, "%s: %s\n", msg != NULL ? msg : "", nc_sperror());
}

/* ------------------------------------------------------------------- reading */

/* The file's text, malloc'ed.  NULL also when another user can have chosen it. */
static char *
slurp(const char *path, int chosen)
{
	char *p = malloc(MAX_FILE + 1);
	long n = p != NULL ? strm_config(path, chosen, p, MAX_FILE) : -1;

	if (n < 0) {
		free(p);
		return NULL;
	}
	p[n] = '\0';
	return p;
}

static char *
text(void)
{
	const char *env = secure_getenv("STREAMS_NETCONFIG");
	char *p;

	if (env != NULL)
		return slurp(env, 1);
	p = slurp(XTI_NETCONFIG, 0);
	return p != NULL ? p : strdup(netconfig_builtin);
}

/* The next word of *p, which it ends with a null; NULL: no more. */
static char *
word(char **p)
{
	char *s = *p, *w;

	while (*s == ' ' || *s == '\t')
		s++;
	if (*s == '\0')
		return NULL;
	w = s;
	while (*s != '\0' && *s != ' ' && *s != '\t')
		s++;
	if (*s != '\0')
		*s++ = '\0';
	*p = s;
	return w;
}

static int
semantics(const char *w)
{
	if (strcmp(w, "tpi_clts") == 0 || strcmp(w, "clts") == 0)
		return NC_TPI_CLTS;
	if (strcmp(w, "tpi_cots") == 0 || strcmp(w, "cots") == 0)
		return NC_TPI_COTS;
	if (strcmp(w, "tpi_cots_ord") == 0 || strcmp(w, "cots_ord") == 0)
		return NC_TPI_COTS_ORD;
	if (strcmp(w, "tpi_raw") == 0 || strcmp(w, "raw") == 0)
		return NC_TPI_RAW;
	return 0;
}

static int
flags(const char *w, unsigned *ret)
{
	*ret = NC_NOFLAG;
	for (; *w != '\0'; w++)
		switch (*w) {
		case 'v':
			*ret |= NC_VISIBLE;
			break;
		case 'b':
			*ret |= NC_BROADCAST;
			break;
		case 'm':
			*ret |= NC_MULTICAST;
			break;
		case '-':
			break;
		default:
			return 0;
		}
	return 1;
}

/*
 * One line: netid, semantics, flags, family, protocol, device, libraries.
 * Return: 1 an entry, 0 nothing, -1 wrong.
 */
int
xti_nc_line(char *line, struct netconfig *nc, char *lookups[NC_MAXLOOKUPS])
{
	char *w[7], *hash = strchr(line, '#'), *p;
	unsigned n = 0;

	if (hash != NULL)
		*hash = '\0';
	while (n < 7 && (w[n] = word(&line)) != NULL)
		n++;
	if (n == 0)
		return 0;
	if (n != 7 || word(&line) != NULL)
		return -1;
	memset(nc, 0, sizeof(*nc));
	nc->nc_netid = w[0];
	nc->nc_semantics = (unsigned)semantics(w[1]);
	nc->nc_protofmly = w[3];
	nc->nc_proto = w[4];
	nc->nc_device = w[5];
	nc->nc_lookups = lookups;
	if (nc->nc_semantics == 0 || !flags(w[2], &nc->nc_flag))
		return -1;
	if (strcmp(w[6], "-") == 0)
		return 1;
	for (p = strtok_r(w[6], ",", &line); p != NULL;
		p = strtok_r(NULL, ",", &line)) {
		if (nc->nc_nlookups == NC_MAXLOOKUPS)
			return -1;
		lookups[nc->nc_nlookups++] = p;
	}
	return 1;
}

STR_EXPORT void *
setnetconfig(void)
{
	struct handle *h = calloc(1, sizeof(*h));
	char *line, *p;
	int ret;

	nc_error = NC_NOMEM;
	if (h == NULL)
		return NULL;
	h->text = text();
	if (h->text == NULL) {
		nc_error = NC_OPENFAIL;
		free(h);
		return NULL;
	}
	h->magic = HANDLE;
	for (line = strtok_r(h->text, "\n", &p); line != NULL;
		line = strtok_r(NULL, "\n", &p)) {
		if (h->n == MAX_ENTRIES)
			break;
		ret = xti_nc_line(line, &h->ent[h->n], h->lookups[h->n]);
		if (ret < 0) {
			nc_error = NC_BADLINE;
			free(h->text);
			free(h);
			return NULL;
		}
		h->n += (unsigned)ret;
	}
	nc_error = NC_NOERROR;
	return h;
}

static struct handle *
check(void *handle)
{
	struct handle *h = handle;

	if (h != NULL && h->magic == HANDLE)
		return h;
	nc_error = NC_NOSET;
	return NULL;
}

STR_EXPORT struct netconfig *
getnetconfig(void *handle)
{
	struct handle *h = check(handle);

	if (h == NULL)
		return NULL;
	if (h->next == h->n) {
		nc_error = NC_NOMOREENTRIES;
		return NULL;
	}
	return &h->ent[h->next++];
}

STR_EXPORT int
endnetconfig(void *handle)
{
	struct handle *h = check(handle);

	if (h == NULL)
		return -1;
	h->magic = 0;
	free(h->path);
	free(h->text);
	free(h);
	return 0;
}

static struct netconfig *
find(struct handle *h, const char *netid)
{
	for (unsigned i = 0; i < h->n; i++)
		if (strcmp(h->ent[i].nc_netid, netid) == 0)
			return &h->ent[i];
	nc_error = NC_NOTFOUND;
	return NULL;
}

/* ------------------------------------------------------------------ one entry */

/* A copy of @from in one block, so that it is freed at once. */
static struct netconfig *
copy(const struct netconfig *from)
{
	const char *s[4] = {from->nc_netid, from->nc_protofmly, from->nc_proto,
		from->nc_device};
	size_t size = sizeof(*from) + from->nc_nlookups * sizeof(char *), n;
	struct netconfig *nc;
	char *p, *to[4];

	for (int i = 0; i < 4; i++)
		size += strlen(s[i]) + 1;
	for (unsigned i = 0; i < from->nc_nlookups; i++)
		size += strlen(from->nc_lookups[i]) + 1;
	nc = malloc(size);
	if (nc == NULL) {
		nc_error = NC_NOMEM;
		return NULL;
	}
	*nc = *from;
	nc->nc_lookups = (char **)(void *)(nc + 1);
	p = (char *)(nc->nc_lookups + from->nc_nlookups);
	for (int i = 0; i < 4; i++) {
		n = strlen(s[i]) + 1;
		to[i] = memcpy(p, s[i], n);
		p += n;
	}
	for (unsigned i = 0; i < from->nc_nlookups; i++) {
		n = strlen(from->nc_lookups[i]) + 1;
		nc->nc_lookups[i] = memcpy(p, from->nc_lookups[i], n);
		p += n;
	}
	nc->nc_netid = to[0];
	nc->nc_protofmly = to[1];
	nc->nc_proto = to[2];
	nc->nc_device = to[3];
	return nc;
}

STR_EXPORT struct netconfig *
getnetconfigent(const char *netid)
{
	struct handle *h = setnetconfig();
	struct netconfig *nc;

	if (h == NULL)
		return NULL;
	nc = netid != NULL ? find(h, netid) : NULL;
	if (nc != NULL)
		nc = copy(nc);
	else
		nc_error = NC_NOTFOUND;
	(void)endnetconfig(h);
	return nc;
}

STR_EXPORT void
freenetconfigent(struct netconfig *ent)
{
	free(ent);
}

/* --------------------------------------------------------------------- NETPATH */

STR_EXPORT void *
setnetpath(void)
{
	struct handle *h = setnetconfig();
	const char *env = getenv(NETPATH);

	if (h == NULL || env == NULL)
		return h;
	h->path = h->at = strdup(env);
	if (h->path == NULL) {
		(void)endnetconfig(h);
		nc_error = NC_NOMEM;
		return NULL;
	}
	return h;
}

/* The next component; a colon or backslash may be quoted by a backslash. */
static char *
component(char **at)
{
	char *s = *at, *from = s, *to = s;

	if (*s == '\0')
		return NULL;
	for (; *from != '\0' && *from != ':'; from++) {
		if (*from == '\\' && from[1] != '\0')
			from++;
		*to++ = *from;
	}
	*at = *from == ':' ? from + 1 : from;
	*to = '\0';
	return s;
}

STR_EXPORT struct netconfig *
getnetpath(void *handle)
{
	struct handle *h = check(handle);
	struct netconfig *nc;
	char *id;

	if (h == NULL)
		return NULL;
	if (h->path == NULL) {
		while ((nc = getnetconfig(h)) != NULL &&
			(nc->nc_flag & NC_VISIBLE) == 0)
			;
		return nc;
	}
	/* names that mean nothing are passed over */
	while ((id = component(&h->at)) != NULL)
		if ((nc = find(h, id)) != NULL)
			return nc;
	nc_error = NC_NOMOREENTRIES;
	return NULL;
}

STR_EXPORT int
endnetpath(void *handle)
{
	return endnetconfig(handle);
}
