/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <pse/mi.h> - where AIX has the functions of <sys/mi.h>
 */
#ifndef _PSE_MI_H
#define _PSE_MI_H

#include <sys/mi.h>

#endif /* _PSE_MI_H */
