/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A snapshot as JSON.  The keys are an interface: strtop(1) lists them.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dump.h"

#define NOT_PAIR (1ull << 63)

const char *
dump_sid(uint64_t sid)
{
	static char buf[4][24];
	static unsigned n;

	n = (n + 1) % 4;
	snprintf(buf[n], sizeof(buf[n]), "%c%llu", sid & NOT_PAIR ? 's' : 'p',
		(unsigned long long)(sid & ~NOT_PAIR));
	return buf[n];
}

/* --------------------------------------------------------------- holders */

static int
add_holder(struct holders *h, uint64_t ino, uint32_t pid, int fd)
{
	struct holder *v;

	if (h->n == h->room) {
		size_t room = h->room * 2 + 64;

		v = realloc(h->v, room * sizeof(*v));
		if (v == NULL)
			return -1;
		h->v = v;
		h->room = room;
	}
	h->v[h->n++] = (struct holder){ ino, pid, fd };
	return 0;
}

static int
one_process(struct holders *h, uint32_t pid)
{
	char path[64], to[64];
	struct dirent *e;
	DIR *d;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	d = opendir(path);
	if (d == NULL)
		return 0; /* gone, or we may not read it */
	while (err == 0 && (e = readdir(d)) != NULL) {
		unsigned long long ino;
		ssize_t n;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		n = readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1);
		if (n <= 0)
			continue;
		to[n] = '\0';
		if (sscanf(to, "socket:[%llu]", &ino) == 1)
			err = add_holder(h, ino, pid, atoi(e->d_name));
	}
	(void)closedir(d);
	return err;
}

int
holders_take(struct holders *h, const struct snap *s)
{
	const struct str_i *i;
	int err = 0;

	h->n = 0;
	SNAP_EACH (s, i)
		if (i->kind == STR_I_PROC && err == 0) {
			const struct str_i_proc *p = (const void *)i;

			err = one_process(h, p->pid);
		}
	return err;
}

void
holders_free(struct holders *h)
{
	free(h->v);
	memset(h, 0, sizeof(*h));
}

void
holders_text(const struct holders *h, uint64_t ino, char *buf, size_t size)
{
	size_t n = strlen(buf);

	for (size_t i = 0; h != NULL && i < h->n && n + 1 < size; i++)
		if (h->v[i].ino == ino)
			n += (size_t)snprintf(buf + n, size - n, "%s%u:%d",
				n != 0 ? " " : "", h->v[i].pid, h->v[i].fd);
}

/* ------------------------------------------------------------------ JSON */

static void
dump_owner(struct json *j, const char *key, const struct str_i_owner *o)
{
	if (o->tag == 0) {
		json_null(j, key);
		return;
	}
	json_begin(j, key, '{');
	json_uint(j, "pid", o->pid);
	json_uint(j, "tid", o->tid);
	json_bool(j, "dead", o->dead);
	json_end(j, '}');
}

void
dump_domain(struct json *j, const struct snap *s)
{
	const struct str_i_domain *d = snap_domain(s);

	if (d == NULL)
		return;
	json_begin(j, "domain", '{');
	json_uint(j, "version", d->version);
	json_uint(j, "abi", d->abi);
	json_uint(j, "uid", d->uid);
	json_uint(j, "size", d->cap);
	json_uint(j, "committed", d->committed);
	json_uint(j, "used", d->used);
	json_bool(j, "expedited_fences", d->flags & STR_I_DOM_ASYM);
	json_bool(j, "eager", d->flags & STR_I_DOM_EAGER);
	json_uint(j, "streams", d->nstream);
	json_uint(j, "device_streams", d->ndev);
	json_uint(j, "wakes", d->wakes);
	json_uint(j, "tokens", d->tokens);
	json_uint(j, "sleeps", d->sleeps);
	json_uint(j, "elided", d->elided);
	json_begin(j, "blocks", '{');
	for (unsigned k = 1; k < STR_I_NBLK && snap_block_kind(k) != NULL; k++)
		json_uint(j, snap_block_kind(k), d->blocks[k]);
	json_end(j, '}');
	json_uint(j, "block_bytes", d->bytes);
	json_end(j, '}');
}

static void
dump_thread(struct json *j, const struct str_i_thread *t)
{
	json_begin(j, NULL, '{');
	json_uint(j, "tid", t->tid);
	json_str(j, "state", snap_thread_state(t->state));
	json_bool(j, "dead", t->dead);
	if (t->sid != 0) {
		json_str(j, "stream", dump_sid(t->sid));
		json_uint(j, "end", t->end);
		json_str(j, "waits_for", snap_why(t->why));
	}
	json_uint(j, "claims", t->nclaim);
	json_end(j, '}');
}

