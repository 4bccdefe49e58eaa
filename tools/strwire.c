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
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#include <sys/ipwire.h>

#include "lib/impair.h"
#include "lib/tool.h"
#include "lib/wirekept.h"
#include "lib/wireshow.h"

#define SCTP 132 /* what RFC 6951 carries inside of UDP */

#define SYN_ADD "add KIND NAME [-a ADDRESS[/BITS] ...]\n" \
	"    [-r NET[/BITS][,[ROUTER][,METRIC]] ...] [-g ADDRESS[/BITS] ...]\n" \
	"    [-m MTU] [-f INTERFACE] [-p PROTOCOL ...] [-P PORT[,PORT]]"
#define SYN_LIST "list [--json]"
#define SYN_STAT "stat [--json] [NAME ...]"
#define SYN_IMPAIR "impair [--json] NAME\n" \
	"impair NAME [loss=PERCENT] [dup=PERCENT] [reorder=PERCENT]\n" \
	"    [corrupt=PERCENT] [delay=TIME] [jitter=TIME] [rate=RATE]\n" \
	"    [limit=PACKETS] [seed=NUMBER]\n" \
	"impair NAME off"
#define SYN_DEL "del NAME ..."

#define HELP_ADD \
	"KIND is raw (raw sockets), tun (a TUN device), packet (a packet\n" \
	"socket) or encap (a UDP socket).\n" \
	"  -a, --address=ADDRESS[/BITS]\n" \
	"                          an address of the wire, one to four; encap:\n" \
	"                          none, or that to which the socket is bound\n" \
	"  -r, --route=NET[/BITS][,[ROUTER][,METRIC]]\n" \
	"                          a network that the wire reaches, at most\n" \
	"                          eight; packet: the router for the network\n" \
	"  -g, --gateway=ADDRESS[/BITS]\n" \
	"                          tun: the address of this host on the device;\n" \
	"                          packet: the router for the other networks\n" \
	"  -m, --mtu=MTU           maximum bytes of a packet, 68 to 65535\n" \
	"  -f, --interface=INTERFACE\n" \
	"                          tun: name of the device; packet: interface\n" \
	"  -p, --protocol=NUMBER   raw: a protocol to receive, at most four;\n" \
	"                          encap: the protocol to carry (132)\n" \
	"  -P, --port=PORT[,PORT]  encap: UDP port of the wire, of other hosts\n"
#define HELP_IMPAIR \
	"Parameters replace all earlier ones.  Without parameters, show them.\n" \
	"  loss=, dup=, reorder=, corrupt=   percentages, at most four decimals\n" \
	"  delay=, jitter=         a number and us, ms or s\n" \
	"  rate=                   a number and bit, kbit, mbit or gbit\n" \
	"  limit=                  maximum of held packets (1000)\n" \
	"  seed=                   seed of the random numbers (0)\n"
#define HELP_JSON \
	"      --json              print JSON\n"

static const struct option longs[] = {
	{ "json", no_argument, NULL, TOOL_OPT_JSON },
	{ "address", required_argument, NULL, 'a' },
	{ "route", required_argument, NULL, 'r' },
	{ "gateway", required_argument, NULL, 'g' },
	{ "mtu", required_argument, NULL, 'm' },
	{ "interface", required_argument, NULL, 'f' },
	{ "protocol", required_argument, NULL, 'p' },
	{ "port", required_argument, NULL, 'P' },
	{ NULL, 0, NULL, 0 },
};
#define NOT_JSON (longs + 1)
static const struct option json_only[] = {
	{ "json", no_argument, NULL, TOOL_OPT_JSON },
	{ NULL, 0, NULL, 0 },
};
#define NO_LONGS (json_only + 1)

static struct tool tool = {
	.name = "strwire",
	.synopsis = SYN_ADD "\n" SYN_LIST "\n" SYN_STAT "\n" SYN_IMPAIR "\n"
		SYN_DEL,
	.purpose = "Make, list, impair and remove wires, the links on which "
		   "udp2, rawip2 and sctp send and receive IP packets.",
	.help = HELP_ADD HELP_IMPAIR HELP_JSON,
	.options = "a:r:g:m:f:p:P:",
	.longs = longs,
};

