/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Steps of scripts: what the user of the engine asks for and sees.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"

static const char *const state_names[] = {"CLOSED", "COOKIE-WAIT",
	"COOKIE-ECHOED", "ESTABLISHED", "SHUTDOWN-PENDING", "SHUTDOWN-SENT",
	"SHUTDOWN-RECEIVED", "SHUTDOWN-ACK-SENT"};
static const char *const down_names[] = {"not", "shutdown", "user", "peer",
	"unreachable", "protocol", "stale", "guard", "refused"};
static const struct {
	const char *name;
	uint32_t bit;
} event_names[] = {{"up", SCTP_EV_UP}, {"restart", SCTP_EV_RESTART},
	{"shutdown", SCTP_EV_SHUTDOWN}, {"down", SCTP_EV_DOWN},
	{"room", SCTP_EV_ROOM}, {"path", SCTP_EV_PATH},
	{"error", SCTP_EV_ERROR}, {"reconf", SCTP_EV_RECONF},
	{"reconf-peer", SCTP_EV_RECONF_PEER}, {"failed", SCTP_EV_FAILED},
	{"auth", SCTP_EV_AUTH}, {"addr", SCTP_EV_ADDR},
	{"addr-peer", SCTP_EV_ADDR_PEER}};

static const struct {
	const char *name;
	size_t at, size;
	int is_time;
} conf_names[] = {
#define C(f, time) {#f, offsetof(struct sctp_conf, f), \
	sizeof(((struct sctp_conf *)0)->f), time}
	C(rto_initial, 1), C(rto_min, 1), C(rto_max, 1), C(cookie_life, 1),
	C(cookie_inc, 1), C(hb_interval, 1), C(sack_delay, 1), C(sack_freq, 0),
	C(assoc_max_retrans, 0), C(path_max_retrans, 0),
	C(init_max_retrans, 0), C(pf_threshold, 0), C(max_burst, 0),
	C(rcvbuf, 0), C(sndbuf, 0), C(partial, 0), C(mtu, 0), C(ostreams, 0),
	C(istreams, 0), C(nagle, 0), C(pr, 0), C(half_close, 0), C(reconf, 0),
	C(interleave, 0), C(scheduler, 0), C(report, 0), C(maxseg, 0),
	C(ostreams_most, 0), C(auth, 0), C(asconf, 0), C(adapts, 0), C(adaptation, 0),
	C(hmac[0], 0), C(hmac[1], 0),
#undef C
};

void
conf(char *word)
{
	char *val = strchr(word, '=');
	uint64_t v;
	size_t i;

	if (val == NULL)
		fail("conf NAME=VALUE");
	*val++ = '\0';
	for (i = 0; i < sizeof(conf_names) / sizeof(conf_names[0]); i++) {
		unsigned char *p = (unsigned char *)&sc.ep.conf +
			conf_names[i].at;

		if (strcmp(conf_names[i].name, word) != 0)
			continue;
		v = conf_names[i].is_time ? seconds(val) : number(val);
		if (conf_names[i].size == 4)
			*(uint32_t *)(void *)p = (uint32_t)v;
		else if (conf_names[i].size == 2)
			*(uint16_t *)(void *)p = (uint16_t)v;
		else
			*p = (uint8_t)v;
		return;
	}
	fail("no parameter %s", word);
}

static void
user_connect(char **w, int n)
{
	struct ip_addr a[SCTP_PATHS];
	struct sctp_assoc *as;
	int i, err, want = 0;

	if (n > 0 && *w[n - 1] == 'E') {
		want = strcmp(w[n - 1], "EISCONN") == 0 ? EISCONN : EINVAL;
		n--;
	}
	for (i = 0; i < n && i < (int)SCTP_PATHS; i++)
		address(w[i], &a[i]);
	if (n == 0)
		a[n++] = sc.peer;
	err = sctp_connect(&sc.env, &sc.ep, a, (uint32_t)n, PORT, &as);
	if (err != want)
		fail("sctp_connect: %s", strerror(err));
	if (err != 0)
		return;
	sc.as = as;
	*variable("ltag", 1) = 0;
}

/* The bytes of a message: its letter, repeated. */
static void
pattern(unsigned char *p, size_t n, unsigned char c)
{
	memset(p, c, n);
}

