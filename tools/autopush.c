/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * autopush - sets and shows the modules that an open of a device pushes,
 * through the sad driver.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#include <sys/sad.h>

#include "lib/snap.h"
#include "apconf.h"
#include "names.h"

/* a configuration file may change the aliases in /dev */
#define ADMIN "/dev/streams/sad/0"
#define USER "/dev/streams/sad/1"

static struct tool tool = {
	.name = "autopush",
	.synopsis = "-f FILE\n"
		    "-s -M DRIVER [-c | -m MINOR [-l LAST]] MODULE ...\n"
		    "-r -M DRIVER [-m MINOR]\n"
		    "-g -M DRIVER [-m MINOR]\n"
		    "[--json]\n"
		    "-v MODULE ...",
	.purpose = "Set, remove, show or list the modules that an open of a "
		   "device pushes.",
	.help =
	"  -f, --file=FILE         add the entries in FILE (autopush.conf(5))\n"
	"  -s, --set               add one entry\n"
	"  -r, --reset             remove an entry\n"
	"  -g, --get               show the entry of a device\n"
	"  -v, --verify            print whether all names are modules\n"
	"  -M, --major=DRIVER      the driver, by name or major number\n"
	"  -N, --name=DRIVER       the same\n"
	"  -m, --minor=MINOR       the minor; without it, all minors\n"
	"  -l, --lastminor=LAST    the last minor of a range from MINOR on\n"
	"  -c, --clone             all minors\n"
	"  -x, --explain           no effect\n"
	"      --json              list the entries as JSON\n",
	.options = "f:srgvM:N:m:l:cx",
};

static const struct option longs[] = {
	{ "file", required_argument, NULL, 'f' },
	{ "set", no_argument, NULL, 's' },
	{ "reset", no_argument, NULL, 'r' },
	{ "get", no_argument, NULL, 'g' },
	{ "verify", no_argument, NULL, 'v' },
	{ "major", required_argument, NULL, 'M' },
	{ "name", required_argument, NULL, 'N' },
	{ "minor", required_argument, NULL, 'm' },
	{ "lastminor", required_argument, NULL, 'l' },
	{ "clone", no_argument, NULL, 'c' },
	{ "explain", no_argument, NULL, 'x' },
	{ "json", no_argument, NULL, TOOL_OPT_JSON },
	{ NULL, 0, NULL, 0 },
};

struct work {
	int fd;
	const char *path; /* of a configuration file */
	int failed;
	struct snap snap;
};