/* The commands; the last one has no name. */
static int add(char **words);
static int list(char **words);
static int stat(char **words);
static int impair(char **words);
static int del(char **words);

static const struct sub {
	const char *name;
	int (*run)(char **words);
	int least, most; /* number of words behind the name; most -1: any */
	const char *want; /* what is wrong if there are others */
	const char *synopsis, *purpose, *help;
	const char *options;
	const struct option *longs;
} subs[] = {
	{ "add", add, 2, 2, "a KIND and a NAME are needed", SYN_ADD,
	  "Make a wire.", HELP_ADD, "a:r:g:m:f:p:P:", NOT_JSON },
	{ "list", list, 0, 0, "takes no operands", SYN_LIST,
	  "List the wires: name, kind, state, MTU, addresses, routes.",
	  HELP_JSON, "", json_only },
	{ "stat", stat, 0, -1, "", SYN_STAT,
	  "Show the counters of all wires, or of those named.", HELP_JSON, "",
	  json_only },
	{ "impair", impair, 1, -1, "the NAME of a wire is needed", SYN_IMPAIR,
	  "Lose, delay or change packets that are sent on a wire, or show the parameters.",
	  HELP_IMPAIR HELP_JSON, "", json_only },
	{ "del", del, 1, -1, "the NAME of a wire is needed", SYN_DEL,
	  "Remove wires.", "", "", NO_LONGS },
	{ NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL },
};

static struct ipw_conf conf;
static unsigned nown, nroute, nproto;
static bool as_json;

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

/* Why the wire cannot be added. */
static void
add_failed(int err)
{
	const char *name = conf.name;

	errno = err;
	if (err == EEXIST)
		tool_warn(&tool, "there is a wire %s already", name);
	else if (err == ENOSPC)
		tool_warn(&tool, "%s: there are too many wires", name);
	else if (err == ENODEV && conf.kind == IPW_PACKET)
		tool_warn(&tool, "%s: there is no interface %s", name,
			conf.ifname);
	else if ((err == EPERM || err == EACCES) && conf.kind != IPW_ENCAP)
		tool_warn(&tool, "%s: a wire of the kind %s needs %s", name,
			wire_kinds[conf.kind], conf.kind == IPW_TUN ?
			"CAP_NET_ADMIN" : "CAP_NET_RAW");
	else if (err == EADDRINUSE && conf.kind == IPW_ENCAP)
		tool_warn(&tool, "%s: the UDP port %u is in use", name,
			conf.port[0] != 0 ? conf.port[0] : IPW_ENCAP_PORT);
	else
		tool_err(&tool, "%s", name);
}

static int
add(char **words)
{
	const char *kind = words[0], *name = words[1];
	int err, status;

	for (conf.kind = IPW_RAW; conf.kind < WIRE_NKINDS; conf.kind++)
		if (strcmp(wire_kinds[conf.kind], kind) == 0)
			break;
	if (conf.kind == WIRE_NKINDS)
		tool_usage(&tool, "not a kind of wire: %s (raw, tun, packet or "
			"encap)", kind);
	copy_name(conf.name, name);
	if (nown == 0 && conf.kind != IPW_ENCAP)
		tool_usage(&tool, "a wire of this kind needs an address (-a)");
	if (conf.kind == IPW_ENCAP && nproto == 0)
		conf.proto[0] = SCTP;
	if (conf.kind == IPW_PACKET && conf.ifname[0] == '\0')
		tool_usage(&tool, "a packet wire needs an interface (-f)");
	kept_begin(&tool);
	err = wire_add(&conf);
	if (err != 0)
		add_failed(err);
	status = kept_end(&tool);
	return err != 0 ? TOOL_FAILED : status;
}

static int
del_one(const char *name)
{
	struct ipw_info in;
	int fd = wire_open(&tool), status = TOOL_FAILED;

	memset(&in, 0, sizeof(in));
	while (wire_command(fd, IPW_INFO, &in, sizeof(in)) == 0) {
		if (strcmp(in.conf.name, name) != 0) {
			in.index++;
			continue;
		}
		if (in.muxid == 0)
			tool_warn(&tool, "%s cannot be removed", name);
		else if (ioctl(fd, I_PUNLINK, in.muxid) < 0)
			tool_err(&tool, "%s", name);
		else
			status = TOOL_OK;
		break;
	}
	if (strcmp(in.conf.name, name) != 0) {
		if (kept_forget(name))
			status = TOOL_OK;
		else
			tool_warn(&tool, "there is no wire %s", name);
	}
	(void)close(fd);
	return status;
}

