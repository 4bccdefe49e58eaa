/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Network selection and names: getnetconfig(3), getnetpath(3), netdir(3).
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <netconfig.h>
#include <netdir.h>

/* Names that XTI and the harness both have. */
#undef T_NULL
#undef T_UNUSED

#include "t.h"

/* The configuration is @text. */
static void
configure(const char *text)
{
	char name[] = "/tmp/netconfig.XXXXXX";
	int fd = T_OK(mkstemp(name));

	T_OK(write(fd, text, strlen(text)));
	T_OK(close(fd));
	T_OK(setenv("STREAMS_NETCONFIG", name, 1));
}

static void
done(void)
{
	T_OK(unlink(getenv("STREAMS_NETCONFIG")));
}

T_CASE(a_file_that_another_user_can_have_written_is_not_read)
{
	char dir[] = "/tmp/netconfig.XXXXXX", path[64];

	configure("a tpi_clts v loopback - /dev/a straddr.so\n");
	T_NOTNULL(getnetconfigent("a"));
	T_OK(chmod(getenv("STREAMS_NETCONFIG"), 0666));
	T_TRUE(setnetconfig() == NULL);
	T_STR(nc_sperror(), "the file cannot be read");
	T_OK(chmod(getenv("STREAMS_NETCONFIG"), 0600));
	T_NOTNULL(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/netconfig", dir);
	T_OK(rename(getenv("STREAMS_NETCONFIG"), path));
	T_OK(setenv("STREAMS_NETCONFIG", path, 1));
	T_NOTNULL(getnetconfigent("a"));
	T_OK(chmod(dir, 0777));
	T_TRUE(setnetconfig() == NULL);
	T_OK(unlink(path));
	T_OK(rmdir(dir));
}

static const char some[] =
	"# comment\n"
	"\n"
	"a tpi_clts v loopback - /dev/a straddr.so\n"
	"b	tpi_cots_ord -	inet tcp /dev/b	x.so,y.so\n"
	"c cots vb inet udp /dev/c - # behind\n"
	"d tpi_raw - - - /dev/d -";

T_CASE(the_builtin_configuration_has_the_transports)
{
	static const char *const ids[] = {"ticotsord", "ticots", "ticlts",
		"tcp", "udp", "sctp"};
	struct netconfig *nc;

	T_OK(unsetenv("STREAMS_NETCONFIG"));
	for (int i = 0; i < 6; i++) {
		nc = getnetconfigent(ids[i]);
		T_NOTNULL(nc);
		T_STR(nc->nc_netid, ids[i]);
		T_EQ(strncmp(nc->nc_device, "/dev/", 5), 0);
		freenetconfigent(nc);
	}
}

T_CASE(entries_come_in_order)
{
	struct netconfig *nc;
	void *h;

	configure(some);
	h = setnetconfig();
	T_NOTNULL(h);
	nc = getnetconfig(h);
	T_STR(nc->nc_netid, "a");
	T_EQ(nc->nc_semantics, NC_TPI_CLTS);
	T_EQ(nc->nc_flag, NC_VISIBLE);
	T_STR(nc->nc_protofmly, NC_LOOPBACK);
	T_STR(nc->nc_proto, NC_NOPROTO);
	T_STR(nc->nc_device, "/dev/a");
	T_EQ(nc->nc_nlookups, 1);
	T_STR(nc->nc_lookups[0], "straddr.so");
	nc = getnetconfig(h);
	T_STR(nc->nc_netid, "b");
	T_EQ(nc->nc_semantics, NC_TPI_COTS_ORD);
	T_EQ(nc->nc_nlookups, 2);
	T_STR(nc->nc_lookups[1], "y.so");
	nc = getnetconfig(h);
	T_EQ(nc->nc_semantics, NC_TPI_COTS);
	T_EQ(nc->nc_flag, NC_VISIBLE | NC_BROADCAST);
	T_EQ(nc->nc_nlookups, 0);
	nc = getnetconfig(h);
	T_EQ(nc->nc_semantics, NC_TPI_RAW);
	T_NULL(getnetconfig(h));
	T_EQ(endnetconfig(h), 0);
	done();
}

T_CASE(lines_that_are_wrong_are_refused)
{
	static const char *const bad[] = {"a b c\n",
		"a tpi_nothing v loopback - /dev/a -\n",
		"a tpi_clts q loopback - /dev/a -\n",
		"a tpi_clts v loopback - /dev/a - more\n",
		"a tpi_clts v loopback - /dev/a 1,2,3,4,5,6,7,8,9\n"};

	for (int i = 0; i < 5; i++) {
		configure(bad[i]);
		T_NULL(setnetconfig());
		T_NOTNULL(strstr(nc_sperror(), "line"));
		done();
	}
}

T_CASE(a_file_that_is_not_there)
{
	T_OK(setenv("STREAMS_NETCONFIG", "/nonexistent/netconfig", 1));
	T_NULL(setnetconfig());
	T_NOTNULL(strstr(nc_sperror(), "read"));
	T_NULL(getnetconfigent("tcp"));
}

T_CASE(an_entry_that_is_not_there)
{
	configure(some);
	T_NULL(getnetconfigent("z"));
	T_NULL(getnetconfigent(NULL));
	T_NOTNULL(strstr(nc_sperror(), "no such"));
	done();
}

T_CASE(a_handle_that_is_none)
{
	char rubbish[64] = {0};

	T_NULL(getnetconfig(NULL));
	T_NULL(getnetconfig(rubbish));
	T_EQ(endnetconfig(NULL), -1);
	T_EQ(endnetpath(rubbish), -1);
	T_NULL(getnetpath(NULL));
}

T_CASE(without_NETPATH_the_visible_ones)
{
	void *h;

	configure(some);
	T_OK(unsetenv("NETPATH"));
	h = setnetpath();
	T_STR(getnetpath(h)->nc_netid, "a");
	T_STR(getnetpath(h)->nc_netid, "c");
	T_NULL(getnetpath(h));
	T_EQ(endnetpath(h), 0);
	done();
}

T_CASE(NETPATH_says_which_and_in_which_order)
{
	void *h;

	configure(some);
	T_OK(setenv("NETPATH", "d:zz::b:a\\", 1));
	h = setnetpath();
	T_STR(getnetpath(h)->nc_netid, "d");
	T_STR(getnetpath(h)->nc_netid, "b");
	T_NULL(getnetpath(h));
	T_EQ(endnetpath(h), 0);
	T_OK(setenv("NETPATH", "", 1));
	h = setnetpath();
	T_NULL(getnetpath(h));
	T_EQ(endnetpath(h), 0);
	done();
}

static struct netconfig *
entry(const char *id)
{
	struct netconfig *nc;

	T_OK(unsetenv("STREAMS_NETCONFIG"));
	nc = getnetconfigent(id);
	T_NOTNULL(nc);
	return nc;
}

T_CASE(a_loopback_service_is_its_address)
{
	struct nd_hostserv hs = {(char *)HOST_SELF, (char *)"service"};
	struct nd_hostservlist *hl;
	struct nd_addrlist *al;
	struct netconfig *nc = entry("ticotsord");

	T_EQ(netdir_getbyname(nc, &hs, &al), ND_OK);
	T_EQ(al->n_cnt, 1);
	T_EQ(al->n_addrs[0].len, 7);
	T_MEM(al->n_addrs[0].buf, "service", 7);
	T_EQ(netdir_getbyaddr(nc, &hl, &al->n_addrs[0]), ND_OK);
	T_EQ(hl->h_cnt, 1);
	T_STR(hl->h_hostservs[0].h_serv, "service");
	netdir_free(hl, ND_HOSTSERVLIST);
	netdir_free(al, ND_ADDRLIST);
	hs.h_host = (char *)"another.host.invalid";
	T_EQ(netdir_getbyname(nc, &hs, &al), ND_NOHOST);
	T_EQ(_nderror, ND_NOHOST);
	T_STR(netdir_sperror(), "no such host");
	freenetconfigent(nc);
}

T_CASE(loopback_universal_addresses_are_printable)
{
	struct netbuf nb = {0, 4, (char *)"a\\\001b"}, *back;
	struct netconfig *nc = entry("ticlts");
	char *u = taddr2uaddr(nc, &nb);

	T_STR(u, "a\\134\\001b");
	back = uaddr2taddr(nc, u);
	T_EQ(back->len, 4);
	T_MEM(back->buf, nb.buf, 4);
	netdir_free(back, ND_ADDR);
	free(u);
	freenetconfigent(nc);
}

T_CASE(an_inet_host_and_service)
{
	struct nd_hostserv hs = {(char *)"127.0.0.1", (char *)"4711"};
	struct nd_addrlist *al;
	struct sockaddr_in sin;
	struct netconfig *nc = entry("tcp");

	T_EQ(netdir_getbyname(nc, &hs, &al), ND_OK);
	T_GE(al->n_cnt, 1);
	memcpy(&sin, al->n_addrs[0].buf, sizeof(sin));
	T_EQ(ntohs(sin.sin_port), 4711);
	T_EQ(ntohl(sin.sin_addr.s_addr), 0x7f000001);
	netdir_free(al, ND_ADDRLIST);
	hs.h_host = (char *)HOST_ANY;
	T_EQ(netdir_getbyname(nc, &hs, &al), ND_OK);
	memcpy(&sin, al->n_addrs[0].buf, sizeof(sin));
	T_EQ(sin.sin_addr.s_addr, 0);
	netdir_free(al, ND_ADDRLIST);
	hs.h_serv = (char *)"no-such-service-at-all";
	T_EQ(netdir_getbyname(nc, &hs, &al), ND_NOSERV);
	freenetconfigent(nc);
}

T_CASE(inet_universal_addresses)
{
	struct netconfig *nc = entry("udp");
	struct netbuf *nb = uaddr2taddr(nc, (char *)"127.0.0.1.18.103");
	struct sockaddr_in sin;
	char *u;

	T_NOTNULL(nb);
	memcpy(&sin, nb->buf, sizeof(sin));
	T_EQ(ntohs(sin.sin_port), 18 * 256 + 103);
	u = taddr2uaddr(nc, nb);
	T_STR(u, "127.0.0.1.18.103");
	free(u);
	netdir_free(nb, ND_ADDR);
	T_NULL(uaddr2taddr(nc, (char *)"127.0.0.1.18"));
	T_NULL(uaddr2taddr(nc, (char *)"127.0.0.1.18.999"));
	T_NULL(uaddr2taddr(nc, (char *)"what is this"));
	freenetconfigent(nc);
}

T_CASE(a_servers_address_as_its_client_sees_it)
{
	struct nd_mergearg m = {(char *)"0.0.0.0.18.103",
		(char *)"10.1.2.3.200.1", NULL};
	struct netconfig *nc = entry("tcp");

	T_EQ(netdir_options(nc, ND_MERGEADDR, -1, (char *)&m), ND_OK);
	T_STR(m.m_uaddr, "10.1.2.3.18.103");
	free(m.m_uaddr);
	freenetconfigent(nc);
}

T_CASE(arguments_that_are_none)
{
	struct nd_hostserv hs = {NULL, NULL};
	struct nd_addrlist *al;
	struct netconfig *nc = entry("ticots");

	T_EQ(netdir_getbyname(NULL, &hs, &al), ND_BADARG);
	T_EQ(netdir_getbyname(nc, NULL, &al), ND_BADARG);
	T_EQ(netdir_getbyname(nc, &hs, NULL), ND_BADARG);
	T_EQ(netdir_getbyname(nc, &hs, &al), ND_NOSERV);
	T_NULL(taddr2uaddr(nc, NULL));
	T_NULL(uaddr2taddr(NULL, (char *)"x"));
	T_EQ(netdir_options(NULL, ND_MERGEADDR, 0, NULL), ND_BADARG);
	T_EQ(netdir_options(nc, 99, 0, NULL), ND_NOCTRL);
	T_EQ(netdir_options(nc, ND_SET_BROADCAST, 0, NULL), ND_NOCTRL);
	netdir_free(NULL, ND_ADDRLIST);
	freenetconfigent(nc);
}