/* send len=N [sid= ppid= life= byte=] [unordered more now ttl rtx] [-> ERR] */
static void
user_send(char **w, int n)
{
	static unsigned char buf[1 << 20];
	struct sctp_info info = {0};
	size_t len = 1;
	int i, err, want = 0;
	unsigned char c = 'a';

	for (i = 0; i < n; i++) {
		char *v = strchr(w[i], '=');

		if (v != NULL)
			*v++ = '\0';
		if (strcmp(w[i], "len") == 0 && v != NULL)
			len = (size_t)number(v);
		else if (strcmp(w[i], "sid") == 0 && v != NULL)
			info.sid = (uint16_t)number(v);
		else if (strcmp(w[i], "context") == 0 && v != NULL)
			info.context = (uint32_t)number(v);
		else if (strcmp(w[i], "ppid") == 0 && v != NULL)
			info.ppid = __builtin_bswap32((uint32_t)number(v));
		else if (strcmp(w[i], "byte") == 0 && v != NULL)
			c = (unsigned char)*v;
		else if (strcmp(w[i], "life") == 0 && v != NULL)
			info.life = (info.flags & SCTP_SEND_RTX) != 0 ?
				number(v) : seconds(v);
		else if (strcmp(w[i], "unordered") == 0)
			info.flags |= SCTP_SEND_UNORDERED;
		else if (strcmp(w[i], "more") == 0)
			info.flags |= SCTP_SEND_MORE;
		else if (strcmp(w[i], "now") == 0)
			info.flags |= SCTP_SEND_NOW;
		else if (strcmp(w[i], "ttl") == 0)
			info.flags |= SCTP_SEND_TTL;
		else if (strcmp(w[i], "rtx") == 0)
			info.flags |= SCTP_SEND_RTX;
		else if (strcmp(w[i], "EAGAIN") == 0)
			want = EAGAIN;
		else if (strcmp(w[i], "EPIPE") == 0)
			want = EPIPE;
		else if (strcmp(w[i], "EINVAL") == 0)
			want = EINVAL;
		else
			fail("send: what is %s", w[i]);
	}
	if (len > sizeof(buf))
		fail("send: too long");
	pattern(buf, len, c);
	err = sctp_send(&sc.env, sc.as, &info, buf, len);
	if (err != want)
		fail("send: %s, not %s", strerror(err), strerror(want));
}

/* recv len=N [sid= ssn= ppid= byte=] [unordered] [more] [cut] [max=N] */
static void
user_recv(char **w, int n)
{
	static unsigned char buf[1 << 20];
	struct sctp_info info;
	size_t got, max = sizeof(buf), i;
	uint32_t flags = 0;
	int k;

	for (k = 0; k < n; k++)
		if (strncmp(w[k], "max=", 4) == 0)
			max = (size_t)number(w[k] + 4);
	if (sctp_readable(sc.as) == 0)
		fail("recv: there is nothing");
	got = sctp_recv(&sc.env, sc.as, &info, buf, max);
	for (k = 0; k < n; k++) {
		char *v = strchr(w[k], '=');
		uint64_t have;

		if (v == NULL) {
			flags |= strcmp(w[k], "unordered") == 0 ?
				SCTP_SEND_UNORDERED :
				strcmp(w[k], "more") == 0 ? SCTP_RECV_MORE :
				strcmp(w[k], "cut") == 0 ? SCTP_RECV_CUT : 0;
			continue;
		}
		*v++ = '\0';
		if (strcmp(w[k], "max") == 0)
			continue;
		if (strcmp(w[k], "byte") == 0) {
			for (i = 0; i < got; i++)
				if (buf[i] != (unsigned char)*v)
					fail("recv: byte %zu is %c", i,
						buf[i]);
			continue;
		}
		have = strcmp(w[k], "len") == 0 ? got :
			strcmp(w[k], "sid") == 0 ? info.sid :
			strcmp(w[k], "ssn") == 0 ? info.ssn :
			strcmp(w[k], "tsn") == 0 ? info.tsn :
			strcmp(w[k], "ppid") == 0 ?
				__builtin_bswap32(info.ppid) : ~0ull;
		if (have != number(v))
			fail("recv: %s is %llu", w[k],
				(unsigned long long)have);
	}
	if (info.flags != flags)
		fail("recv: flags are 0x%x", info.flags);
}

