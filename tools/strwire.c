/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strwire - make, list, impair and remove wires, and show their counters.
 *
 * A wire is a stream of the driver ip that is persistently linked below another
 * stream of it; so it needs no process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#include <sys/ipwire.h>
#include <str/ip.h>
#undef FNDELAY /* <sys/stream.h> has other ones */
#undef FNONBLOCK
#include <str/wire.h>

#include "lib/impair.h"
#include "lib/tool.h"

#define IP_DEV "/dev/streams/clone/ip"
#define SCTP 132 /* what RFC 6951 carries inside of UDP */

static struct tool tool = {
	.name = "strwire",
	.synopsis = "add KIND NAME [-a ADDRESS/BITS ...] [-r NET/BITS ...] "
		    "[-g ADDRESS[/BITS] ...]\n"
		    "    [-m MTU] [-f INTERFACE] [-p PROTOCOL ...] [-P PORT[,PORT]]\n"
		    "list [--json]\n"
		    "stat [--json] [NAME ...]\n"
		    "impair NAME [loss=PERCENT] [dup=PERCENT] [reorder=PERCENT] "
		    "[corrupt=PERCENT]\n"
		    "    [delay=TIME] [jitter=TIME] [rate=RATE] [limit=PACKETS] "
		    "[seed=NUMBER]\n"
		    "impair NAME [off]\n"
		    "del NAME ...",
	.purpose = "Make, list, impair and remove the wires that carry IP packets "
		   "of the native transports.  KIND is raw, tun, "
		   "packet or encap.",
	.help =
	"  -a, --address=ADDRESS/BITS  an address of the wire, and its network\n"
	"  -r, --route=NET/BITS[,ROUTER[,METRIC]]\n"
	"                              what goes there besides; packet: by\n"
	"                              which router\n"
	"  -g, --gateway=ADDRESS/BITS  tun: this host's address on it; packet:\n"
	"                              who takes what is for other networks\n"
	"  -m, --mtu=MTU               bytes of the longest packet\n"
	"  -f, --interface=INTERFACE   tun: what the device is called; packet:\n"
	"                              the one to use\n"
	"  -p, --protocol=NUMBER       raw: a protocol that is received;\n"
	"                              encap: the one that it carries\n"
	"  -P, --port=PORT[,PORT]      encap: its UDP port; that of others\n"
	"      --json                  as JSON\n",
	.options = "a:r:g:m:f:p:P:",
};

static const struct option longs[] = {
	{ "address", required_argument, NULL, 'a' },
	{ "route", required_argument, NULL, 'r' },
	{ "gateway", required_argument, NULL, 'g' },
	{ "mtu", required_argument, NULL, 'm' },
	{ "interface", required_argument, NULL, 'f' },
	{ "protocol", required_argument, NULL, 'p' },
	{ "port", required_argument, NULL, 'P' },
	{ "json", no_argument, NULL, TOOL_OPT_JSON },
	{ NULL, 0, NULL, 0 },
};

static struct ipw_conf conf;
static unsigned nown, nroute, nproto;
static bool as_json;

static const char *const kinds[] = { "lo", "raw", "tun", "packet", "encap" };
#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

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

static int
command(int fd, int cmd, void *arg, size_t len)
{
	struct strioctl ic = { cmd, 0, (int)len, arg };

	return ioctl(fd, I_STR, &ic);
}

static int
open_ip(void)
{
	int fd = open(IP_DEV, O_RDWR);

	if (fd < 0)
		tool_die(&tool, "%s", IP_DEV);
	return fd;
}

/* ADDRESS[/BITS] */
static void
address(const char *text, struct ipw_addr *ret)
{
	char buf[64], *slash;
	long bits = -1;

	if (strlen(text) >= sizeof(buf))
		tool_usage(&tool, "not an address: %s", text);
	strcpy(buf, text);
	slash = strchr(buf, '/');
	if (slash != NULL)
		*slash++ = '\0';
	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, buf, ret->b) == 1)
		ret->len = 4;
	else if (inet_pton(AF_INET6, buf, ret->b) == 1)
		ret->len = 16;
	else
		tool_usage(&tool, "not an address: %s", text);
	if (slash != NULL && !tool_number(slash, 0, ret->len * 8, &bits))
		tool_usage(&tool, "not a length of a prefix: %s", text);
	ret->bits = (unsigned char)(bits < 0 ? ret->len * 8 : bits);
}

