/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/netconfig.h> - an entry of the network configuration
 */
#ifndef _SYS_NETCONFIG_H
#define _SYS_NETCONFIG_H

/**
 * struct netconfig - one transport
 * @nc_netid:     its name
 * @nc_semantics: NC_TPI_CLTS ...
 * @nc_flag:      NC_VISIBLE ...
 * @nc_protofmly: family of protocols, NC_LOOPBACK ...
 * @nc_proto:     protocol, NC_TCP ...
 * @nc_device:    device for t_open()
 * @nc_nlookups:  number of entries of @nc_lookups
 * @nc_lookups:   libraries that translate names into addresses
 */
struct netconfig {
	char *nc_netid;
	unsigned int nc_semantics;
	unsigned int nc_flag;
	char *nc_protofmly;
	char *nc_proto;
	char *nc_device;
	unsigned int nc_nlookups;
	char **nc_lookups;
	unsigned int nc_unused[8];
};

#define NC_TPI_CLTS	1
#define NC_TPI_COTS	2
#define NC_TPI_COTS_ORD	3
#define NC_TPI_RAW	4

#define NC_NOFLAG	0x00
#define NC_VISIBLE	0x01	/* getnetpath() returns it without NETPATH */
#define NC_BROADCAST	0x02
#define NC_MULTICAST	0x04

/* Families; this system has no provider of most of them. */
#define NC_NOPROTOFMLY	"-"
#define NC_LOOPBACK	"loopback"
#define NC_INET		"inet"
#define NC_INET6	"inet6"
#define NC_IMPLINK	"implink"
#define NC_PUP		"pup"
#define NC_CHAOS	"chaos"
#define NC_NS		"ns"
#define NC_NBS		"nbs"
#define NC_ECMA		"ecma"
#define NC_DATAKIT	"datakit"
#define NC_CCITT	"ccitt"
#define NC_SNA		"sna"
#define NC_DECNET	"decnet"
#define NC_DLI		"dli"
#define NC_LAT		"lat"
#define NC_HYLINK	"hylink"
#define NC_APPLETALK	"appletalk"
#define NC_NIT		"nit"
#define NC_IEEE802	"ieee802"
#define NC_OSI		"osi"
#define NC_X25		"x25"
#define NC_OSINET	"osinet"
#define NC_GOSIP	"gosip"

#define NC_NOPROTO	"-"
#define NC_TCP		"tcp"
#define NC_UDP		"udp"
#define NC_ICMP		"icmp"
#define NC_RAWIP	"rawip"
#define NC_SCTP		"sctp"

#endif