static int
error_named(const char *name)
{
	static const struct {
		const char *name;
		int error;
	} errors[] = {{"EBUSY", EBUSY}, {"EINVAL", EINVAL},
		{"EOPNOTSUPP", EOPNOTSUPP}, {"EPIPE", EPIPE},
		{"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC}};
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].name, name) == 0)
			return errors[i].error;
	return -1;
}

/* reset [out] [in] [SID,SID], reset-tsn, add-streams OUT IN; [ERR] */
static void
user_reconf(char **w, int n)
{
	int err, want = error_named(w[n - 1]), i;
	char *item, *save = NULL;
	uint32_t what = 0, nsids = 0;
	uint16_t sid[1024];

	n -= want > 0;
	if (strcmp(w[0], "reset-tsn") == 0) {
		err = sctp_reset_tsn(&sc.env, sc.as);
	} else if (strcmp(w[0], "add-streams") == 0 && n == 3) {
		err = sctp_add_streams(&sc.env, sc.as,
			(uint32_t)number(w[1]), (uint32_t)number(w[2]));
	} else {
		for (i = 1; i < n; i++)
			if (strcmp(w[i], "out") == 0)
				what |= SCTP_RECONF_OUT;
			else if (strcmp(w[i], "in") == 0)
				what |= SCTP_RECONF_IN;
			else
				for (item = strtok_r(w[i], ",", &save);
					item != NULL && nsids < 1024;
					item = strtok_r(NULL, ",", &save))
					sid[nsids++] = (uint16_t)number(item);
		err = sctp_reset_streams(&sc.env, sc.as, what, sid, nsids);
	}
	if (err != (want > 0 ? want : 0))
		fail("%s: %s", w[0], strerror(err));
}

/* set-key ID [TEXT], use-key, retire-key, delete-key ID; [ERR] */
void
user_key(struct sctp_keyring *r, char **w, int n)
{
	int err, want = error_named(w[n - 1]);
	uint16_t id = (uint16_t)number(w[1]);

	n -= want > 0;
	if (strcmp(w[0], "set-key") == 0)
		err = sctp_key_set(&sc.env, r, id, n > 2 ? w[2] : "",
			n > 2 ? strlen(w[2]) : 0);
	else if (strcmp(w[0], "use-key") == 0)
		err = sctp_key_use(r, id);
	else if (strcmp(w[0], "retire-key") == 0)
		err = sctp_key_retire(r, id);
	else if (strcmp(w[0], "delete-key") == 0)
		err = sctp_key_delete(&sc.env, r, id);
	else
		fail("what is %s", w[0]);
	if (err != (want > 0 ? want : 0))
		fail("%s: %s", w[0], strerror(err));
}

/* add-addr, delete-addr ADDRESS ..., peer-primary ADDRESS; [ERR] */
static void
user_addr(char **w, int n)
{
	int err, want = error_named(w[n - 1]), i;
	struct ip_addr a[16];

	n -= want > 0;
	for (i = 1; i < n && i < 16; i++)
		address(w[i], &a[i - 1]);
	if (*w[0] == 'a')
		err = sctp_addr_add(&sc.env, sc.as, a, (uint32_t)n - 1);
	else if (*w[0] == 'd')
		err = sctp_addr_delete(&sc.env, sc.as, a, (uint32_t)n - 1);
	else
		err = sctp_addr_primary(&sc.env, sc.as, a);
	if (err != (want > 0 ? want : 0))
		fail("%s: %s", w[0], strerror(err));
}

/* addr RESULT WHAT, addr-change WHAT ADDRESS */
static void
expect_addr(char **w)
{
	struct ip_addr a = {0, {0}}, want;
	uint32_t what, got;

	if (strcmp(w[0], "addr") == 0) {
		got = sctp_addr_result(sc.as, &what);
		if (got != number(w[1]) || what != number(w[2]))
			fail("the result is 0x%x of %u", got, what);
		return;
	}
	address(w[2], &want);
	got = sctp_addr_change(sc.as, &a);
	if (got != number(w[1]) || memcmp(&a, &want, sizeof(a)) != 0)
		fail("the change is %u of ... %u", got, a.b[3]);
}

