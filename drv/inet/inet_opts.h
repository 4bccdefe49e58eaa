/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options that all transports over the kernel's sockets share, for their tables
 * (struct tpi_ops).
 */
#ifndef DRV_INET_OPTS_H
#define DRV_INET_OPTS_H

#include "inet_impl.h"

/* Indexes in tpi.val. */
enum {
	AT_DEBUG,
	AT_LINGER,
	AT_LINGER_TIME,
	AT_SNDLOWAT,
	AT_RCVLOWAT
};

#define BIG 0x7fffffff

#define INT_OPT(level_, name_, flags_, dflt_, min_) \
	{level_, name_, TPI_OPT_INT, flags_, dflt_, min_, BIG, 0}
#define YES_OPT(level_, name_, flags_, dflt_) \
	{level_, name_, TPI_OPT_YESNO, flags_, dflt_, T_NO, T_YES, 0}

#define GENERIC_OPTS \
	{XTI_GENERIC, XTI_DEBUG, TPI_OPT_INT, 0, T_NO, 0, BIG, AT_DEBUG}, \
	{XTI_GENERIC, XTI_LINGER, TPI_OPT_LINGER, 0, T_NO, 0, 32767, \
		AT_LINGER}, \
	INT_OPT(XTI_GENERIC, XTI_SNDBUF, TPI_OPT_OPS, 0, 1), \
	INT_OPT(XTI_GENERIC, XTI_RCVBUF, TPI_OPT_OPS, 0, 1), \
	{XTI_GENERIC, XTI_SNDLOWAT, TPI_OPT_INT, 0, 1, 1, BIG, AT_SNDLOWAT}, \
	{XTI_GENERIC, XTI_RCVLOWAT, TPI_OPT_INT, 0, 1, 1, BIG, AT_RCVLOWAT}, \
	YES_OPT(XTI_GENERIC, XTI_REUSEADDR, TPI_OPT_OPS, T_NO), \
	YES_OPT(XTI_GENERIC, XTI_DONTROUTE, TPI_OPT_OPS, T_NO), \
	YES_OPT(XTI_GENERIC, XTI_BROADCAST, TPI_OPT_OPS, T_NO), \
	YES_OPT(XTI_GENERIC, XTI_KEEPALIVE, TPI_OPT_OPS, T_NO), \
	INT_OPT(XTI_GENERIC, XTI_PRIORITY, TPI_OPT_OPS, 0, 0)

/* Options under the level and name of the socket option. */
#define SOCKET_OPTS \
	YES_OPT(SOL_SOCKET, SO_REUSEADDR, TPI_OPT_OPS, T_NO), \
	YES_OPT(SOL_SOCKET, SO_BROADCAST, TPI_OPT_OPS, T_NO), \
	YES_OPT(SOL_SOCKET, SO_KEEPALIVE, TPI_OPT_OPS, T_NO)

#define CALL (TPI_OPT_OPS | TPI_OPT_CALL)
#define GROUP_OPT(name_) \
	{T_INET_IP, name_, TPI_OPT_BYTES, TPI_OPT_OPS, 0, 0, 40, 0}
#define GROUP_OPTS \
	INT_OPT(T_INET_IP, T_IP_MULTICAST_TTL, TPI_OPT_OPS, 1, 0), \
	YES_OPT(T_INET_IP, T_IP_MULTICAST_LOOP, TPI_OPT_OPS, T_YES), \
	GROUP_OPT(T_IP_MULTICAST_IF), \
	GROUP_OPT(T_IP_ADD_MEMBERSHIP), \
	GROUP_OPT(T_IP_DROP_MEMBERSHIP)
/* What comes up with a datagram; see recv.c. */
#define RECV_OPTS \
	YES_OPT(T_INET_IP, T_IP_RECVPKTINFO, TPI_OPT_OPS, T_NO), \
	YES_OPT(T_INET_IP, T_IP_RECVTTL, TPI_OPT_OPS, T_NO), \
	YES_OPT(T_INET_IP, T_IP_RECVTOS, TPI_OPT_OPS, T_NO)
#define IP_OPTS \
	{T_INET_IP, T_IP_OPTIONS, TPI_OPT_BYTES, CALL, 0, 0, 40, 0}, \
	{T_INET_IP, T_IP_TOS, TPI_OPT_CHAR, CALL, 0, 0, 255, 0}, \
	{T_INET_IP, T_IP_TTL, TPI_OPT_CHAR, CALL, 64, 1, 255, 0}, \
	YES_OPT(T_INET_IP, T_IP_REUSEADDR, TPI_OPT_OPS, T_NO), \
	YES_OPT(T_INET_IP, T_IP_DONTROUTE, TPI_OPT_OPS, T_NO), \
	YES_OPT(T_INET_IP, T_IP_BROADCAST, TPI_OPT_OPS, T_NO)

#endif
