/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <ticlts.h> - <sys/ticlts.h> under System V's name
 */
#ifndef _TICLTS_H
#define _TICLTS_H

#include <sys/ticlts.h>

#endif /* _TICLTS_H */