void
user(char **w, int n)
{
	int err;

	if (n == 0)
		fail("user: what?");
	if (strcmp(w[0], "connect") == 0) {
		user_connect(w + 1, n - 1);
	} else if (sc.as == NULL) {
		fail("there is no association");
	} else if (strcmp(w[0], "send") == 0) {
		user_send(w + 1, n - 1);
	} else if (strcmp(w[0], "recv") == 0) {
		user_recv(w + 1, n - 1);
	} else if (strncmp(w[0], "reset", 5) == 0 ||
		strcmp(w[0], "add-streams") == 0) {
		user_reconf(w, n);
	} else if (strstr(w[0], "-key") != NULL && n > 1) {
		user_key(sctp_keys(sc.as), w, n);
	} else if (strcmp(w[0], "add-addr") == 0 ||
		strcmp(w[0], "delete-addr") == 0 ||
		strcmp(w[0], "peer-primary") == 0) {
		user_addr(w, n);
	} else if (strcmp(w[0], "shutdown") == 0) {
		err = sctp_shutdown(&sc.env, sc.as);
		if (err != 0)
			fail("shutdown: %s", strerror(err));
	} else if (strcmp(w[0], "abort") == 0) {
		sctp_abort(&sc.env, sc.as, n > 1 ? w[1] : NULL,
			n > 1 ? strlen(w[1]) : 0);
	} else if (strcmp(w[0], "value") == 0 && n == 3) {
		err = sctp_set_stream_value(sc.as, (uint16_t)number(w[1]),
			(uint16_t)number(w[2]));
		if (err != 0)
			fail("value: %s", strerror(err));
	} else if (strcmp(w[0], "scheduler") == 0 && n == 2) {
		err = sctp_set_scheduler(sc.as,
			(enum sctp_scheduler)number(w[1]));
		if (err != 0)
			fail("scheduler: %s", strerror(err));
	} else if (strcmp(w[0], "fail-all") == 0) {
		sctp_fail_all(&sc.env, sc.as);
	} else if (strcmp(w[0], "primary") == 0 && n == 2) {
		struct ip_addr a;

		address(w[1], &a);
		if (sctp_set_primary(sc.as, &a) != 0)
			fail("primary: no");
	} else if (strcmp(w[0], "free") == 0) {
		sctp_assoc_free(&sc.env, sc.as);
		sc.as = NULL;
	} else {
		fail("user: what is %s", w[0]);
	}
	flush();
}

static void
expect_event(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(event_names) / sizeof(event_names[0]); i++)
		if (strcmp(event_names[i].name, name) == 0) {
			if ((sc.events & event_names[i].bit) == 0)
				fail("no event %s", name);
			sc.events &= ~event_names[i].bit;
			return;
		}
	fail("no such event: %s", name);
}

static void
expect_path(char **w, int n)
{
	static const char *const names[] = {"active", "pf", "inactive"};
	struct ip_addr a, have;
	uint32_t i;
	int confirmed, k, state;

	if (n < 2)
		fail("expect path ADDRESS STATE");
	address(w[0], &a);
	for (i = 0; i < sctp_path_count(sc.as); i++) {
		state = sctp_path_state(sc.as, i, &have, &confirmed);
		if (memcmp(&a, &have, sizeof(a)) != 0)
			continue;
		for (k = 1; k < n; k++)
			if (strcmp(w[k], names[state]) != 0 &&
				strcmp(w[k], confirmed ? "confirmed" :
					"unconfirmed") != 0)
				fail("path %s is %s, %sconfirmed", w[0],
					names[state], confirmed ? "" : "un");
		return;
	}
	fail("no path %s", w[0]);
}

/* Changes of streams that have been reported since the last look. */
static void
look_at_changes(void)
{
	const struct sctp_change *c;

	while ((c = sctp_change(sc.as)) != NULL) {
		if (c->ours) {
			sc.result = c->result;
			sc.asked = c->what;
		} else {
			sc.peer_did |= c->what;
		}
		sc.nsids = c->n;
		sc.sid = c->n != 0 ? c->sid[0] : 0;
		sctp_change_done(&sc.env, sc.as);
	}
}

/* A message that was not delivered: stream, context, "sent" or not, bytes. */
static void
expect_failed(char **w)
{
	struct sctp_failure f;

	if (!sctp_failed(sc.as, &f))
		fail("no message has failed");
	if (f.sid != number(w[0]) || f.context != number(w[1]) ||
		f.sent != (strcmp(w[2], "sent") == 0) || f.n != number(w[3]))
		fail("failed: stream %u, context %u, %s, %u bytes", f.sid,
			f.context, f.sent ? "sent" : "unsent", f.n);
	sctp_failed_done(&sc.env, sc.as);
}

