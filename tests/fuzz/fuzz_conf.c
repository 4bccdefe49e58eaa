/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fuzz target: any bytes as configuration files.  The first byte says which:
 * streams.conf(5), autopush.conf(5), or the patterns of STREAMS_FIFOS.  What
 * was understood keeps the promises of its header, whatever else was there.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apconf.h"
#include "names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct names_conf conf;

static void
must(bool ok)
{
	if (!ok)
		abort();
}

static unsigned last_line, errors;

static void
mistake(void *arg, unsigned line, const char *what)
{
	(void)arg;
	must(line > last_line && what != NULL && what[0] != '\0');
	last_line = line;
	errors++;
}

static bool
ends(const char *s, size_t size)
{
	return memchr(s, '\0', size) != NULL;
}

static void
names(const char *text, size_t size)
{
	struct streams_name n;
	char path[64];
	int bad;

	memset(&conf, 0, sizeof(conf));
	last_line = errors = 0;
	bad = names_parse(&conf, text, size, mistake, NULL);
	must(bad >= 0 && (unsigned)bad == errors);
	must(conf.nrule <= NAMES_MAXRULE && conf.nfifo <= conf.nrule);
	must(conf.ntext <= sizeof(conf.text));
	for (uint32_t i = 0; i < conf.nrule; i++) {
		const struct names_rule *r = &conf.rule[i];

		must(r->path >= conf.text &&
			r->path < conf.text + conf.ntext && r->path[0] == '/');
		must(ends(r->drv, sizeof(r->drv)));
		if (r->fifo)
			continue;
		must(r->drv[0] != '\0' && strncmp(r->path, "/dev/", 5) == 0);
		must(r->minor <= NAMES_MAXMINOR || r->minor >= NAMES_VARY);
		must((strchr(r->path, '%') != NULL) ==
			(r->minor == NAMES_VARY));
		/* a rule finds what it names, unless one before it does */
		if (r->minor == NAMES_VARY)
			continue;
		names_lookup(&conf, r->path, &n);
		must(n.kind != NAME_NONE && ends(n.drv, sizeof(n.drv)));
		must(n.minor <= NAMES_MAXMINOR);
	}
	/* the text as a name */
	size = size < sizeof(path) - 1 ? size : sizeof(path) - 1;
	memcpy(path, text, size);
	path[size] = '\0';
	names_lookup(&conf, path, &n);
	must(ends(n.drv, sizeof(n.drv)) && n.minor <= NAMES_MAXMINOR);
	if (n.kind == NAME_NONE)
		must(n.drv[0] == '\0');
}

static int
entry(void *arg, unsigned line, struct strapush *ap)
{
	(void)arg;
	must(line > last_line);
	last_line = line;
	must(ap->sap_cmd >= SAP_ONE && ap->sap_cmd <= SAP_ALL);
	must(ap->sap_npush >= 1 && ap->sap_npush <= MAXAPUSH);
	must(ap->sap_major >= -1 && ap->sap_minor >= 0);
	must((ap->sap_major == -1) == (ap->sap_module[0] != '\0'));
	must(ap->sap_cmd != SAP_RANGE || ap->sap_lastminor > ap->sap_minor);
	must(ap->sap_anchor >= 0 && ap->sap_anchor <= (int)ap->sap_npush);
	must(ends(ap->sap_module, sizeof(ap->sap_module)));
	for (unsigned i = 0; i < ap->sap_npush; i++)
		must(ap->sap_list[i][0] != '\0' &&
			ends(ap->sap_list[i], sizeof(ap->sap_list[i])));
	return 0;
}

static void
patterns(char *text)
{
	static const char *const path[] = { "/tmp/a", "/tmp/ab/c", "/", "",
		"/tmp/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };

	memset(&conf, 0, sizeof(conf));
	must(names_fifos(&conf, text) >= 0);
	must(conf.nfifo == conf.nrule);
	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++)
		(void)names_match(text, path[i]);
	/* a name without anything special is its own pattern */
	if (strpbrk(text, "*?[") == NULL)
		must(names_match(text, text));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size == 0)
		return 0;
	/* of just that size, so that a sanitizer sees its end */
	text = malloc(size);
	must(text != NULL);
	memcpy(text, data + 1, size - 1);
	last_line = errors = 0;
	switch (data[0] % 3) {
	case 0:
		names(text, size - 1);
		break;
	case 1:
		(void)apconf_parse(text, size - 1, entry, mistake, NULL);
		break;
	default:
		text[size - 1] = '\0';
		patterns(text);
		break;
	}
	free(text);
	return 0;
}
