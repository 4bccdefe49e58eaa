/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <timod.h> - <sys/timod.h> under its other name
 */
#ifndef _TIMOD_H
#define _TIMOD_H

#include <sys/timod.h>

#endif /* _TIMOD_H */
