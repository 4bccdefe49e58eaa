/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The binary interface, checked by the compiler.  This file is C and C++; the
 * test of it is that it compiles.  Nothing in it runs.
 */
#include <stddef.h>
#include <stropts.h>
#include <sys/sad.h>
#include <sys/sc.h>
#include <sys/stream.h>
#include <sys/strlog.h>
#include <sys/testmod.h>
#include <tihdr.h>
#include <timod.h>
#include <xti.h>
#include <xti_inet.h>

#ifdef __cplusplus
#define CHECK static_assert
#else
#define CHECK _Static_assert
#endif

#if __SIZEOF_LONG__ == 8 && __SIZEOF_POINTER__ == 8
#define SIZE(type, bytes) CHECK(sizeof(type) == (bytes), #type);
#define FIELD(type, member, offset, bytes)				\
	CHECK(offsetof(type, member) == (offset), #type "." #member);	\
	CHECK(sizeof(((type *)0)->member) == (bytes), #type "." #member);
#else
#define SIZE(type, bytes)
#define FIELD(type, member, offset, bytes)
#endif
#define VALUE(name, value) CHECK((name) == (value), #name);

#include "abi.def"