/* NET/BITS[,ROUTER[,METRIC]] */
static void
route(const char *arg)
{
	char buf[160], *via, *metric = NULL;
	long v = 0;

	if (strlen(arg) >= sizeof(buf))
		tool_usage(&tool, "not a route: %s", arg);
	strcpy(buf, arg);
	via = strchr(buf, ',');
	if (via != NULL) {
		*via++ = '\0';
		metric = strchr(via, ',');
	}
	if (metric != NULL) {
		*metric++ = '\0';
		if (!tool_number(metric, 0, INT_MAX, &v))
			tool_usage(&tool, "not a metric: %s", arg);
	}
	address(buf, &conf.route[nroute]);
	if (via != NULL && *via != '\0') {
		address(via, &conf.via[nroute]);
		if (conf.via[nroute].len != conf.route[nroute].len)
			tool_usage(&tool, "not a router of that network: %s",
				arg);
	}
	conf.metric[nroute++] = (unsigned)v;
}

static void
copy_name(char to[IPW_NAMELEN], const char *from)
{
	if (from[0] == '\0' || strlen(from) >= IPW_NAMELEN)
		tool_usage(&tool, "not a name: %s", from);
	memset(to, 0, IPW_NAMELEN);
	strcpy(to, from);
}

/* PORT[,PORT] */
static void
ports(const char *arg)
{
	char buf[16], *comma;
	unsigned i;
	long v;

	if (strlen(arg) >= sizeof(buf))
		tool_usage(&tool, "not a port: %s", arg);
	strcpy(buf, arg);
	comma = strchr(buf, ',');
	if (comma != NULL)
		*comma++ = '\0';
	for (i = 0; i < 2 && (i == 0 || comma != NULL); i++) {
		if (!tool_number(i == 0 ? buf : comma, 1, 65535, &v))
			tool_usage(&tool, "not a port: %s", arg);
		conf.port[i] = (unsigned short)v;
	}
}

static void
option(int c)
{
	struct ipw_addr a;
	long v;

	switch (c) {
	case 'a':
		if (nown == IPW_NOWN)
			tool_usage(&tool, "too many addresses");
		address(optarg, &conf.own[nown++]);
		break;
	case 'r':
		if (nroute == IPW_NROUTE)
			tool_usage(&tool, "too many routes");
		route(optarg);
		break;
	case 'g':
		address(optarg, &a);
		conf.gateway[a.len == 16] = a;
		break;
	case 'm':
		if (!tool_number(optarg, 68, 65535, &v))
			tool_usage(&tool, "not an MTU: %s", optarg);
		conf.mtu = (unsigned)v;
		break;
	case 'f':
		copy_name(conf.ifname, optarg);
		break;
	case 'p':
		if (!tool_number(optarg, 1, 254, &v) || nproto == IPW_NPROTO)
			tool_usage(&tool, "not a protocol, or too many: %s",
				optarg);
		conf.proto[nproto++] = (unsigned char)v;
		break;
	case 'P':
		ports(optarg);
		break;
	case TOOL_OPT_JSON:
		as_json = true;
		break;
	}
}

static int
add(const char *kind, const char *name)
{
	int fd, ctl;

	for (conf.kind = IPW_RAW; conf.kind < NKINDS; conf.kind++)
		if (strcmp(kinds[conf.kind], kind) == 0)
			break;
	if (conf.kind == NKINDS)
		tool_usage(&tool, "not a kind of wire: %s", kind);
	copy_name(conf.name, name);
	if (nown == 0 && conf.kind != IPW_ENCAP)
		tool_usage(&tool, "which address? (-a)");
	if (conf.kind == IPW_ENCAP && nproto == 0)
		conf.proto[0] = SCTP;
	if (conf.kind == IPW_PACKET && conf.ifname[0] == '\0')
		tool_usage(&tool, "which interface? (-f)");
	fd = open_ip();
	ctl = open_ip();
	if (command(fd, IPW_ADD, &conf, sizeof(conf)) < 0)
		tool_die(&tool, "%s", name);
	if (ioctl(ctl, I_PLINK, fd) < 0)
		tool_die(&tool, "I_PLINK");
	return TOOL_OK;
}