/* Open the sad device; @admin: for changes. */
static int
sad(bool admin)
{
	const char *dev = admin ? ADMIN : USER;
	int fd = open(dev, O_RDWR | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		tool_die(&tool, "%s", dev);
	return fd;
}

/* The registered driver of that name or major, or NULL. */
static const struct str_i_module *
driver(struct snap *s, const char *name, long major)
{
	const struct str_i *i;

	if (s->used == 0 && snap_take(s, STR_I_WANT_MODULES) != 0)
		snap_die(&tool);
	SNAP_EACH (s, i) {
		const struct str_i_module *m = (const void *)i;

		if (i->kind != STR_I_MODULE || (m->kind & 2) == 0)
			continue;
		if (name != NULL ? strcmp(m->name, name) == 0 :
				   (long)m->major == major)
			return m;
	}
	return NULL;
}

/* Fill in the major number of a driver given by its name, if it has one. */
static void
number(struct snap *s, struct strapush *ap)
{
	const struct str_i_module *m;

	if (ap->sap_module[0] == '\0')
		return;
	m = driver(s, ap->sap_module, 0);
	ap->sap_major = m != NULL ? (long)m->major : -1;
}

static const char *
driver_name(struct snap *s, const struct strapush *ap)
{
	const struct str_i_module *m;
	static char buf[24];

	if (ap->sap_module[0] != '\0')
		return ap->sap_module;
	m = driver(s, NULL, ap->sap_major);
	snprintf(buf, sizeof(buf), "%ld", ap->sap_major);
	return m != NULL ? m->name : buf;
}

/* One entry, as a line of autopush.conf(5). */
static void
show(struct snap *s, const struct strapush *ap)
{
	printf("%s", driver_name(s, ap));
	if (ap->sap_cmd == SAP_ALL)
		printf("\t-1\t0");
	else
		printf("\t%ld\t%ld", ap->sap_minor,
			ap->sap_cmd == SAP_RANGE ? ap->sap_lastminor : 0);
	for (unsigned i = 0; i < ap->sap_npush && i < MAXAPUSH; i++)
		printf("%c%.8s%s", i == 0 ? '\t' : ' ', ap->sap_list[i],
			ap->sap_anchor == (int)i + 1 ? " [anchor]" : "");
	putchar('\n');
}

static void
show_json(struct json *j, struct snap *s, const struct strapush *ap)
{
	json_begin(j, NULL, '{');
	json_str(j, "driver", driver_name(s, ap));
	json_int(j, "major", ap->sap_major);
	if (ap->sap_cmd == SAP_ALL) {
		json_null(j, "minor");
		json_null(j, "lastminor");
	} else {
		json_int(j, "minor", ap->sap_minor);
		json_int(j, "lastminor", ap->sap_cmd == SAP_RANGE ?
			ap->sap_lastminor : ap->sap_minor);
	}
	json_begin(j, "modules", '[');
	for (unsigned i = 0; i < ap->sap_npush && i < MAXAPUSH; i++)
		json_str(j, NULL, ap->sap_list[i]);
	json_end(j, ']');
	json_int(j, "anchor", ap->sap_anchor);
	json_end(j, '}');
}

/* SAD_LAP returns the entry after its argument, and for major -1 the first. */
static int
list(struct work *w, bool as_json)
{
	struct json j = { .f = stdout };
	struct strapush ap = { .sap_major = -1 };

	w->fd = sad(false);
	if (as_json)
		json_begin(&j, NULL, '[');
	while (ioctl(w->fd, SAD_LAP, &ap) == 0) {
		if (as_json)
			show_json(&j, &w->snap, &ap);
		else
			show(&w->snap, &ap);
	}
	if (errno != ENODEV)
		tool_die(&tool, "SAD_LAP");
	if (as_json)
		json_end(&j, ']');
	return TOOL_OK;
}

static int
from_line(void *arg, unsigned line, struct strapush *ap)
{
	struct work *w = arg;

	number(&w->snap, ap);
	if (ioctl(w->fd, SAD_SAP, ap) != 0) {
		tool_err(&tool, "%s: line %u", w->path, line);
		w->failed = 1;
	}
	return 0;
}

static void
mistake(void *arg, unsigned line, const char *what)
{
	struct work *w = arg;

	tool_warn(&tool, "%s: line %u: %s", w->path, line, what);
	w->failed = 1;
}

static int
from_file(struct work *w, const char *path)
{
	char *text = malloc(APCONF_MAXTEXT + 1);
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	size_t n;

	w->path = path;
	if (f == NULL || text == NULL)
		tool_die(&tool, "%s", path);
	n = fread(text, 1, APCONF_MAXTEXT + 1, f);
	if (ferror(f) || n > APCONF_MAXTEXT) {
		if (!ferror(f))
			errno = EFBIG;
		tool_die(&tool, "%s", path);
	}
	if (f != stdin)
		(void)fclose(f);
	w->fd = sad(true);
	(void)apconf_parse(text, n, from_line, mistake, w);
	free(text);
	return w->failed ? TOOL_FAILED : TOOL_OK;
}

static int
verify(char **name, int n)
{
	struct str_mlist *v = calloc((size_t)n, sizeof(*v));
	struct str_list l = { n, v };
	int yes;

	if (v == NULL)
		tool_die(&tool, "%d names", n);
	for (int i = 0; i < n; i++) {
		if (strlen(name[i]) > FMNAMESZ)
			tool_usage(&tool, "not a name of a module: %s", name[i]);
		strcpy(v[i].l_name, name[i]);
	}
	yes = ioctl(sad(false), SAD_VML, &l);
	if (yes < 0)
		tool_die(&tool, "SAD_VML");
	if (!tool.quiet)
		printf("%s\n", yes == 0 ? "yes" : "no");
	free(v);
	return yes == 0 ? TOOL_OK : TOOL_FAILED;
}

static void
of_operands(struct strapush *ap, char **name, int n)
{
	if (n < 1 || n > MAXAPUSH)
		tool_usage(&tool, "give 1 to %d modules", MAXAPUSH);
	for (int i = 0; i < n; i++) {
		if (strcmp(name[i], "[anchor]") == 0 && i > 0) {
			ap->sap_anchor = (int)ap->sap_npush;
			continue;
		}
		if (name[i][0] == '\0' || strlen(name[i]) > FMNAMESZ)
			tool_usage(&tool, "not a name of a module: %s", name[i]);
		strcpy(ap->sap_list[ap->sap_npush++], name[i]);
	}
}

static void
of_driver(struct strapush *ap, const char *s)
{
	long v;

	if (s == NULL)
		tool_usage(&tool, "-M DRIVER is required");
	if (tool_number(s, 0, 1L << 30, &v)) {
		ap->sap_major = v;
		return;
	}
	if (s[0] == '\0' || strlen(s) > FMNAMESZ)
		tool_usage(&tool, "not a driver: %s", s);
	strcpy(ap->sap_module, s);
}

static int
one(struct work *w, int what, struct strapush *ap)
{
	number(&w->snap, ap);
	w->fd = sad(what != 'g');
	if (what == 'r')
		ap->sap_cmd = SAP_CLEAR;
	if (ioctl(w->fd, what == 'g' ? SAD_GAP : SAD_SAP, ap) != 0)
		tool_die(&tool, "%s", driver_name(&w->snap, ap));
	if (what == 'g')
		show(&w->snap, ap);
	return TOOL_OK;
}

int
main(int argc, char **argv)
{
	const char *file = NULL, *drv = NULL;
	struct work w = { .fd = -1 };
	bool as_json = false, all = false;
	long minor = -1, last = -1;
	struct strapush ap;
	int c, what = 0, status;

	memset(&ap, 0, sizeof(ap));
	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0) {
		switch (c) {
		case 'f':
			file = optarg;
			/* fallthrough */
		case 's':
		case 'r':
		case 'g':
		case 'v':
			if (what != 0)
				tool_usage(&tool, "give only one of -f, -s, -r, -g and -v");
			what = c;
			break;
		case 'M':
		case 'N':
			drv = optarg;
			break;
		case 'm':
		case 'l':
			if (!tool_number(optarg, 0, NAMES_MAXMINOR,
				    c == 'm' ? &minor : &last))
				tool_usage(&tool, "not a minor: %s", optarg);
			break;
		case 'c':
			all = true;
			break;
		case 'x':
			tool.verbose++;
			break;
		case TOOL_OPT_JSON:
			as_json = true;
			break;
		}
	}
	argv += optind;
	argc -= optind;
	if (last >= 0 && (minor < 0 || last <= minor))
		tool_usage(&tool, "the number of -l must be greater than that of -m");
	if (all && minor >= 0)
		tool_usage(&tool, "give -c or -m, not both");
	if (what == 's' || what == 'r' || what == 'g') {
		of_driver(&ap, drv);
		if (what == 's')
			of_operands(&ap, argv, argc);
		else if (argc != 0)
			tool_usage(&tool, "too many arguments");
		ap.sap_cmd = minor < 0 ? SAP_ALL :
			last < 0 ? SAP_ONE : SAP_RANGE;
		/* -1: the entry for all minors, and no other */
		ap.sap_minor = minor < 0 && what == 's' ? 0 : minor;
		ap.sap_lastminor = last < 0 ? 0 : last;
		status = one(&w, what, &ap);
	} else if (what == 'v') {
		if (argc == 0)
			tool_usage(&tool, "a MODULE is required");
		status = verify(argv, argc);
	} else if (argc != 0 || drv != NULL) {
		tool_usage(&tool, "one of -s, -r and -g is required");
	} else {
		status = what == 'f' ? from_file(&w, file) : list(&w, as_json);
	}
	snap_free(&w.snap);
	return tool_done(&tool, status);
}
