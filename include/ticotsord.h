/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <ticotsord.h> - <sys/ticotsord.h> under System V's name
 */
#ifndef _TICOTSORD_H
#define _TICOTSORD_H

#include <sys/ticotsord.h>

#endif /* _TICOTSORD_H */
