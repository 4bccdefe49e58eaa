/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "left.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <str/inspect.h>

bool
nothing_left(char *why, size_t size)
{
	static _Alignas(8) char buf[1 << 20];
	const struct str_i_domain *d = (const void *)buf;
	long n = strm_inspect(buf, sizeof(buf), STR_I_WANT_MEMORY);

	if (n < (long)sizeof(*d)) {
		snprintf(why, size, "strm_inspect: %ld", n);
		return false;
	}
	snprintf(why, size, "%llu streams; blocks by kind:%llu %llu %llu %llu "
		"%llu %llu %llu %llu %llu %llu",
		(unsigned long long)d->nstream,
		(unsigned long long)d->blocks[2], (unsigned long long)d->blocks[3],
		(unsigned long long)d->blocks[4], (unsigned long long)d->blocks[5],
		(unsigned long long)d->blocks[6], (unsigned long long)d->blocks[7],
		(unsigned long long)d->blocks[8], (unsigned long long)d->blocks[9],
		(unsigned long long)d->blocks[10],
		(unsigned long long)d->blocks[12]);
	/* segments, queue pairs, streams, buffers, messages, files, links,
	 * signal registrations */
	return d->nstream == 0 && d->blocks[2] == 0 && d->blocks[3] == 0 &&
		d->blocks[4] == 0 && d->blocks[5] == 0 && d->blocks[6] == 0 &&
		d->blocks[9] == 0 && d->blocks[10] == 0 && d->blocks[12] == 0;
}

/* What is left of the kinds that nothing_left() counts. */
static void
dump_block(const struct str_i_block *b)
{
	static unsigned shown;

	if (shown == 100 || b->state < 2 || b->state == 7 || b->state == 8 || b->state == 11 ||
		b->state > 12)
		return;
	shown++;
	fprintf(stderr, "#   block %llx of %llu, kind %u owner %x word %llx",
		(unsigned long long)b->addr, (unsigned long long)b->size,
		b->state, b->owner, (unsigned long long)b->word);
	if (b->state == 6)
		fprintf(stderr, " parts %u type %x refs %u length %lld data %llx "
			"next %llx prev %llx cont %llx", b->parts, b->type,
			b->refs, (long long)b->length,
			(unsigned long long)b->data,
			(unsigned long long)b->next,
			(unsigned long long)b->prev,
			(unsigned long long)b->cont);
	for (unsigned i = 0; i < sizeof(b->first); i += 8) {
		unsigned long long word;

		memcpy(&word, b->first + i, sizeof(word));
		fprintf(stderr, " %016llx", word);
	}
	fprintf(stderr, "\n");
}

void
left_dump(void)
{
	static _Alignas(8) char buf[1 << 22];
	long n = strm_inspect(buf, sizeof(buf),
		STR_I_WANT_STREAMS | STR_I_WANT_BLOCKS), at;

	for (at = 0; at < n && at < (long)sizeof(buf);) {
		const struct str_i *i = (const void *)(buf + at);
		const struct str_i_stream *st = (const void *)i;
		const struct str_i_head *h = (const void *)i;
		const struct str_i_link *l = (const void *)i;
		const struct str_i_queue *q = (const void *)i;

		if (i->kind == STR_I_STREAM)
			fprintf(stderr, "# stream %llx kind %u %s %u closed %u "
				"under %llx closer %x busy %x plumber %x runner "
				"%x nrun %u late %u\n",
				(unsigned long long)st->sid, st->kind,
				st->driver, st->minor, st->closed,
				(unsigned long long)st->under, st->closer.tag,
				st->busy.tag, st->plumber.tag, st->runner.tag,
				st->nrun, st->late);
		else if (i->kind == STR_I_HEAD)
			fprintf(stderr, "#   head %u flags %x npush %u nfile %u "
				"refs %u npri %u count %llu\n", h->end, h->flags,
				h->npush, h->nfile, h->refs, h->npri,
				(unsigned long long)h->count);
		else if (i->kind == STR_I_LINK)
			fprintf(stderr, "#   link %d\n", (int)l->id);
		else if (i->kind == STR_I_QUEUE && q->nmsg + q->backlog != 0)
			fprintf(stderr, "#   queue %s %u side %u flag %x "
				"messages %u type %x backlog %u\n", q->name,
				q->depth, q->side, q->flag, q->nmsg,
				q->first_type, q->backlog);
		else if (i->kind == STR_I_BLOCK)
			dump_block((const void *)i);
		at += i->size;
		if (i->size == 0)
			break;
	}
}

void
left_call(const char *var, pid_t pid)
{
	const char *cmd = getenv(var);
	char line[300];

	if (cmd == NULL)
		return;
	snprintf(line, sizeof(line), "%s %d", cmd, (int)pid);
	(void)system(line);
}

uint64_t
cpu_wait(int fd)
{
	char buf[80] = "";
	unsigned long long ran, waited = 0;

	if (pread(fd, buf, sizeof(buf) - 1, 0) > 0)
		(void)sscanf(buf, "%llu %llu", &ran, &waited);
	return waited;
}

uint64_t
cpu_waited(pid_t pid)
{
	char path[48];
	uint64_t ns;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ns = cpu_wait(fd);
	(void)close(fd);
	return ns;
}

unsigned
env_number(const char *name, unsigned value, unsigned most)
{
	const char *s = getenv(name);
	unsigned v = s != NULL ? (unsigned)strtoul(s, NULL, 0) : value;

	return v < 1 ? 1 : v > most ? most : v;
}

pid_t
parent_of(pid_t pid, char comm[32])
{
	char path[64], buf[512], *p;
	ssize_t n = -1;
	int fd, ppid = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY);
	if (fd >= 0) {
		n = read(fd, buf, sizeof(buf) - 1);
		close(fd);
	}
	if (n <= 0)
		return 0;
	buf[n] = '\0';
	p = strrchr(buf, ')');
	if (p == NULL || sscanf(p, ") %*c %d", &ppid) != 1 || p[2] == 'Z')
		return 0;
	*p = '\0';
	snprintf(comm, 32, "%s", strchr(buf, '(') + 1);
	return ppid;
}

int
streamsd_of(pid_t parent, pid_t *ret_pid)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	char comm[32];
	int n = 0;

	*ret_pid = 0;
	while ((e = readdir(d)) != NULL) {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid <= 0 || parent_of(pid, comm) != parent ||
			strncmp(comm, "streamsd", 8) != 0)
			continue;
		*ret_pid = pid;
		n++;
	}
	closedir(d);
	return n;
}
