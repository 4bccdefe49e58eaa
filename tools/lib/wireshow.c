/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* What strwire(8) shows of a wire. */
#include <arpa/inet.h>
#include <string.h>

#include <sys/ipwire.h>
#include <str/ip.h>
#undef FNDELAY /* <sys/stream.h> has other ones */
#undef FNONBLOCK
#include <str/wire.h>

#include "wireshow.h"

const char *const wire_kinds[WIRE_NKINDS] = { "lo", "raw", "tun", "packet", "encap" };

/* In the order of enum wire_count; WIRE_BAD itself is not a counter. */
static const char *const counts[WIRE_NCOUNTS] = {
	[WIRE_IN] = "in", [WIRE_OUT] = "out",
	[WIRE_INBYTES] = "in-bytes", [WIRE_OUTBYTES] = "out-bytes",
	[WIRE_BAD + IP_SHORT] = "bad-short",
	[WIRE_BAD + IP_VERSION] = "bad-version",
	[WIRE_BAD + IP_HLEN] = "bad-header-length",
	[WIRE_BAD + IP_CKSUM] = "bad-checksum",
	[WIRE_BAD + IP_LENGTH] = "bad-length",
	[WIRE_BAD + IP_OPTION] = "bad-option",
	[WIRE_BAD + IP_ADDR] = "bad-address",
	[WIRE_NOPROTO] = "no-protocol", [WIRE_NOPORT] = "no-port",
	[WIRE_FULL] = "full", [WIRE_NOMEM] = "no-memory",
	[WIRE_REASM] = "fragments-in", [WIRE_REASMOK] = "reassembled",
	[WIRE_REASMFAIL] = "reassembly-failed",
	[WIRE_FRAGS] = "fragments-out",
	[WIRE_PMTU] = "narrower-paths",
};

static void
text_of(const struct ipw_addr *a, char *buf, size_t size)
{
	size_t n;

	(void)inet_ntop(a->len == 4 ? AF_INET : AF_INET6, a->b, buf,
		(socklen_t)size);
	n = strlen(buf);
	snprintf(buf + n, size - n, "/%u", a->bits);
}

static void
list_json(struct json *j, const char *key, const struct ipw_addr *a,
	unsigned n)
{
	char buf[64];

	json_begin(j, key, '[');
	for (unsigned i = 0; i < n; i++) {
		if (a[i].len == 0)
			continue;
		text_of(&a[i], buf, sizeof(buf));
		json_str(j, NULL, buf);
	}
	json_end(j, ']');
}

static const char *
kind_of(const struct ipw_info *in)
{
	return in->conf.kind < WIRE_NKINDS ? wire_kinds[in->conf.kind] : "?";
}

void
wire_show_json(struct json *j, const struct ipw_info *in)
{
	json_begin(j, NULL, '{');
	json_str(j, "name", in->conf.name);
	json_str(j, "kind", kind_of(in));
	json_str(j, "interface", in->conf.ifname);
	json_uint(j, "mtu", in->conf.mtu);
	json_str(j, "state", in->state == IPW_UP ? "up" : "down");
	json_int(j, "error", in->error);
	json_uint(j, "taps", in->taps);
	json_uint(j, "remade", in->remade);
	if (in->conf.kind == IPW_ENCAP) {
		json_uint(j, "protocol", in->conf.proto[0]);
		json_uint(j, "port", in->conf.port[0]);
		json_uint(j, "remote-port", in->conf.port[1]);
	}
	list_json(j, "addresses", in->conf.own, IPW_NOWN);
	list_json(j, "routes", in->conf.route, IPW_NROUTE);
	json_begin(j, "counts", '{');
	for (unsigned i = 0; i < WIRE_NCOUNTS; i++)
		if (counts[i] != NULL)
			json_uint(j, counts[i], in->count[i]);
	json_end(j, '}');
	json_end(j, '}');
}

void
wire_show_list(const struct ipw_info *in)
{
	char buf[64];

	printf("%-15s %-6s %-4s mtu %-5u", in->conf.name,
		kind_of(in),
		in->state == IPW_UP ? "up" : "down", in->conf.mtu);
	if (in->conf.ifname[0] != '\0')
		printf(" on %s", in->conf.ifname);
	if (in->conf.kind == IPW_ENCAP)
		printf(" protocol %u port %u,%u", in->conf.proto[0],
			in->conf.port[0], in->conf.port[1]);
	for (unsigned i = 0; i < IPW_NOWN; i++) {
		if (in->conf.own[i].len == 0)
			continue;
		text_of(&in->conf.own[i], buf, sizeof(buf));
		printf(" %s", buf);
	}
	for (unsigned i = 0; i < IPW_NROUTE; i++) {
		if (in->conf.route[i].len == 0)
			continue;
		text_of(&in->conf.route[i], buf, sizeof(buf));
		printf(" -> %s", buf);
	}
	if (in->error != 0)
		printf(" (%s)", strerror(in->error));
	putchar('\n');
}

void
wire_show_stat(const struct ipw_info *in)
{
	printf("%s:\n", in->conf.name);
	for (unsigned i = 0; i < WIRE_NCOUNTS; i++)
		if (counts[i] != NULL && (in->count[i] != 0 || i <= WIRE_OUT))
			printf("%14llu  %s\n", in->count[i], counts[i]);
	if (in->remade != 0)
		printf("%14u  remade\n", in->remade);
}
