/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What stat.c and statpath.c have in common.
 */
#ifndef STREAMS_STATPATH_H
#define STREAMS_STATPATH_H

#include <stdint.h>
#include <sys/types.h>

#include <str/annot.h>

/*
 * stat_device - the kernel has said of @path, by errno, that there is no file.
 * Return: the mode of the device of that name, 0: there is none; errno stays.
 * *@ret_dev: its device number, 0: not known before it is opened.
 */
mode_t stat_device(const char *path, uint64_t *ret_dev) STR_HIDDEN;
/* stat_failed - the answer of a stat(2) of @path into a struct stat at @user
 * that failed in the kernel. */
int stat_failed(const char *path, void *user) STR_HIDDEN;

#endif