void
expect(char **w, int n)
{
	const unsigned char *data;
	size_t len;

	if (n == 1 && strcmp(w[0], "nothing") == 0) {
		if (sc.nsent != sc.taken)
			unexpected();
		return;
	}
	if (n == 1 && strcmp(w[0], "no-association") == 0) {
		if (sc.ep.nassoc != 0)
			fail("there is an association");
		return;
	}
	if (sc.as == NULL)
		fail("there is no association");
	if (n == 2 && strcmp(w[0], "event") == 0) {
		expect_event(w[1]);
	} else if (n == 2 && strcmp(w[0], "no-event") == 0) {
		if (sc.events != 0)
			fail("events are 0x%x", sc.events);
	} else if (n == 2 && strcmp(w[0], "state") == 0) {
		if (strcmp(state_names[sctp_assoc_state(sc.as)], w[1]) != 0)
			fail("state is %s",
				state_names[sctp_assoc_state(sc.as)]);
	} else if (n == 2 && strcmp(w[0], "down") == 0) {
		if (strcmp(down_names[sctp_down_reason(sc.as)], w[1]) != 0)
			fail("down is %s",
				down_names[sctp_down_reason(sc.as)]);
	} else if (n == 2 && strcmp(w[0], "cause") == 0) {
		if (sctp_peer_cause(sc.as, &data, &len) != number(w[1]))
			fail("cause is %d", sctp_peer_cause(sc.as, &data,
				&len));
	} else if (n == 3 && strcmp(w[0], "reconf") == 0) {
		look_at_changes();
		if (sc.result != number(w[1]) || sc.asked != number(w[2]))
			fail("the result is %u of 0x%x", sc.result, sc.asked);
	} else if (n == 3 && strcmp(w[0], "changed") == 0) {
		look_at_changes();
		if (sc.nsids != number(w[1]) || sc.sid != number(w[2]))
			fail("%u streams, the first is %u", sc.nsids, sc.sid);
	} else if (n == 5 && strcmp(w[0], "failed") == 0) {
		expect_failed(w + 1);
	} else if (n == 4 && strcmp(w[0], "abandoned") == 0) {
		uint64_t unsent, sent;

		sctp_abandoned_count(sc.as, number(w[1]), 0, &unsent, &sent);
		if (unsent != number(w[2]) || sent != number(w[3]))
			fail("%lu and %lu messages are abandoned",
				(unsigned long)unsent, (unsigned long)sent);
	} else if (n == 2 && strcmp(w[0], "peer-did") == 0) {
		look_at_changes();
		if (sc.peer_did != number(w[1]))
			fail("the peer has done 0x%x", sc.peer_did);
		sc.peer_did = 0;
	} else if (n == 3 && strcmp(w[0], "streams") == 0) {
		uint16_t out, in;

		sctp_streams(sc.as, &out, &in);
		if (out != number(w[1]) || in != number(w[2]))
			fail("there are %u and %u streams", out, in);
	} else if (n == 3 && strncmp(w[0], "addr", 4) == 0) {
		expect_addr(w);
	} else if (n == 2 && strcmp(w[0], "adaptation") == 0) {
		uint32_t code;

		if (!sctp_peer_adaptation(sc.as, &code) ||
			code != number(w[1]))
			fail("the adaptation is 0x%x", code);
	} else if (n == 2 && strcmp(w[0], "hmac") == 0) {
		if (sctp_auth_hmac(sc.as) != number(w[1]))
			fail("the HMAC is %u", sctp_auth_hmac(sc.as));
	} else if (n == 2 && strcmp(w[0], "peer-key") == 0) {
		if (sctp_auth_peer_key(sc.as) != number(w[1]))
			fail("the key is %u", sctp_auth_peer_key(sc.as));
	} else if (n == 3 && strcmp(w[0], "count") == 0) {
		if (sc.ep.count[number(w[1])] != number(w[2]))
			fail("the counter is %llu", (unsigned long long)
				sc.ep.count[number(w[1])]);
	} else if (n == 1 && strcmp(w[0], "unreadable") == 0) {
		if (sctp_readable(sc.as) != 0)
			fail("%zu bytes are there", sctp_readable(sc.as));
	} else if (strcmp(w[0], "path") == 0) {
		expect_path(w + 1, n - 1);
	} else {
		fail("expect: what is %s", w[0]);
	}
}