void
dump_procs(struct json *j, const struct snap *s)
{
	const struct str_i *i;
	bool inside = false;

	json_begin(j, "processes", '[');
	SNAP_EACH (s, i) {
		const struct str_i_proc *p = (const void *)i;

		if (i->kind == STR_I_THREAD && inside)
			dump_thread(j, (const void *)i);
		if (i->kind != STR_I_PROC)
			continue;
		if (inside) {
			json_end(j, ']');
			json_end(j, '}');
		}
		inside = true;
		json_begin(j, NULL, '{');
		json_uint(j, "pid", p->pid);
		json_uint(j, "start", p->start);
		json_bool(j, "exec", p->exec);
		json_begin(j, "threads", '[');
	}
	if (inside) {
		json_end(j, ']');
		json_end(j, '}');
	}
	json_end(j, ']');
}

void
dump_module(struct json *j, const struct str_i_module *m)
{
	static const char *const side[] = { "read", "write", "lower_read",
		"lower_write" };

	json_begin(j, NULL, '{');
	json_str(j, "name", m->name);
	json_bool(j, "module", m->kind & 1);
	json_bool(j, "driver", m->kind & 2);
	if (m->kind & 2)
		json_uint(j, "major", m->major);
	json_uint(j, "instances", m->count);
	json_bool(j, "loaded", m->foreign);
	for (int k = 0; k < 4; k++) {
		const struct str_i_minfo *mi = &m->minfo[k];
		const struct str_i_mstat *ms = &m->mstat[k];

		if (!mi->there && !ms->there)
			continue;
		json_begin(j, side[k], '{');
		if (mi->there) {
			json_uint(j, "idnum", mi->idnum);
			json_str(j, "idname", mi->idname);
			json_int(j, "minpsz", mi->minpsz);
			json_int(j, "maxpsz", mi->maxpsz);
			json_uint(j, "hiwat", mi->hiwat);
			json_uint(j, "lowat", mi->lowat);
		}
		if (ms->there) {
			json_int(j, "put", ms->pcnt);
			json_int(j, "service", ms->scnt);
			json_int(j, "open", ms->ocnt);
			json_int(j, "close", ms->ccnt);
			json_int(j, "admin", ms->acnt);
		}
		json_end(j, '}');
	}
	json_end(j, '}');
}

void
dump_modules(struct json *j, const struct snap *s)
{
	const struct str_i *i;

	json_begin(j, "modules", '[');
	SNAP_EACH (s, i)
		if (i->kind == STR_I_MODULE)
			dump_module(j, (const void *)i);
	json_end(j, ']');
}

static void
dump_head(struct json *j, const struct str_i_head *h)
{
	json_uint(j, "end", h->end);
	json_str(j, "flags", snap_head_flags(h->flags));
	json_int(j, "read_error", h->rerror);
	json_int(j, "write_error", h->werror);
	json_uint(j, "read_options", h->rdopt);
	json_uint(j, "write_options", h->wropt);
	json_uint(j, "modules", h->npush);
	json_uint(j, "files", h->nfile);
	json_uint(j, "references", h->refs);
	json_uint(j, "count", h->count);
	json_uint(j, "passed", h->passed);
	json_uint(j, "hiwat", h->hiwat);
	json_uint(j, "lowat", h->lowat);
	json_bool(j, "full", h->full);
	json_uint(j, "special_messages", h->npri);
	json_bool(j, "reader_waits", h->rwant & 3);
	json_bool(j, "writer_waits", h->wwant & 3);
	json_uint(j, "sleeping", h->sleeping);
	json_uint(j, "polled", h->polled);
	json_uint(j, "passed_descriptors", h->npass);
	dump_owner(j, "producer", &h->producer);
	dump_owner(j, "consumer", &h->consumer);
	dump_owner(j, "ioctl", &h->ioctl);
}