static int
del(const char *name)
{
	struct ipw_info in;
	int fd = open_ip(), status = TOOL_FAILED;

	memset(&in, 0, sizeof(in));
	while (command(fd, IPW_INFO, &in, sizeof(in)) == 0) {
		if (strcmp(in.conf.name, name) != 0) {
			in.index++;
			continue;
		}
		if (in.muxid == 0)
			tool_warn(&tool, "%s is not to be removed", name);
		else if (ioctl(fd, I_PUNLINK, in.muxid) < 0)
			tool_err(&tool, "%s", name);
		else
			status = TOOL_OK;
		break;
	}
	if (strcmp(in.conf.name, name) != 0)
		tool_warn(&tool, "there is no wire %s", name);
	(void)close(fd);
	return status;
}

/* --------------------------------------------------------------- impairment */

static int
impair(const char *name, char **words)
{
	struct ipw_impair im;
	int fd, show = *words == NULL;

	memset(&im, 0, sizeof(im));
	copy_name(im.name, name);
	if (!show && (strcmp(*words, "off") != 0 || words[1] != NULL))
		for (; *words != NULL; words++)
			impair_word(&tool, &im, *words);
	fd = open_ip();
	if (command(fd, show ? IPW_IMPAIRED : IPW_IMPAIR, &im,
		sizeof(im)) < 0) {
		if (errno != ENXIO)
			tool_die(&tool, "%s", name);
		tool_warn(&tool, "there is no wire %s", name);
		(void)close(fd);
		return TOOL_FAILED;
	}
	if (show)
		impair_show(&im, as_json);
	(void)close(fd);
	return TOOL_OK;
}

/* ------------------------------------------------------------------ showing */

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
	return in->conf.kind < NKINDS ? kinds[in->conf.kind] : "?";
}

static void
show_json(struct json *j, const struct ipw_info *in)
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

static void
show_list(const struct ipw_info *in)
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

static void
show_stat(const struct ipw_info *in)
{
	printf("%s:\n", in->conf.name);
	for (unsigned i = 0; i < WIRE_NCOUNTS; i++)
		if (counts[i] != NULL && (in->count[i] != 0 || i <= WIRE_OUT))
			printf("%14llu  %s\n", in->count[i], counts[i]);
	if (in->remade != 0)
		printf("%14u  remade\n", in->remade);
}

static bool
is_named(const char *name, char **names)
{
	if (*names == NULL)
		return true;
	for (; *names != NULL; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static int
show(bool stat, char **names)
{
	struct json j = { .f = stdout };
	struct ipw_info in;
	int fd = open_ip();
	unsigned n = 0;

	memset(&in, 0, sizeof(in));
	if (as_json)
		json_begin(&j, NULL, '[');
	for (; command(fd, IPW_INFO, &in, sizeof(in)) == 0; in.index++) {
		if (!is_named(in.conf.name, names))
			continue;
		n++;
		if (as_json)
			show_json(&j, &in);
		else if (stat)
			show_stat(&in);
		else
			show_list(&in);
	}
	if (errno != ENXIO)
		tool_die(&tool, "IPW_INFO");
	if (as_json)
		json_end(&j, ']');
	(void)close(fd);
	if (n == 0)
		tool_warn(&tool, "there is no such wire");
	return n == 0 ? TOOL_FAILED : TOOL_OK;
}

int
main(int argc, char **argv)
{
	int c, status = TOOL_OK, n;
	char **word;

	memset(&conf, 0, sizeof(conf));
	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0)
		option(c);
	word = argv + optind;
	n = argc - optind;
	if (n == 0)
		tool_usage(&tool, "add, list, stat, impair or del?");
	if (strcmp(word[0], "add") == 0 && n == 3)
		status = add(word[1], word[2]);
	else if (strcmp(word[0], "list") == 0 && n == 1)
		status = show(false, word + 1);
	else if (strcmp(word[0], "stat") == 0)
		status = show(true, word + 1);
	else if (strcmp(word[0], "impair") == 0 && n >= 2)
		status = impair(word[1], word + 2);
	else if (strcmp(word[0], "del") == 0 && n >= 2)
		for (word++; *word != NULL; word++)
			status |= del(*word);
	else
		tool_usage(&tool, "add, list, stat, impair or del?");
	return tool_done(&tool, status);
}