static int
del(char **names)
{
	int status = TOOL_OK;

	kept_begin(&tool);
	for (; *names != NULL; names++)
		status |= del_one(*names);
	return status | kept_end(&tool);
}

/* --------------------------------------------------------------- impairment */

static int
impair(char **words)
{
	const char *name = *words++;
	struct ipw_impair im;
	int fd, show = *words == NULL, status = TOOL_OK;

	memset(&im, 0, sizeof(im));
	copy_name(im.name, name);
	if (!show && (strcmp(*words, "off") != 0 || words[1] != NULL))
		for (; *words != NULL; words++)
			impair_word(&tool, &im, *words);
	if (show)
		kept_look(&tool);
	else
		kept_begin(&tool);
	fd = wire_open(&tool);
	if (wire_command(fd, show ? IPW_IMPAIRED : IPW_IMPAIR, &im,
		sizeof(im)) < 0) {
		if (errno == ENXIO)
			tool_warn(&tool, "there is no wire %s", name);
		else
			tool_err(&tool, "%s", name);
		status = TOOL_FAILED;
	} else if (show) {
		impair_show(&im, as_json);
	}
	(void)close(fd);
	/* also after an error: it removes a file without wires */
	return show ? status : status | kept_end(&tool);
}

/* ------------------------------------------------------------------ showing */

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
show(bool counters, char **names)
{
	struct json j = { .f = stdout };
	struct ipw_info in;
	unsigned n = 0;
	int fd;

	kept_look(&tool);
	fd = wire_open(&tool);
	memset(&in, 0, sizeof(in));
	if (as_json)
		json_begin(&j, NULL, '[');
	for (; wire_command(fd, IPW_INFO, &in, sizeof(in)) == 0; in.index++) {
		if (!is_named(in.conf.name, names))
			continue;
		n++;
		if (as_json)
			wire_show_json(&j, &in);
		else if (counters)
			wire_show_stat(&in);
		else
			wire_show_list(&in);
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

static int
list(char **words)
{
	return show(false, words);
}

static int
stat(char **words)
{
	return show(true, words);
}

/* --------------------------------------------------------------------- main */

/* Is @word an option whose value is the next word? */
static bool
takes_next(const char *word)
{
	const struct option *o;

	if (word[0] != '-' || word[1] == '\0')
		return false;
	if (word[1] != '-')
		return word[2] == '\0' && strchr("argmfpP", word[1]) != NULL;
	for (o = longs; o->name != NULL; o++)
		if (strcmp(o->name, word + 2) == 0)
			return o->has_arg == required_argument;
	return strcmp(word, "--domain") == 0;
}

/* The command that the first word names; the last entry: none. */
static const struct sub *
command(char **argv)
{
	const struct sub *s = subs;

	for (argv++; *argv != NULL && **argv == '-'; argv++)
		if (takes_next(*argv) && argv[1] != NULL)
			argv++;
	while (s->name != NULL && (*argv == NULL ||
		strcmp(s->name, *argv) != 0))
		s++;
	return s;
}

int
main(int argc, char **argv)
{
	const struct sub *s = command(argv);
	int c, n;

	if (s->name != NULL) {
		tool.synopsis = s->synopsis;
		tool.purpose = s->purpose;
		tool.help = s->help;
		tool.options = s->options;
		tool.longs = s->longs;
	}
	while ((c = tool_getopt(&tool, argc, argv)) >= 0)
		option(c);
	n = argc - optind - 1;
	if (s->name == NULL)
		tool_usage(&tool, n < 0 ? "one of add, list, stat, impair and del is required" :
			"not a command: %s", n < 0 ? "" : argv[optind]);
	if (n < s->least || (s->most >= 0 && n > s->most))
		tool_usage(&tool, "%s: %s", s->name, s->want);
	return tool_done(&tool, s->run(argv + optind + 1));
}