static void
dump_file(struct json *j, const struct str_i_file *f,
	const struct holders *h)
{
	json_begin(j, NULL, '{');
	json_uint(j, "inode", f->ino);
	json_uint(j, "flags", f->fflags);
	json_bool(j, "open", f->open);
	json_begin(j, "holders", '[');
	for (size_t i = 0; h != NULL && i < h->n; i++) {
		if (h->v[i].ino != f->ino)
			continue;
		json_begin(j, NULL, '{');
		json_uint(j, "pid", h->v[i].pid);
		json_int(j, "fd", h->v[i].fd);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

static void
dump_queue(struct json *j, const struct snap *s, const struct str_i_queue *q)
{
	static const char *const role[] = { "head", "module", "driver",
		"lower" };
	const struct str_i *i = &q->i;

	json_begin(j, NULL, '{');
	json_str(j, "name", q->name);
	json_str(j, "role", q->role < 4 ? role[q->role] : "?");
	json_str(j, "side", q->side ? "write" : "read");
	json_uint(j, "depth", q->depth);
	json_str(j, "flags", snap_queue_flags(q->flag));
	json_uint(j, "count", q->count);
	json_uint(j, "hiwat", q->hiwat);
	json_uint(j, "lowat", q->lowat);
	json_int(j, "minpsz", q->minpsz);
	json_int(j, "maxpsz", q->maxpsz);
	json_uint(j, "messages", q->nmsg);
	if (q->nmsg != 0)
		json_str(j, "first", snap_msg_type(q->first_type));
	json_bool(j, "service", q->service);
	json_bool(j, "backlog", q->backlog);
	if (q->drops != 0)
		json_uint(j, "dropped", q->drops);
	dump_owner(j, "inside", &q->inside);
	json_begin(j, "bands", '[');
	while ((i = snap_next(s, i)) != NULL && i->kind == STR_I_BAND) {
		const struct str_i_band *b = (const void *)i;

		json_begin(j, NULL, '{');
		json_uint(j, "band", b->band);
		json_uint(j, "count", b->count);
		json_uint(j, "hiwat", b->hiwat);
		json_uint(j, "lowat", b->lowat);
		json_str(j, "flags", snap_band_flags(b->flag));
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

/* The records of one kind between @i and the next head or stream. */
static void
dump_of_head(struct json *j, const struct snap *s, const struct str_i *i,
	const struct holders *h, unsigned kind)
{
	while ((i = snap_next(s, i)) != NULL && i->kind != STR_I_HEAD &&
		i->kind != STR_I_STREAM) {
		if (i->kind != kind)
			continue;
		if (kind == STR_I_FILE)
			dump_file(j, (const void *)i, h);
		else
			dump_queue(j, s, (const void *)i);
	}
}

static void
explained(void *arg, const char *text)
{
	json_str(arg, NULL, text);
}

static void
dump_stream(struct json *j, const struct snap *s,
	const struct str_i_stream *st, const struct holders *h)
{
	const struct str_i *i;

	json_begin(j, NULL, '{');
	json_str(j, "id", dump_sid(st->sid));
	json_str(j, "name", snap_stream_name(st));
	json_uint(j, "queues_to_run", st->nrun);
	dump_owner(j, "runner", &st->runner);
	dump_owner(j, "plumber", &st->plumber);
	dump_owner(j, "busy", &st->busy);
	if (st->under > 1)
		json_str(j, "under", dump_sid(st->under));
	json_begin(j, "waits", '[');
	snap_explain(s, st, explained, j);
	json_end(j, ']');
	json_begin(j, "names", '[');
	SNAP_EACH (s, i) {
		const struct str_i_name *n = (const void *)i;

		if (i->kind != STR_I_NAME || n->sid != st->sid)
			continue;
		json_begin(j, NULL, '{');
		json_str(j, "path", n->path);
		json_uint(j, "end", n->end);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_begin(j, "links", '[');
	for (i = &st->i; (i = snap_next(s, i)) != NULL &&
		i->kind == STR_I_LINK;) {
		const struct str_i_link *l = (const void *)i;

		json_begin(j, NULL, '{');
		json_int(j, "index", l->id);
		json_str(j, "lower", dump_sid(l->lower));
		json_bool(j, "persistent", l->persist);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_begin(j, "heads", '[');
	for (i = &st->i; (i = snap_next(s, i)) != NULL &&
		i->kind != STR_I_STREAM;) {
		if (i->kind != STR_I_HEAD)
			continue;
		json_begin(j, NULL, '{');
		dump_head(j, (const void *)i);
		json_begin(j, "open_files", '[');
		dump_of_head(j, s, i, h, STR_I_FILE);
		json_end(j, ']');
		json_begin(j, "queues", '[');
		dump_of_head(j, s, i, h, STR_I_QUEUE);
		json_end(j, ']');
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

void
dump_streams(struct json *j, const struct snap *s, const struct holders *h)
{
	const struct str_i *i;

	json_begin(j, "streams", '[');
	SNAP_EACH (s, i)
		if (i->kind == STR_I_STREAM)
			dump_stream(j, s, (const void *)i, h);
	json_end(j, ']');
}
