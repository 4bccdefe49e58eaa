/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * All that built-in modules and drivers get from the executive besides the DDI
 * (<sys/stream.h>, <sys/ddi.h>).  A driver includes this header; each of those
 * below documents its part, with contexts, locks, and what follows from a kill.
 *
 *	purpose						header, functions
 *	registration: name, major, procedures		builtin.h STR_MODULE,
 *							STR_DRIVER ...
 *	memory shared by all streams and processes	builtin.h str_drv_state()
 *	time, numbers that cannot be predicted		builtin.h str_now(),
 *							str_random()
 *	timers that are set again and again		timer.h str_timer_make(),
 *							str_timer_set() ...
 *	is the thread that wrote stopped?		builtin.h str_self(),
 *							str_stopped()
 *	places where tests kill the process		builtin.h STR_POINT()
 *	messages that outlive the thread that		builtin.h str_getq_done(),
 *	serves a queue, if that is killed		str_msg_settle(),
 *							str_msg_taken(),
 *							str_msg_hold() ...
 *	counts of dropped messages, for tools		builtin.h
 *							str_queue_drops()
 *	the Stream head above: end of file, messages	builtin.h str_head_end(),
 *	that wait there					str_head_again()
 *	another stream: keep it open while a message	hold.h str_ref(),
 *	is put into it, learn what its reader has read	str_hold(),
 *							str_read_mark() ...
 *	what the user has not read, at a close		hold.h str_unread()
 *	datagrams from the writer's memory to the	direct.h
 *	receiver's head					str_direct_up() ...
 *	data from the writer's head to the receiver's	short.h
 *							str_short_make() ...
 *	sockets, TUN devices and interfaces of the	ksock.h ksock_create() ...
 *	kernel
 *	attributes, atomic loads and stores		annot.h, types.h
 *
 * A transport provider also includes <str/tpi.h> (struct tpi_ops). Transports
 * over IP use <str/ip.h> (headers), <str/wire.h> (wires, and
 * the registration of a protocol) and <str/ports.h> (which endpoint has a port).
 * <str/log.h>, <str/apush.h> and <str/registry.h> are for the drivers log and
 * sad and the module sc.
 *
 * A new service is declared in one of these headers, listed here, and its name
 * is added to FOR_BUILTIN of tests/lint/object_rules.py.
 */
#ifndef STR_DRIVER_H
#define STR_DRIVER_H

#include <str/annot.h>
#include <str/builtin.h>
#include <str/direct.h>
#include <str/hold.h>
#include <str/ksock.h>
#include <str/short.h>
#include <str/timer.h>
#include <str/types.h>

#endif
